// Asking. Answers come as they are made, with numbers in brackets that lead to their sources.

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

/** A thumb that points up; the style sheet turns the other one. */
function drawThumb() {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M7 11v9H4v-9zM7 11l4-7c1.4 0 2.4 1.2 2 2.6L12.2 10H18a2 2 0 0 1 2 2.4l-1.2 6A2 2 0 0 1 16.8 20H7");
  drawing.append(path);
  return drawing;
}

/** What a citation leads to, in words. */
const nameOf = (citation) => words("script-cited", { name: citation.fileName, page: String(citation.page) });

/** An answer with its sources, to be pasted elsewhere. */
function answerAsText({ content, citations = [] }) {
  if (citations.length === 0) return content;
  const sources = citations.map((citation) => `[${citation.index}] ${nameOf(citation)}: “${citation.quote}”`);
  return `${content}\n\n${words("script-sources")}\n${sources.join("\n")}`;
}

/** A conversation as Markdown, with its questions as headings. */
const talkAsText = (messages) => messages.filter(({ content }) => content)
  .map((message) => message.role === "user" ? `## ${message.content.replace(/\s+/g, " ")}` : answerAsText(message)).join("\n\n");

/** The turns of a conversation on the page. Below an answer stand a button that copies it and what `besides` gives. */
function turnsOf(chat, besides = () => []) {
  const turns = chat.querySelector("[data-turns]");

  const placeOf = (citation, page) =>
    `${chat.dataset.files}/${citation.fileId}${page ? `/pages/${citation.page}?` : `?page=${citation.page}&`}start=${citation.start}&end=${citation.end}`;

  const linkTo = (citation, properties) => {
    const link = make("a", { href: `${placeOf(citation, false)}#quote`, title: nameOf(citation), ...properties });
    link.dataset.page = placeOf(citation, true);
    return link;
  };

  /** The text with its numbers in brackets made links, where what they stand for is known. */
  const render = (turn, message) => {
    const { content, citations = [], note, gone } = message;
    const known = new Map(citations.map((citation) => [String(citation.index), citation]));
    const cite = (number) => known.has(number) ? linkTo(known.get(number), { className: "cite", textContent: `[${number}]` }) : null;
    turn.replaceChildren(...markdown(content, cite));
    if (citations.length > 0) {
      const sources = citations.map((citation) => make("li", {}, make("span", { className: "number", textContent: `[${citation.index}]` }), " ",
        linkTo(citation, { textContent: nameOf(citation) }), " ", make("q", { textContent: citation.quote, dir: "auto" })));
      const list = make("ol", { className: "sources" }, ...sources);
      list.setAttribute("aria-label", words("script-sources"));
      turn.append(list);
    }
    if (gone) turn.append(make("p", { className: "faint", textContent: words("script-gone") }));
    if (note) turn.append(make("p", { className: "faint small note", textContent: note }));
    if (!content || turn.classList.contains("waiting")) return;
    const button = make("button", { type: "button", className: "quiet tiny", textContent: words("script-copy-answer") });
    button.addEventListener("click", () => copy(button, answerAsText(message)));
    turn.append(make("div", { className: "below" }, button, ...besides(message)));
  };

  const add = (message) => {
    const mine = message.role === "user";
    const turn = make("li", { className: mine ? "turn mine" : "turn answer", dir: "auto" });
    if (mine) turn.textContent = message.content; else render(turn, message);
    turns.append(turn);
    return turn;
  };

  return { add, render };
}

/** A conversation that somebody else has shared. */
function sharedTalk() {
  const chat = document.querySelector("[data-shared]");
  if (!chat) return;
  const { add } = turnsOf(chat);
  const messages = JSON.parse(chat.dataset.said);
  for (const message of messages) add(message);
  const copier = chat.querySelector("[data-copy-talk]");
  copier.addEventListener("click", () => copy(copier, talkAsText(messages)));
}

