// The dashboard's own script. Without it, everything works except uploads and chat; it adds live updates.

const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
const ours = { "X-CSRF-Token": csrf, "X-Quire-Script": "1" };
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** An element with a class, a text and children. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** What an answer says went wrong. Whoever is no longer signed in is shown the way in. */
async function trouble(response) {
  if (response.status === 401) location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
  try {
    return (await response.json()).error.message;
  } catch {
    return `The server answered ${response.status}.`;
  }
}

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
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of all("time[datetime]", root)) {
    const date = new Date(time.dateTime);
    if (!Number.isNaN(date.valueOf())) {
      time.title = `${time.textContent} UTC`;
      time.textContent = format.format(date);
    }
  }
}

// Copying, asking once more, typing a name to confirm.

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const selection = getSelection();
    selection.selectAllChildren(document.getElementById(button.dataset.copy));
    document.execCommand("copy");
    selection.removeAllRanges();
  }
  button.dataset.label ??= button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

function typedNames() {
  for (const input of all("[data-typed]")) {
    const button = input.form.querySelector("button");
    const check = () => { button.disabled = input.value.trim() !== input.dataset.typed.trim(); };
    input.addEventListener("input", check);
    check();
  }
}

// Selecting files.

function selection() {
  const form = document.querySelector("[data-selection]");
  const actions = form?.querySelector("[data-actions]");
  if (!actions) return;
  const boxes = () => all("input[name=file]", form);
  const everything = form.querySelector("[data-all]");
  const count = form.querySelector("[data-count]");
  const update = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    for (const button of all("button", actions)) button.disabled = chosen === 0;
    count.textContent = chosen === 0 ? "Select files to label, reprocess or delete them." : `${chosen} selected`;
    everything.checked = chosen > 0 && chosen === boxes().length;
    everything.indeterminate = chosen > 0 && !everything.checked;
  };
  everything.addEventListener("change", () => {
    for (const box of boxes()) box.checked = everything.checked;
    update();
  });
  form.addEventListener("change", update);
  update();
}

// Live status of files.

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
  row.querySelector("[data-pages]").textContent = file.pages;
  row.querySelector("progress")?.remove();
  if (file.progress) {
    const [value, max] = file.progress;
    const bar = make("progress", { value, max });
    bar.setAttribute("aria-label", "Pages read");
    status.after(" ", bar);
  }
}

const watchers = new Set();
const latest = new Map();

/** The list as it is now, put in place of the one on the page. */
async function refreshList() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
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
  events.onmessage = (event) => {
    const file = JSON.parse(event.data);
    latest.set(file.id, file);
    showFile(file);
    for (const watcher of watchers) watcher(file);
  };
  // Catches up with what happened before we listened, or while the connection was down.
  events.onopen = () => { if (document.querySelector(".chip.queued, .chip.processing")) refreshList(); };
  addEventListener("pagehide", () => events.close());
}

// Uploading: many files and whole folders, a few at a time, each with its progress.

const AT_ONCE = 3;

