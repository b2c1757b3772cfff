// Uploading: many files and whole folders, a few at a time, each with its progress. What went wrong stands first and can be
// tried again.

const AT_ONCE = 3;
/** What systems leave in folders and nobody means to upload. */
const LEFTOVERS = /^(\.DS_Store|Thumbs\.db|desktop\.ini|\.localized|Icon\r|~\$.*|\._.*|\.~lock\..*)$/i;
const isLeftover = (path) => path.split("/").some((part) => LEFTOVERS.test(part) || part === "__MACOSX" || part === ".git");

/** All files below what was dropped, each with its path. */
async function filesIn(items) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  const walk = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
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
  const list = queue.querySelector("ul"), wrongs = queue.querySelector("[data-wrongs]");
  const summary = queue.querySelector("[data-summary]");
  const cancelAll = queue.querySelector("[data-cancel]"), retryAll = queue.querySelector("[data-retry]");
  const clear = queue.querySelector("[data-clear]");
  const largest = Number(zone.dataset.largest);
  let lines = [];
  let skipped = 0;

  const of = (state) => lines.filter((line) => line.state === state);
  const busy = () => lines.some((line) => line.state === "waiting" || line.state === "sending");

  const tell = () => {
    const failed = of("failed"), sent = of("sent");
    const reading = sent.filter((line) => line.reading).length;
    const parts = [words("script-uploaded", { count: sent.length, total: lines.length })];
    if (failed.length) parts.unshift(words("script-some-failed", { count: failed.length }));
    if (reading) parts.push(words("script-processing", { count: reading }));
    const cancelled = of("cancelled").length;
    if (cancelled) parts.push(words("script-some-cancelled", { count: cancelled }));
    if (skipped) parts.push(words(counted(skipped, "script-left-out-one", "script-left-out-other"), { count: skipped }));
    summary.textContent = parts.join(", ");
    queue.hidden = lines.length === 0 && skipped === 0;
    cancelAll.hidden = !busy();
    clear.hidden = busy();
    retryAll.hidden = !failed.some((line) => line.again);
  };

  const say = (line, words, kind = "") => {
    line.chip.textContent = words;
    line.chip.className = `chip ${kind}`;
  };

  const settle = (line, state) => {
    line.state = state;
    line.request = null;
    line.cancel.hidden = true;
    tell();
    next();
    if (!busy()) refreshList();
  };

  const broke = (line, why, again) => {
    line.again = again;
    line.why.textContent = why;
    line.row.className = "wrong";
    line.bar.hidden = true;
    line.retry.hidden = !again;
    say(line, words("script-failed"), "failed");
    wrongs.append(line.row);
    settle(line, "failed");
  };

  const done = (line, answer) => {
    line.id = answer.id;
    line.bar.value = 1;
    line.reading = answer.status === "queued" || answer.status === "processing";
    say(line, answer.known ? words("script-already") : answer.words, answer.status);
    // It may have been read before its upload was answered.
    const heard = latest.get(answer.id);
    if (heard && !answer.known) follow(heard);
    settle(line, "sent");
  };

  const send = (line) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    if (line.path.includes("/")) form.append("metadata", JSON.stringify({ path: line.path }));
    form.append("file", line.file, line.file.name);
    request.open("POST", zone.dataset.upload);
    for (const [name, value] of Object.entries(ours)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) line.bar.value = event.loaded / event.total;
    };
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* reported below */ }
      if (request.status === 200 && answer.id) done(line, answer);
      else broke(line, answer.error?.message ?? words("script-answered", { status: String(request.status) }), request.status >= 500 || request.status === 429);
    };
    request.onerror = () => broke(line, words("script-lost"), true);
    request.onabort = () => { say(line, words("script-cancelled")); line.retry.hidden = false; settle(line, "cancelled"); };
    line.request = request;
    line.state = "sending";
    say(line, words("script-uploading"), "processing");
    request.send(form);
  };

  const next = () => {
    while (of("sending").length < AT_ONCE && of("waiting").length > 0) send(of("waiting")[0]);
    tell();
  };

  const cancel = (line) => {
    if (line.request) line.request.abort();
    else if (line.state === "waiting") { say(line, words("script-cancelled")); line.retry.hidden = false; settle(line, "cancelled"); }
  };

  const retry = (line) => {
    line.row.className = "";
    line.why.textContent = "";
    line.bar.hidden = line.cancel.hidden = false;
    line.bar.value = 0;
    line.retry.hidden = true;
    line.state = "waiting";
    say(line, words("script-waiting"));
    list.append(line.row);
    next();
  };

  const follow = (file) => {
    const line = lines.find((line) => line.id === file.id);
    if (!line) return;
    say(line, file.words, file.status);
    line.why.textContent = file.status === "failed" ? file.reason : "";
    line.reading = file.status === "queued" || file.status === "processing";
    tell();
  };
  watchers.add(follow);

  /** What is known before a byte is sent. */
  const unfit = (file) => {
    if (file.size === 0) return words("script-empty");
    if (file.size > largest) return words("script-too-large", { size: zone.dataset.largestWords });
    return "";
  };

  const add = (files) => {
    for (const { file, path } of files) {
      if (isLeftover(path)) { skipped += 1; continue; }
      const bar = make("progress", { max: 1, value: 0 });
      bar.setAttribute("aria-label", words("script-upload-of", { name: file.name }));
      const chip = make("span", { className: "chip", textContent: words("script-waiting") });
      const why = make("span", { className: "why" });
      const button = (text) => make("button", { type: "button", className: "quiet tiny", textContent: text }, make("span", { className: "unseen", textContent: ` ${path}` }));
      const line = { file, path, bar, chip, why, cancel: button(words("script-cancel")), retry: button(words("script-retry")), state: "waiting", reading: false, request: null };
      line.retry.hidden = true;
      line.cancel.addEventListener("click", () => cancel(line));
      line.retry.addEventListener("click", () => retry(line));
      const name = make("span", { className: "name", textContent: path, title: path });
      line.row = make("li", {}, name, why, bar, chip, line.cancel, line.retry);
      list.append(line.row);
      lines.push(line);
      const wrong = unfit(file);
      if (wrong) broke(line, wrong, false);
    }
    next();
  };

  for (const input of all("[data-files]", zone)) {
    input.addEventListener("change", () => {
      add([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      input.value = "";
    });
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
    const plain = [...event.dataTransfer.files].map((file) => ({ file, path: file.name }));
    const found = await filesIn(event.dataTransfer.items);
    add(found.length > 0 ? found : plain);
  });
  // A file dropped outside the zone would replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
  // Leaving would end what is under way.
  addEventListener("beforeunload", (event) => { if (busy()) event.preventDefault(); });
  cancelAll.addEventListener("click", () => {
    for (const line of [...of("waiting"), ...of("sending")]) cancel(line);
  });
  retryAll.addEventListener("click", () => { for (const line of of("failed").filter((line) => line.again)) retry(line); });
  clear.addEventListener("click", () => {
    lines = [];
    skipped = 0;
    list.replaceChildren();
    wrongs.replaceChildren();
    tell();
  });
}
