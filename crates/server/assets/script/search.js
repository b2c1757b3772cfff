// Searching. The address holds what was looked for, so that going back, a reload and a link to somebody else all work; what was
// found stays in this tab, so that coming back to it costs nothing.

function searching() {
  const form = document.querySelector("[data-search]");
  if (!form) return;
  const results = document.querySelector("[data-results]");
  const asTyped = form.querySelector("[data-as-typed]");
  asTyped.checked = localStorage.getItem("search-as-typed") !== "no";
  asTyped.addEventListener("change", () => localStorage.setItem("search-as-typed", asTyped.checked ? "yes" : "no"));
  let newest = 0, pause = 0, last = "", stop = null;

  const wanted = () => {
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("csrf");
    for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
    return fields;
  };
  const place = (fields) => `${location.pathname}?${fields}`;
  const show = (html) => {
    results.innerHTML = html; // our own template: all text in it is escaped
    localTimes(results);
    results.removeAttribute("aria-busy");
  };

  /** While typing without the closer look: it is for a query that is whole, and costs the most. */
  const run = async (typing) => {
    const fields = wanted();
    if (!fields.get("query")?.trim()) return;
    clearTimeout(pause);
    stop?.abort();
    stop = new AbortController();
    const number = ++newest;
    last = fields.toString();
    const address = place(fields);
    if (typing) fields.delete("rerank");
    results.setAttribute("aria-busy", "true");
    try {
      const response = await ask(form.getAttribute("action"), { method: "POST", body: fields, signal: stop.signal });
      const html = await response.text();
      if (number !== newest) return;
      show(html);
      history.replaceState(null, "", address);
      kept.set(`search ${address}`, html);
    } catch (error) {
      if (number !== newest || error.name === "AbortError") return;
      results.removeAttribute("aria-busy");
      results.replaceChildren(failure(error.message, () => run(typing)));
    }
  };

  form.addEventListener("submit", (event) => { event.preventDefault(); run(false); });
  form.addEventListener("input", (event) => {
    clearTimeout(pause);
    if (!asTyped.checked || event.target === asTyped) return;
    pause = setTimeout(() => {
      const fields = wanted();
      if ((fields.get("query") ?? "").trim().length >= 3 && fields.toString() !== last) run(event.target.name === "query");
    }, 700);
  });

  // Arriving with a query: what this tab found before, or else the search itself.
  const address = location.pathname + location.search;
  const before = kept.get(`search ${address}`);
  last = wanted().toString();
  if (before) show(before); else if (wanted().get("query") && !results.querySelector(".hits")) run(false);
}
