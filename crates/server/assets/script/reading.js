// Reading: the panel with a page, beside hits and answers, and the way from hit to hit.

/** Scrolls this into the middle of what it can be scrolled in, and nothing else. */
function centre(element, frames) {
  const scrolls = (frame) => frame.scrollHeight > frame.clientHeight + 1 && getComputedStyle(frame).overflowY === "auto";
  let frame = element.closest(frames);
  while (frame && !scrolls(frame)) frame = frame.parentElement.closest(frames);
  if (!frame) return;
  const box = element.getBoundingClientRect();
  frame.scrollTop += box.top - frame.getBoundingClientRect().top - Math.max(0, (frame.clientHeight - box.height) / 2);
}

/** Shows the quote in the text, and in the picture once that is there. */
function showQuote(root) {
  const quote = root.querySelector("[data-quote]"), region = root.querySelector(".regions rect");
  // On a phone the picture stands above the text, and shows the quote as well.
  if (quote) centre(quote, region ? ".text, .pane" : ".text, .pane, [data-inside]");
  if (!region) return;
  const picture = region.closest(".look").querySelector("img");
  const show = () => centre(region, ".pane");
  if (picture.complete) show(); else picture.addEventListener("load", show);
}

async function openPage(address) {
  const panel = document.querySelector("[data-panel]");
  const inside = panel.querySelector("[data-inside]");
  try {
    inside.innerHTML = await (await ask(address)).text(); // our own template: all text in it is escaped
  } catch (error) {
    inside.replaceChildren(failure(error.message, () => openPage(address)));
  }
  if (places().includes(address)) panel.dataset.at = address;
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
  showQuote(inside);
  stepping(panel);
}

/** What was found, or is cited, in order: links to it. */
const found = () => document.querySelector("[data-panel]") ? all("[data-page]:not([data-panel] *)") : [];
const places = () => [...new Set(found().map((link) => link.dataset.page))];

/** To the hit before and the one after, where there are several. */
function stepping(panel) {
  const steps = panel.querySelector("[data-steps]");
  if (!steps) return;
  const all = places(), at = all.indexOf(panel.dataset.at);
  steps.hidden = all.length < 2 || at < 0;
  steps.querySelector("[data-place]").textContent = words("script-place", { count: at + 1, total: all.length });
  for (const [name, to] of [["data-back", at - 1], ["data-on", at + 1]]) {
    const button = steps.querySelector(`[${name}]`);
    button.disabled = !all[to];
    button.onclick = () => openPage(all[to]);
  }
}

// Whoever goes to a hit's own page takes along what else was found, in this tab.

const pathOf = (address) => { const { pathname, search } = new URL(address, location.href); return pathname + search; };

addEventListener("pagehide", () => {
  const there = [...new Set(found().map((link) => pathOf(link.href)))];
  if (there.length) kept.set("found", { from: location.pathname + location.search, places: there });
});

function fromHits() {
  const nav = document.querySelector("[data-from-hits]"), before = kept.get("found");
  const at = before?.places.indexOf(location.pathname + location.search) ?? -1;
  if (!nav || at < 0) return;
  nav.hidden = false;
  nav.querySelector("[data-place]").textContent = words("script-place", { count: at + 1, total: before.places.length });
  nav.querySelector("[data-found]").href = before.from;
  for (const [name, to] of [["data-back", at - 1], ["data-on", at + 1]]) {
    const link = nav.querySelector(`[${name}]`), place = before.places[to];
    if (place) link.href = `${place}#quote`; else link.hidden = true;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-page]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !document.querySelector("[data-panel]")) return;
  event.preventDefault();
  openPage(link.dataset.page);
});

// A click beside the panel closes it.
document.querySelector("[data-panel]")?.addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.target.close();
});