/** All files below what was dropped. */
async function filesIn(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  const walk = async (entry) => {
    if (entry.isFile) {
      found.push(await new Promise((done, failed) => entry.file(done, failed)));
      return;
    }
    const reader = entry.createReader();
    // A reader gives a folder's entries a hundred at a time.
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return;
      for (const one of some) await walk(one);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

function uploads() {
  const zone = document.querySelector("[data-upload]");
  if (!zone) return;
  const queue = zone.querySelector("[data-queue]");
  const list = queue.querySelector("ul");
  const summary = queue.querySelector("[data-summary]");
  const waiting = [];
  const known = new Map();
  let running = 0, sent = 0, failed = 0, total = 0;

  const tell = () => {
    const under = [...known.values()].filter((line) => line.reading).length;
    const parts = [`${sent} of ${total} uploaded`];
    if (under) parts.push(`${under} processing`);
    if (failed) parts.push(`${failed} failed`);
    summary.textContent = parts.join(", ");
  };

  const next = () => {
    while (running < AT_ONCE && waiting.length > 0) {
      const line = waiting.shift();
      running += 1;
      send(line).finally(() => {
        running -= 1;
        tell();
        next();
        if (running === 0 && waiting.length === 0) refreshList();
      });
    }
    tell();
  };

  const send = (line) => new Promise((done) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", line.file, line.file.name);
    request.open("POST", zone.dataset.upload);
    for (const [name, value] of Object.entries(ours)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) line.bar.value = event.loaded / event.total;
    };
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* reported below */ }
      if (request.status === 200 && answer.id) {
        sent += 1;
        line.bar.value = 1;
        line.reading = answer.status === "queued" || answer.status === "processing";
        line.state.textContent = answer.known ? "Already here" : answer.words;
        line.state.className = `chip ${answer.status}`;
        known.set(answer.id, line);
        // It may have been read before its upload was answered.
        const heard = latest.get(answer.id);
        if (heard && !answer.known) follow(heard);
      } else {
        broke(line, answer.error?.message ?? `The server answered ${request.status}.`);
      }
      done();
    };
    request.onerror = () => { broke(line, "The connection was lost."); done(); };
    line.state.textContent = "Uploading";
    request.send(form);
  });

  const broke = (line, why) => {
    failed += 1;
    line.row.className = "wrong";
    line.row.replaceChildren(`${line.file.name}: ${why}`);
  };

  const follow = (file) => {
    const line = known.get(file.id);
    if (!line) return;
    line.state.textContent = file.words;
    line.state.title = file.reason;
    line.state.className = `chip ${file.status}`;
    line.reading = file.status === "queued" || file.status === "processing";
    tell();
  };
  watchers.add(follow);

  const add = (files) => {
    for (const file of files) {
      const bar = make("progress", { max: 1, value: 0 });
      bar.setAttribute("aria-label", `Upload of ${file.name}`);
      const state = make("span", { className: "chip", textContent: "Waiting" });
      const row = make("li", {}, make("span", { textContent: file.name, title: file.webkitRelativePath || file.name }), bar, state);
      list.append(row);
      waiting.push({ file, bar, state, row, reading: false });
      total += 1;
    }
    queue.hidden = total === 0;
    next();
  };

  for (const input of all("[data-files]", zone)) {
    input.addEventListener("change", () => { add([...input.files]); input.value = ""; });
  }
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
  }
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("over");
  });
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const plain = [...event.dataTransfer.files];
    const found = await filesIn(event.dataTransfer.items);
    add(found.length > 0 ? found : plain);
  });
  // A file dropped outside the zone would replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
  queue.querySelector("[data-clear]").addEventListener("click", () => {
    if (running > 0 || waiting.length > 0) return;
    list.replaceChildren();
    known.clear();
    sent = failed = total = 0;
    queue.hidden = true;
  });
}

// The panel with a page's text.

async function openPage(address) {
  const panel = document.querySelector("[data-panel]");
  const response = await fetch(address, { headers: ours });
  const inside = panel.querySelector("div");
  if (response.ok) inside.innerHTML = await response.text(); // our own template: all text in it is escaped
  else inside.replaceChildren(make("p", { className: "wrong", textContent: await trouble(response) }));
  if (!panel.open) panel.showModal();
  inside.querySelector("[data-quote]")?.scrollIntoView({ block: "center" });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-page]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !document.querySelector("[data-panel]")) return;
  event.preventDefault();
  openPage(link.dataset.page);
});

// Searching.

function searching() {
  const form = document.querySelector("[data-search]");
  if (!form) return;
  const results = document.querySelector("[data-results]");
  const asTyped = form.querySelector("[data-as-typed]");
  asTyped.checked = localStorage.getItem("search-as-typed") !== "no";
  asTyped.addEventListener("change", () => localStorage.setItem("search-as-typed", asTyped.checked ? "yes" : "no"));
  let latest = 0, pause = 0, last = "";

  /** While typing without the closer look: it is for a query that is whole, and costs the most. */
  const run = async (typing) => {
    const fields = new URLSearchParams(new FormData(form));
    if (!fields.get("query").trim()) return;
    clearTimeout(pause);
    const number = ++latest;
    last = fields.toString();
    if (typing) fields.delete("rerank");
    results.setAttribute("aria-busy", "true");
    const response = await fetch(form.action, { method: "POST", headers: ours, body: fields });
    if (number !== latest) return;
    if (response.ok) results.innerHTML = await response.text(); // our own template: all text in it is escaped
    else results.replaceChildren(make("p", { className: "wrong", textContent: await trouble(response) }));
    results.removeAttribute("aria-busy");
  };

  form.addEventListener("submit", (event) => { event.preventDefault(); run(false); });
  form.addEventListener("input", (event) => {
    clearTimeout(pause);
    if (!asTyped.checked || event.target === asTyped) return;
    pause = setTimeout(() => {
      const fields = new URLSearchParams(new FormData(form));
      if (fields.get("query").trim().length >= 3 && fields.toString() !== last) run(event.target.name === "query");
    }, 700);
  });
}

