// The list of files: selecting some, and what happens to each as it happens.

function selection() {
  const form = document.querySelector("[data-selection]");
  const actions = form?.querySelector("[data-actions]");
  if (!actions) return;
  const boxes = () => all("input[name=file]", form);
  const everything = form.querySelector("[data-all]");
  const told = form.querySelector("[data-count]");
  // All files of the list, those on other pages too: offered once all on this page are ticked.
  const further = form.querySelector("[data-everything]");
  const update = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    const whole = ticked > 0 && ticked === boxes().length;
    if (further) {
      further.hidden = !whole;
      if (!whole) further.firstElementChild.checked = false;
    }
    const chosen = further?.firstElementChild.checked ? Number(further.dataset.everything) : ticked;
    for (const button of all("button", actions)) button.disabled = chosen === 0;
    actions.classList.toggle("some", chosen > 0);
    told.textContent = chosen === 0 ? told.dataset.none : words("script-selected", { count: chosen });
    everything.checked = whole;
    everything.indeterminate = ticked > 0 && !whole;
  };
  everything.addEventListener("change", () => {
    for (const box of boxes()) box.checked = everything.checked;
    update();
  });
  form.addEventListener("change", update);
  form.addEventListener("listed", update);
  update();
}

function showFile(file) {
  const row = document.querySelector(`tr[data-file="${CSS.escape(file.id)}"]`);
  const status = row?.querySelector("[data-status]");
  if (!status) return;
  if (file.status === "deleting") {
    row.remove();
    return;
  }
  status.className = `chip ${file.status}`;
  status.textContent = file.words;
  row.querySelector("[data-reason]").textContent = file.reason;
  row.querySelector("[data-reason]").title = file.reason;
  row.querySelector("[data-pages]").textContent = file.pages;
  row.querySelector("progress")?.remove();
  if (file.progress) {
    const [value, max] = file.progress;
    const bar = make("progress", { value, max });
    bar.setAttribute("aria-label", words("script-pages-read"));
    status.after(" ", bar);
  }
}

const watchers = new Set();
const latest = new Map();
let listing = false, again = false;

/** The list as it is now, put in place of the one on the page. */
async function refreshList() {
  if (listing) { again = true; return; }
  listing = true;
  try {
    const response = await ask(location.href, { headers: { Accept: "text/html" } });
    showList(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch { /* the next event or the next connection tries again */ }
  listing = false;
  if (again) { again = false; refreshList(); }
}

function showList(page) {
  const from = page.querySelector("[data-selection]"), to = document.querySelector("[data-selection]");
  if (!from || !to) return;
  const chosen = new Set(all("input[name=file]:checked", to).map((box) => box.value));
  to.querySelector("tbody").replaceWith(from.querySelector("tbody"));
  for (const box of all("input[name=file]", to)) box.checked = chosen.has(box.value);
  to.hidden = from.hidden;
  document.querySelector(".filters").hidden = from.hidden;
  document.querySelector(".total").textContent = page.querySelector(".total").textContent;
  if (!from.hidden) document.querySelector("[data-empty]")?.remove();
  localTimes(to);
  to.dispatchEvent(new Event("listed"));
  for (const row of all("tr[data-file]", to)) {
    const status = row.querySelector("[data-status]");
    const file = { id: row.dataset.file, status: status.classList[1], words: status.textContent, reason: row.querySelector("[data-reason]").textContent };
    for (const watcher of watchers) watcher(file);
  }
  // What was heard while the list was on its way is newer than the list.
  for (const file of latest.values()) {
    showFile(file);
    for (const watcher of watchers) watcher(file);
  }
}

function live() {
  const table = document.querySelector("[data-live]");
  if (!table) return;
  const events = new EventSource(table.dataset.live);
  let opened = false, pause = 0;
  events.onmessage = (event) => {
    const file = JSON.parse(event.data);
    latest.set(file.id, file);
    const known = document.querySelector(`tr[data-file="${CSS.escape(file.id)}"]`);
    showFile(file);
    for (const watcher of watchers) watcher(file);
    // A file that another tab or person has added: the list says where it belongs.
    if (!known && file.status !== "deleting") {
      clearTimeout(pause);
      pause = setTimeout(refreshList, 400);
    }
  };
  // Catches up with what happened before we listened, or while the connection was down.
  events.onopen = () => {
    if (opened || document.querySelector(".chip.queued, .chip.processing")) refreshList();
    opened = true;
  };
  addEventListener("pagehide", () => events.close());
}
