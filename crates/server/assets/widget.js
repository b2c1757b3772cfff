// A chat about the documents of one box, on pages of other web sites:
//   <script src="https://quire.example.org/widget.js" data-key="quire_…" data-box="box_…" data-title="Ask our docs" defer></script>
// It speaks the language of the page (or that of data-language), or else of the browser, if it knows it.
// It keeps no cookies and stores nothing. Whatever comes from the server is put on the page as text, never as HTML.
(() => {
  "use strict";
  const tag = document.currentScript ?? document.querySelector("script[data-key][data-box]");
  const { key, box } = tag?.dataset ?? {};
  if (!key || !box) return console.error("quire: the script tag of the chat needs data-key and data-box");
  const server = new URL(".", tag.src);

  /** Turns of the conversation that are sent along, so that questions can refer to them. */
  const REMEMBERED = 12;

  const WORDS = {
    en: {
      title: "Ask our documents", close: "Close", talk: "Conversation", question: "Your question", ask: "Ask", stop: "Stop", sources: "Sources",
      hint: "Answers come from documents and can be incomplete. Check the sources.", page: "page", stopped: "Stopped.",
      cut: "The answer was cut off. Please ask again.",
      used: "This assistant has used all it may use for now. Please come back later.",
      busy: "Many questions are being asked right now. Please try again in a moment.",
      wait: "Many questions are being asked right now. Please try again in # seconds.",
      refused: "This assistant is not set up for this page. Please tell the owner of the site.",
      unclear: "This question could not be understood. Please put it in other words, or make it shorter.",
      wrong: "Something went wrong on the server. Please try again in a moment.",
      away: "The server cannot be reached. Please check your connection and try again.",
    },
    es: {
      title: "Pregunte a nuestros documentos", close: "Cerrar", talk: "Conversación", question: "Su pregunta", ask: "Preguntar", stop: "Detener", sources: "Fuentes",
      hint: "Las respuestas proceden de documentos y pueden ser incompletas. Compruebe las fuentes.", page: "página", stopped: "Detenido.",
      cut: "La respuesta se ha interrumpido. Vuelva a preguntar.",
      used: "Este asistente ha agotado por ahora lo que puede usar. Vuelva más tarde.",
      busy: "Ahora mismo se hacen muchas preguntas. Inténtelo de nuevo en un momento.",
      wait: "Ahora mismo se hacen muchas preguntas. Inténtelo de nuevo en # segundos.",
      refused: "Este asistente no está configurado para esta página. Avise al propietario del sitio.",
      unclear: "No se ha podido entender la pregunta. Formúlela de otra manera o acórtela.",
      wrong: "Se ha producido un error en el servidor. Inténtelo de nuevo en un momento.",
      away: "No se puede acceder al servidor. Compruebe su conexión e inténtelo de nuevo.",
    },
    pt: {
      title: "Pergunte aos nossos documentos", close: "Fechar", talk: "Conversa", question: "A sua pergunta", ask: "Perguntar", stop: "Parar", sources: "Fontes",
      hint: "As respostas vêm de documentos e podem estar incompletas. Confira as fontes.", page: "página", stopped: "Parado.",
      cut: "A resposta foi interrompida. Pergunte novamente.",
      used: "Este assistente já usou tudo o que podia por enquanto. Volte mais tarde.",
      busy: "Há muitas perguntas neste momento. Tente novamente daqui a pouco.",
      wait: "Há muitas perguntas neste momento. Tente novamente em # segundos.",
      refused: "Este assistente não está configurado para esta página. Avise o responsável pelo site.",
      unclear: "Não foi possível entender a pergunta. Formule-a de outra maneira ou encurte-a.",
      wrong: "Ocorreu um erro no servidor. Tente novamente daqui a pouco.",
      away: "Não é possível acessar o servidor. Verifique a sua conexão e tente novamente.",
    },
    fr: {
      title: "Interrogez nos documents", close: "Fermer", talk: "Conversation", question: "Votre question", ask: "Demander", stop: "Arrêter", sources: "Sources",
      hint: "Les réponses proviennent de documents et peuvent être incomplètes. Vérifiez les sources.", page: "page", stopped: "Arrêté.",
      cut: "La réponse a été interrompue. Posez de nouveau votre question.",
      used: "Cet assistant a épuisé ce qu’il peut utiliser pour le moment. Revenez plus tard.",
      busy: "Beaucoup de questions sont posées en ce moment. Réessayez dans un instant.",
      wait: "Beaucoup de questions sont posées en ce moment. Réessayez dans # secondes.",
      refused: "Cet assistant n’est pas configuré pour cette page. Prévenez le propriétaire du site.",
      unclear: "La question n’a pas pu être comprise. Formulez-la autrement ou raccourcissez-la.",
      wrong: "Une erreur s’est produite sur le serveur. Réessayez dans un instant.",
      away: "Le serveur est injoignable. Vérifiez votre connexion et réessayez.",
    },
    de: {
      title: "Fragen Sie unsere Dokumente", close: "Schließen", talk: "Gespräch", question: "Ihre Frage", ask: "Fragen", stop: "Anhalten", sources: "Quellen",
      hint: "Antworten stammen aus Dokumenten und können unvollständig sein. Prüfen Sie die Quellen.", page: "Seite", stopped: "Angehalten.",
      cut: "Die Antwort ist abgebrochen. Bitte fragen Sie noch einmal.",
      used: "Dieser Assistent hat sein Kontingent vorerst verbraucht. Bitte kommen Sie später wieder.",
      busy: "Gerade werden viele Fragen gestellt. Bitte versuchen Sie es gleich noch einmal.",
      wait: "Gerade werden viele Fragen gestellt. Bitte versuchen Sie es in # Sekunden noch einmal.",
      refused: "Dieser Assistent ist für diese Seite nicht eingerichtet. Bitte sagen Sie es dem Betreiber der Website.",
      unclear: "Die Frage war nicht zu verstehen. Bitte formulieren Sie sie anders oder kürzer.",
      wrong: "Auf dem Server ist ein Fehler aufgetreten. Bitte versuchen Sie es gleich noch einmal.",
      away: "Der Server ist nicht erreichbar. Bitte prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    },
  };
  const wanted = [tag.dataset.language, document.documentElement.lang, ...navigator.languages].map((language) => language?.slice(0, 2).toLowerCase());
  const language = wanted.find((language) => Object.hasOwn(WORDS, language ?? "")) ?? "en";
  const words = WORDS[language];
  const title = tag.dataset.title ?? words.title;

  const STYLE = `
    :host { all: initial; color-scheme: light dark; --sheet: #fff; --sunk: #eeeeea; --ink: #1d2330; --faint: #5b6270; --edge: #858c9a;
      --accent: #2f4b7c; --on-accent: #fff; --bad: #a32432; font: 16px/1.5 system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) { :host { --sheet: #1c2028; --sunk: #252a34; --ink: #e8eaef; --faint: #a3aab8; --edge: #737c8e;
      --accent: #9db9ec; --on-accent: #10151f; --bad: #f59a9f; } }
    @media print { :host { display: none; } }
    * { box-sizing: border-box; }
    button { font: inherit; cursor: pointer; border: 0; border-radius: 10px; padding: .5em 1em; background: var(--accent); color: var(--on-accent); }
    button:focus-visible, textarea:focus-visible, a:focus-visible, .said:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .open { position: fixed; inset: auto 1rem 1rem auto; z-index: 2147483000; max-width: calc(100vw - 2rem); border-radius: 2em; box-shadow: 0 2px 12px rgb(0 0 0 / 30%); }
    dialog { position: fixed; inset: auto 1rem 1rem auto; width: min(26rem, calc(100vw - 2rem)); height: min(38rem, calc(100vh - 2rem)); margin: 0; padding: 0;
      border: 1px solid var(--edge); border-radius: 14px; background: var(--sheet); color: var(--ink); box-shadow: 0 8px 40px rgb(0 0 0 / 35%); }
    dialog[open] { display: flex; flex-direction: column; }
    dialog::backdrop { background: rgb(0 0 0 / 20%); }
    header, form { display: flex; gap: .5rem; align-items: center; padding: .75rem 1rem; }
    header { border-bottom: 1px solid var(--sunk); }
    h2 { flex: 1; margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
    .close { background: none; color: var(--ink); padding: .25em .6em; }
    .said { flex: 1; overflow-y: auto; padding: 0 1rem; overflow-wrap: anywhere; }
    .turn { margin: 1rem 0; }
    .mine { margin-left: 2rem; padding: .5rem .75rem; border-radius: 10px; background: var(--sunk); white-space: pre-wrap; }
    .turn p, .turn ul, .turn ol, .turn pre { margin: .5em 0; }
    .turn ul, .turn ol { padding-left: 1.5em; }
    pre { overflow-x: auto; padding: .5em; background: var(--sunk); }
    a { color: var(--accent); }
    .sources { color: var(--faint); font-size: .875rem; list-style: none; }
    .turn .sources { padding: 0; }
    .wrong { color: var(--bad); }
    .hint { margin: 0; padding: 0 1rem .75rem; color: var(--faint); font-size: .8125rem; }
    form { align-items: end; border-top: 1px solid var(--sunk); }
    label { flex: 1; font-size: .875rem; color: var(--faint); }
    textarea { display: block; width: 100%; font: inherit; font-size: 1rem; color: var(--ink); background: var(--sheet); border: 1px solid var(--edge); border-radius: 8px; padding: .4em .6em; resize: vertical; }
    @media (max-width: 480px) { dialog { inset: 0; width: 100vw; max-width: 100vw; height: 100dvh; max-height: 100dvh; border: 0; border-radius: 0; } }
    @media (prefers-reduced-motion: no-preference) {
      dialog[open] { animation: rise .15s ease-out; }
      @keyframes rise { from { opacity: 0; transform: translateY(1rem); } }
    }`;

  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  /** A line's code, bold, italics and links. */
  const inline = (text) => {
    const parts = [];
    let end = 0;
    for (const found of text.matchAll(/`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])\*(?!\s)([^*\n]+?)\*(?![\w*])|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g)) {
      const [whole, code, bold, italic, label, address] = found;
      parts.push(text.slice(end, found.index));
      end = found.index + whole.length;
      if (code) parts.push(make("code", { textContent: code }));
      else if (bold) parts.push(make("strong", {}, ...inline(bold)));
      else if (italic) parts.push(make("em", {}, ...inline(italic)));
      else parts.push(make("a", { href: address, textContent: label, rel: "noreferrer noopener", target: "_blank" }));
    }
    return [...parts, text.slice(end)];
  };

  /** A text's paragraphs, lists and code. */
  const blocks = (text) => {
    const made = [];
    const lines = text.replaceAll("\r", "").split("\n");
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at], last = made.at(-1), open = at > 0 && lines[at - 1].trim() !== "";
      const item = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/.exec(line);
      if (/^\s*```/.test(line)) {
        const code = [];
        for (at += 1; at < lines.length && !/^\s*```/.test(lines[at]); at += 1) code.push(lines[at]);
        made.push(make("pre", { tabIndex: 0 }, make("code", { textContent: code.join("\n") })));
      } else if (item) {
        const name = item[1] ? "OL" : "UL";
        const list = last?.nodeName === name ? last : made[made.push(make(name, item[1] ? { start: Number(item[1]) } : {})) - 1];
        list.append(make("li", {}, ...inline(item[2])));
      } else if (/^#{1,6}\s/.test(line)) {
        made.push(make("p", {}, make("strong", {}, ...inline(line.replace(/^#+\s+/, "")))));
      } else if (line.trim()) {
        const parts = inline(line.replace(/^\s*>\s?/, ""));
        if (open && last?.nodeName === "P") last.append(make("br"), ...parts);
        else if (open && last?.lastChild?.nodeName === "LI") last.lastChild.append(" ", ...parts);
        else made.push(make("p", {}, ...parts));
      }
    }
    for (const block of made) block.dir = "auto";
    return made;
  };

  /** What people are told when something goes wrong. */
  const inWords = ({ reason, status, retry_after: wait }) => {
    if (reason === "units_exhausted") return words.used;
    if (status === 429 || reason === "overloaded" || /^rate_limit|^overloaded/.test(reason)) {
      return wait ? words.wait.replace("#", wait) : words.busy;
    }
    if (status === 401 || status === 403) return words.refused;
    if (status < 500) return words.unclear;
    return words.wrong;
  };

  /** Browsers do not say why an answer is out of reach: whether the server is away, or does not want this page. */
  const outOfReach = async () => {
    try {
      await fetch(new URL("healthz", server), { mode: "no-cors", credentials: "omit" });
      return words.refused;
    } catch {
      return words.away;
    }
  };

  /** The frames of an answer, as they come. */
  async function* frames(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
        const data = rest.slice(0, end).split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
        if (data && data !== "[DONE]") yield JSON.parse(data);
      }
    }
  }

  const host = make("aside", { lang: language });
  host.setAttribute("aria-label", title);
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  shadow.adoptedStyleSheets = [sheet];

  const open = make("button", { type: "button", className: "open", textContent: title });
  open.setAttribute("aria-haspopup", "dialog");
  const close = make("button", { type: "button", className: "close", textContent: "✕" });
  close.setAttribute("aria-label", words.close);
  const said = make("div", { className: "said", tabIndex: 0 });
  said.setAttribute("role", "log");
  said.setAttribute("aria-label", words.talk);
  const question = make("textarea", { rows: 2, required: true, maxLength: 4000 });
  const send = make("button", { type: "submit", textContent: words.ask });
  const form = make("form", {}, make("label", {}, words.question, question), send);
  const heading = make("h2", { id: "title", textContent: title });
  const panel = make("dialog", {}, make("header", {}, heading, close), said, form,
    make("p", { className: "hint", textContent: words.hint }));
  panel.setAttribute("aria-labelledby", "title");
  shadow.append(open, panel);

  const messages = [];
  /** Ends the answer that is coming. */
  let stop = null;

  open.addEventListener("click", () => { panel.showModal(); question.focus(); });
  close.addEventListener("click", () => panel.close());
  panel.addEventListener("close", () => open.focus());
  // A click beside the panel closes it.
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); if (!stop) form.requestSubmit(); }
  });

  /** Shows an answer as far as it is known. */
  const show = (turn, text, citations, wrong) => {
    turn.replaceChildren(...blocks(text));
    if (citations.length > 0) {
      const lines = citations.map(({ index, fileName, page, quote }) => make("li", { dir: "auto", title: quote, textContent: `[${index}] ${fileName}, ${words.page} ${page}` }));
      const sources = make("ol", { className: "sources" }, ...lines);
      sources.setAttribute("aria-label", words.sources);
      turn.append(sources);
    }
    if (wrong) turn.append(make("p", { className: "wrong", textContent: wrong }));
    said.scrollTop = said.scrollHeight;
  };

  /** Asks and shows the answer while it comes; gives its text if it came whole. */
  const ask = async (turn, signal) => {
    let text = "", citations = [], whole = false;
    try {
      const response = await fetch(new URL("api/public/v1/chat/completions", server), {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ box_id: box, stream: true, messages: messages.slice(-REMEMBERED) }),
        credentials: "omit",
        signal,
      });
      if (!response.ok) {
        const { error = {} } = await response.json().catch(() => ({}));
        return void show(turn, "", [], inWords({ ...error, status: response.status }));
      }
      for await (const frame of frames(response)) {
        if (frame.error) return void show(turn, text, citations, inWords({ status: 500, ...frame.error }));
        text += frame.choices?.[0]?.delta?.content ?? "";
        citations = frame.citations ?? citations;
        whole ||= Boolean(frame.choices?.[0]?.finish_reason);
        show(turn, text, citations);
      }
      show(turn, text, citations, whole ? "" : words.cut);
    } catch (error) {
      const ended = error.name === "AbortError" ? words.stopped : text ? words.cut : await outOfReach();
      show(turn, text, citations, ended);
    }
    return whole ? text : "";
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (stop) return stop.abort();
    const asked = question.value.trim();
    if (!asked) return;
    stop = new AbortController();
    question.value = "";
    question.required = false;
    send.textContent = words.stop;
    messages.push({ role: "user", content: asked });
    const turn = make("div", { className: "turn", textContent: "…" });
    turn.setAttribute("aria-busy", "true");
    said.append(make("p", { className: "turn mine", dir: "auto", textContent: asked }), turn);
    said.scrollTop = said.scrollHeight;
    const answer = await ask(turn, stop.signal);
    if (answer) messages.push({ role: "assistant", content: answer }); else messages.pop();
    turn.removeAttribute("aria-busy");
    send.textContent = words.ask;
    question.required = true;
    stop = null;
  });

  const put = () => document.body.append(host);
  if (document.body) put(); else addEventListener("DOMContentLoaded", put);
})();
