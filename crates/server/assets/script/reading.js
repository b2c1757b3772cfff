// The panel with a page's text, beside hits and answers.

/** Scrolls the quote into the middle of the text, and nothing else. */
function showQuote(root) {
  const quote = root.querySelector("[data-quote]"), text = quote?.closest(".text");
  if (!text) return;
  const offset = quote.getBoundingClientRect().top - text.getBoundingClientRect().top;
  text.scrollTop += offset - Math.max(0, (text.clientHeight - quote.offsetHeight) / 2);
}

async function openPage(address) {
  const panel = document.querySelector("[data-panel]");
  const inside = panel.querySelector("[data-inside]");
  try {
    inside.innerHTML = await (await ask(address)).text(); // our own template: all text in it is escaped
  } catch (error) {
    inside.replaceChildren(failure(error.message, () => openPage(address)));
  }
  panel.dataset.at = address;
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
  showQuote(inside);
  stepping(panel);
}

/** To the hit before and the one after, where there are several. */
function stepping(panel) {
  const steps = panel.querySelector("[data-steps]");
  if (!steps) return;
  const places = [...new Set(all("[data-page]:not([data-panel] *)").map((link) => link.dataset.page))];
  const at = places.indexOf(panel.dataset.at);
  steps.hidden = places.length < 2 || at < 0;
  steps.querySelector("[data-place]").textContent = `${at + 1} of ${places.length}`;
  for (const [name, to] of [["data-back", at - 1], ["data-on", at + 1]]) {
    const button = steps.querySelector(`[${name}]`);
    button.disabled = !places[to];
    button.onclick = () => openPage(places[to]);
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
