// Forms: asked once more, sent once, and never losing what was typed.

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !event.defaultPrevented && !confirm(question)) event.preventDefault();
});

/** Says beside the field, or on top of the form, what is wrong. */
function complain(form, message, field) {
  form.querySelector("[data-complaint]")?.remove();
  const complaint = make("p", { className: "wrong small", textContent: message, id: "complaint" });
  complaint.dataset.complaint = "";
  complaint.setAttribute("role", "alert");
  const found = field && form.elements[field];
  const input = found instanceof RadioNodeList ? found[0] : found;
  const label = input?.closest?.("label, fieldset");
  if (label && input.type !== "hidden") {
    label.append(complaint);
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "complaint");
    input.addEventListener("input", () => { complaint.remove(); input.removeAttribute("aria-invalid"); }, { once: true });
    input.focus();
  } else {
    form.prepend(complaint);
  }
}

/** Sends a form by itself: a mistake is told beside what was typed, and a second click sends nothing. */
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || "plain" in form.dataset) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const button = event.submitter;
  button?.setAttribute("aria-busy", "true");
  try {
    const response = await ask(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(form, button)) });
    const { go } = await response.json();
    const to = new URL(go, location.href);
    const here = to.pathname + to.search === location.pathname + location.search;
    if (!here) location.assign(to);
    else {
      // What was done is said at the top of the page.
      history.scrollRestoration = "manual";
      location.reload();
    }
  } catch (error) {
    delete form.dataset.busy;
    button?.removeAttribute("aria-busy");
    complain(form, error.message, error.field);
  }
});

/** Tries out what a form says without saving it, and shows what came of that. */
function trying() {
  for (const button of all("[data-try]")) {
    button.addEventListener("click", async () => {
      const { form } = button, shown = form.querySelector("[data-tried]");
      if (button.getAttribute("aria-busy")) return;
      button.setAttribute("aria-busy", "true");
      form.querySelector("[data-complaint]")?.remove();
      shown.replaceChildren(make("p", { className: "faint", textContent: words("script-trying") }));
      try {
        const response = await ask(button.dataset.try, { method: "POST", body: new URLSearchParams(new FormData(form)) });
        shown.innerHTML = await response.text(); // our own template: all text in it is escaped
      } catch (error) {
        shown.replaceChildren();
        complain(form, error.message, error.field);
      }
      button.removeAttribute("aria-busy");
    });
  }
}

// A page that comes back from the browser's memory takes forms again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of all("form[data-busy]")) delete form.dataset.busy;
  for (const button of all("[aria-busy=true]")) button.removeAttribute("aria-busy");
});

function typedNames() {
  for (const input of all("[data-typed]")) {
    const button = input.form.querySelector("button");
    const check = () => { button.disabled = input.value.trim() !== input.dataset.typed.trim(); };
    input.addEventListener("input", check);
    check();
  }
}

/** Ticking one of several choices chooses "only these". */
function choices() {
  for (const group of all("[data-chosen-by]")) {
    const radio = document.getElementById(group.dataset.chosenBy);
    group.addEventListener("input", (event) => { if (event.target.type === "checkbox" ? event.target.checked : event.target.value) radio.checked = true; });
  }
}

/** How good a password is, as far as a browser can tell; the server looks closer. */
function passwordStrength() {
  for (const input of all("[data-strength]")) {
    const told = make("span", { className: "strength small" });
    told.setAttribute("aria-live", "polite");
    input.after(told);
    input.addEventListener("input", () => {
      const text = input.value;
      const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\d/, /[^\p{L}\d]/u].filter((kind) => kind.test(text)).length;
      const distinct = new Set(text).size;
      const bits = distinct < 5 ? 0 : text.length * (1.2 + kinds * 0.6) * Math.min(1, distinct / text.length + 0.3);
      const level = text === "" ? "" : bits < 24 || text.length < 8 ? "weak" : bits < 40 ? "fair" : "good";
      told.dataset.level = level;
      told.textContent = { "": "", weak: words("script-weak"), fair: words("script-fair"), good: words("script-good") }[level];
    });
  }
}

// Rows of metadata: a removed one goes with the next save, and there is always an empty one.
document.addEventListener("click", (event) => { event.target.closest?.("[data-remove]")?.closest(".entry").remove(); });
document.addEventListener("input", (event) => {
  const entry = event.target.closest?.(".entry");
  if (!entry || entry.nextElementSibling?.matches(".entry") || !entry.querySelector("[name=key]").value) return;
  const next = entry.cloneNode(true);
  for (const input of all("input", next)) input.value = "";
  entry.after(next);
});