// Asking.

/** The data of each server-sent event of a response, as it comes. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
      const data = rest.slice(0, end).split("\n").filter((line) => line.startsWith("data:"));
      if (data.length > 0) yield data.map((line) => line.slice(5).trimStart()).join("\n");
    }
  }
}

function asking() {
  const chat = document.querySelector("[data-chat]");
  if (!chat) return;
  const form = chat.querySelector("[data-ask]"), turns = chat.querySelector("[data-turns]");
  const input = form.elements.question, button = form.querySelector("button[type=submit]");
  const hello = chat.querySelector("[data-hello]");
  let messages = [];
  let stop = null;

  const placeOf = (citation, page) =>
    `${chat.dataset.files}/${citation.fileId}${page ? `/pages/${citation.page}?` : `?page=${citation.page}&`}start=${citation.start}&end=${citation.end}`;

  const cite = (citation) => {
    const link = make("a", { className: "cite", href: `${placeOf(citation, false)}#quote`, textContent: `[${citation.index}]` });
    link.dataset.page = placeOf(citation, true);
    link.title = `${citation.fileName}, page ${citation.page}`;
    return link;
  };

  /** The text with its numbers in brackets made links, where what they stand for is known. */
  const render = (turn, text, citations) => {
    const known = new Map(citations.map((citation) => [String(citation.index), citation]));
    const parts = text.split(/(\[\d+\])/).map((part) => {
      const citation = known.get(/^\[(\d+)\]$/.exec(part)?.[1]);
      return citation ? cite(citation) : part;
    });
    turn.replaceChildren(...parts);
    if (citations.length > 0) {
      const sources = citations.map((citation) => {
        const where = make("a", { href: `${placeOf(citation, false)}#quote`, textContent: `${citation.fileName}, page ${citation.page}` });
        where.dataset.page = placeOf(citation, true);
        return make("li", {}, `[${citation.index}] `, where, " ", make("q", { textContent: citation.quote }));
      });
      const list = make("ol", { className: "sources" }, ...sources);
      list.setAttribute("aria-label", "Sources");
      turn.append(list);
    }
  };

  const ask = async (question) => {
    hello?.remove();
    messages.push({ role: "user", content: question });
    turns.append(make("li", { className: "turn mine", textContent: question }));
    const turn = make("li", { className: "turn answer waiting" });
    turns.append(turn);
    turn.scrollIntoView({ block: "end" });
    stop = new AbortController();
    button.textContent = "Stop";
    let text = "", citations = [], usage = null;
    try {
      const response = await fetch(chat.dataset.chat, {
        method: "POST", signal: stop.signal, headers: { ...ours, "Content-Type": "application/json" },
        body: JSON.stringify({ messages, stream: true, stream_options: { include_usage: true } }),
      });
      if (!response.ok) throw new Error(await trouble(response));
      for await (const data of eventsOf(response)) {
        if (data === "[DONE]") break;
        const frame = JSON.parse(data);
        if (frame.success === false) throw new Error(frame.error.message);
        text += frame.choices?.[0]?.delta?.content ?? "";
        citations = frame.citations ?? citations;
        usage = frame.usage ?? usage;
        render(turn, text, []);
      }
      render(turn, text, citations);
      messages.push({ role: "assistant", content: text });
      if (usage) {
        const cost = usage.intelligence_units_consumed;
        turn.append(make("p", { className: "faint small", textContent: `Cost ${cost} ${cost === 1 ? "unit" : "units"}, ${usage.intelligence_units_remaining.toLocaleString()} left this month.` }));
      }
    } catch (error) {
      messages.pop();
      const why = error.name === "AbortError" ? "Stopped." : error.message;
      turn.append(make("p", { className: "wrong", textContent: why }));
    }
    turn.classList.remove("waiting");
    stop = null;
    button.textContent = "Ask";
    turn.scrollIntoView({ block: "nearest" });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (stop) { stop.abort(); return; }
    const question = input.value.trim();
    if (!question) return;
    input.value = "";
    ask(question);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !stop) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  chat.querySelector("[data-new]").addEventListener("click", () => {
    stop?.abort();
    messages = [];
    turns.replaceChildren(...(hello ? [hello] : []));
    input.focus();
  });
}

keepMenu();
localTimes();
typedNames();
selection();
live();
uploads();
searching();
asking();
document.querySelector("#quote")?.scrollIntoView({ block: "center" });
