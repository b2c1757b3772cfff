// The dashboard's own script, one module of the files in this folder. Without it, pages can be read and forms sent; it adds
// uploads, search, chat and live updates.

const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
const ours = { "X-CSRF-Token": csrf, "X-Quire-Script": "1" };
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// What is said to people, in the language of the page, which brings it along.
const language = document.documentElement.lang;
const texts = JSON.parse(document.querySelector("meta[name=words]")?.content ?? "{}");
const number = new Intl.NumberFormat(language);
const plural = new Intl.PluralRules(language);

/** A text, with what is put where it says {name}. */
const words = (key, given = {}) =>
  (texts[key] ?? key).replaceAll(/\{(\w+)\}/g, (whole, name) => typeof given[name] === "number" ? number.format(given[name]) : given[name] ?? whole);
/** Which of the two: the text for one, or that for several. */
const counted = (count, one, several) => plural.select(count) === "one" ? one : several;
const AWAY = words("script-away");

/** An element with properties and children. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Asks the server. Throws an error whose message can be shown, with the field at fault where there is one. */
async function ask(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { ...ours, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(AWAY);
  }
  if (response.ok) return response;
  // Whoever is no longer signed in is shown the way in.
  if (response.status === 401) location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  const { error } = await response.json().catch(() => ({}));
  throw Object.assign(new Error(error?.message ?? words("script-answered", { status: String(response.status) })), { field: error?.param, status: response.status });
}

/** What went wrong, with a button to try again. */
function failure(message, again) {
  const box = make("div", { className: "wrong" }, make("p", { textContent: message }));
  box.setAttribute("role", "alert");
  if (again) {
    const button = make("button", { type: "button", className: "quiet", textContent: words("script-try-again") });
    button.addEventListener("click", again);
    box.append(button);
  }
  return box;
}

/** What this tab keeps; full or forbidden storage is no reason to fail. */
const kept = {
  get(name) { try { return JSON.parse(sessionStorage.getItem(name)); } catch { return null; } },
  set(name, value) { try { sessionStorage.setItem(name, JSON.stringify(value)); } catch { /* it is only for coming back */ } },
  drop(name) { try { sessionStorage.removeItem(name); } catch { /* as above */ } },
};

// The menu is always open beside the page, and opens above it on a phone.

function keepMenu() {
  const menu = document.querySelector("[data-menu]");
  if (!menu) return;
  const wide = matchMedia("(min-width: 52.01rem)");
  const fit = () => { menu.open = wide.matches; };
  fit();
  wide.addEventListener("change", fit);
  document.addEventListener("click", (event) => {
    if (!wide.matches && !menu.contains(event.target)) menu.open = false;
  });
}

// Times in the reader's own zone.

function localTimes(root = document) {
  const format = new Intl.DateTimeFormat(navigator.language.startsWith(language) ? undefined : language, { dateStyle: "medium", timeStyle: "short" });
  for (const time of all("time[datetime]", root)) {
    const date = new Date(time.dateTime);
    if (!Number.isNaN(date.valueOf())) {
      time.title = `${time.textContent} UTC`;
      time.textContent = format.format(date);
    }
  }
}

// The bell counts what this browser has not shown yet; the page of notices shows all.

async function bell() {
  const link = document.querySelector("[data-bell]");
  if (!link) return;
  const shown = all("[data-notice]").map((notice) => notice.dataset.notice);
  if (location.pathname === link.pathname) localStorage.setItem("notices", JSON.stringify(shown));
  let seen = [];
  try { seen = JSON.parse(localStorage.getItem("notices")) ?? []; } catch { /* nothing was seen */ }
  try {
    const { ids } = await (await ask(link.dataset.bell)).json();
    const count = ids.filter((id) => !seen.includes(id)).length;
    const told = link.querySelector("[data-unseen]");
    told.hidden = count === 0;
    told.textContent = number.format(count);
  } catch { /* the next page asks again */ }
}

// Copying.

/** Puts a text on the clipboard, and says so on the button for a moment. */
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const held = make("pre", { className: "unseen", textContent: text });
    document.body.append(held);
    getSelection().selectAllChildren(held);
    document.execCommand("copy");
    held.remove();
  }
  if (button.dataset.copied) return;
  const label = [...button.childNodes];
  button.dataset.copied = "yes";
  button.replaceChildren(words("script-copied"));
  setTimeout(() => { button.replaceChildren(...label); delete button.dataset.copied; }, 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (button) copy(button, document.getElementById(button.dataset.copy)?.textContent ?? "");
});

// Light, dark, or as the system is: applied before the page is drawn, by theme.js.

function themes() {
  const choice = document.querySelector("[data-theme-choice]");
  if (!choice) return;
  choice.value = localStorage.getItem("theme") ?? "";
  choice.addEventListener("change", () => {
    if (choice.value) localStorage.setItem("theme", choice.value); else localStorage.removeItem("theme");
    if (choice.value) document.documentElement.dataset.theme = choice.value; else delete document.documentElement.dataset.theme;
  });
}