function asking() {
  const chat = document.querySelector("[data-chat]");
  if (!chat) return;
  const form = chat.querySelector("[data-ask]");
  const input = form.elements.question, button = form.querySelector("[data-send]"), halt = form.querySelector("[data-stop]");
  const hello = chat.querySelector("[data-hello]");
  const place = `chat ${chat.dataset.chat}`;
  /** What was said: {role, content, citations, note, gone}. */
  let messages = [];
  let conversation = chat.dataset.conversation ?? null;
  let stop = null;

  /** Which answers can be rated, and how they were: in this tab only, by their place. */
  const ratings = () => `ratings ${conversation ?? place}`;
  const keepRatings = () => kept.set(ratings(), messages.map(({ id, rating }) => id ? { id, rating } : null));

  /** Thumbs, and after one of them a line to say why. */
  const thumbs = (message) => {
    const said = make("span", { className: "faint small" });
    said.setAttribute("role", "status");
    const both = [];
    const send = async (rating, comment) => {
      try {
        await ask(chat.dataset.rate, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ id: message.id, rating, comment }) });
        message.rating = rating;
        keepRatings();
        for (const thumb of both) thumb.setAttribute("aria-pressed", String(thumb.dataset.rating === String(rating)));
        said.textContent = words(comment ? "script-thanks-why" : "script-thanks");
        return true;
      } catch (error) { said.textContent = error.message; return false; }
    };
    const why = make("form", { className: "line", hidden: true },
      make("label", { className: "grow" }, make("span", { className: "unseen", textContent: words("script-why") }), make("input", { name: "comment", maxLength: 2000, placeholder: words("script-why-hint"), dir: "auto" })),
      make("button", { type: "submit", className: "quiet", textContent: words("script-send") }));
    why.addEventListener("submit", async (event) => {
      event.preventDefault();
      const comment = why.elements.comment.value.trim();
      if (comment && await send(message.rating, comment)) why.hidden = true;
    });
    const thumb = (rating, label) => {
      const button = make("button", { type: "button", className: "thumb quiet", title: label }, drawThumb());
      button.setAttribute("aria-label", label);
      button.setAttribute("aria-pressed", String(message.rating === rating));
      button.dataset.rating = rating;
      button.addEventListener("click", async () => { if (await send(rating)) { why.hidden = false; why.elements.comment.focus(); } });
      return button;
    };
    both.push(thumb(1, words("script-helped")), thumb(-1, words("script-helped-not")));
    return [...both, said, why];
  };

  const { add, render } = turnsOf(chat, (message) => message.id && chat.dataset.rate ? thumbs(message) : []);

  const copier = chat.querySelector("[data-copy-talk]");
  copier.addEventListener("click", () => copy(copier, talkAsText(messages)));

  const addTurn = (message) => {
    hello?.remove();
    copier.hidden = false;
    return add(message);
  };

  /** The end of the page: the newest answer stands above the ask bar there. */
  const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight });
  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;

  /** In this tab, where the server keeps nothing. */
  const keepHere = () => { if (messages.length) kept.set(place, messages); else kept.drop(place); };

  /** On the server, under an address that leads back to it. */
  const keep = async () => {
    const [question, reply] = messages.slice(-2);
    if (!chat.dataset.keep || reply?.role !== "assistant" || !reply.content) { keepHere(); return; }
    const body = JSON.stringify({ conversation, question: question.content, answer: reply.content, citations: reply.citations });
    try {
      // Also for somebody who leaves the page at once; browsers do that for 64 KiB at most.
      const response = await ask(chat.dataset.keep, { method: "POST", keepalive: body.length < 20_000, headers: { "Content-Type": "application/json" }, body });
      const { id, title } = await response.json();
      kept.drop(place);
      if (!conversation) began(id, title);
    } catch { keepHere(); }
  };

  const began = (id, title) => {
    conversation = id;
    history.replaceState(null, "", `${chat.dataset.chat}/${id}`);
    const past = document.querySelector("[data-past]");
    const link = make("a", { href: `${chat.dataset.chat}/${id}`, textContent: title, dir: "auto" });
    link.setAttribute("aria-current", "page");
    past?.querySelector("ul").prepend(make("li", {}, link));
    if (past) past.hidden = false;
  };

  const answer = async (turn) => {
    stop = new AbortController();
    button.hidden = true;
    halt.hidden = false;
    const message = { role: "assistant", content: "", citations: [] };
    try {
      const said = messages.filter((message) => message.content).map(({ role, content }) => ({ role, content }));
      const response = await ask(chat.dataset.chat, {
        method: "POST", signal: stop.signal, headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ messages: said, stream: true, stream_options: { include_usage: true } }),
      });
      for await (const data of eventsOf(response)) {
        if (data === "[DONE]") break;
        const frame = JSON.parse(data);
        message.id ??= frame.id;
        if (frame.success === false) throw new Error(frame.error.message);
        const follow = atEnd();
        message.content += frame.choices?.[0]?.delta?.content ?? "";
        message.citations = frame.citations ?? message.citations;
        if (frame.usage) {
          const { intelligence_units_consumed: cost, intelligence_units_remaining: left } = frame.usage;
          message.note = words(counted(cost, "script-cost-one", "script-cost-other"), { count: cost, left });
        }
        render(turn, message);
        if (follow) toEnd();
      }
      messages.push(message);
    } catch (error) {
      const stopped = error.name === "AbortError";
      // A broken stream is told like a server that is away.
      const why = error instanceof TypeError ? AWAY : error.message;
      if (stopped && message.content) {
        message.note = words("script-stopped");
        render(turn, message);
        messages.push(message);
      } else if (stopped) {
        messages.pop();
        render(turn, { content: "", note: words("script-stopped") });
      } else {
        turn.append(failure(why, () => { turn.replaceChildren(); turn.classList.add("waiting"); answer(turn); }));
      }
    }
    await keep();
    turn.classList.remove("waiting");
    if (messages.at(-1) === message) { render(turn, message); keepRatings(); }
    stop = null;
    button.hidden = false;
    halt.hidden = true;
    toEnd();
  };

  const send = (question) => {
    // A question that failed is asked in place of the one before it.
    if (messages.at(-1)?.role === "user") messages.pop();
    const message = { role: "user", content: question };
    messages.push(message);
    addTurn(message);
    const turn = addTurn({ role: "assistant", content: "" });
    turn.classList.add("waiting");
    toEnd();
    answer(turn);
  };

  const grow = () => {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight + 2, innerHeight * 0.4)}px`;
  };
  input.addEventListener("input", grow);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = input.value.trim();
    if (!question || stop) return;
    input.value = "";
    grow();
    send(question);
  });
  halt.addEventListener("click", () => { stop?.abort(); input.focus(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!stop) form.requestSubmit();
    }
  });
  chat.querySelector("[data-new]").addEventListener("click", () => { stop?.abort(); kept.drop(place); });

  // What was said before, there or in this tab.
  const before = chat.dataset.said ? JSON.parse(chat.dataset.said) : kept.get(place);
  if (before?.length) {
    const rated = kept.get(ratings()) ?? [];
    messages = before.map((message, at) => ({ ...message, ...rated[at] }));
    for (const message of messages) addTurn(message);
    toEnd();
  }
}
