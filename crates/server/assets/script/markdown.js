// Answers as formatted text. Everything is made of elements and text, never of HTML, so nothing in an answer can become markup.

/** The inline parts of a line: code, bold, italics, links, and numbers in brackets that `cite` knows. */
function inline(text, cite) {
  const parts = [];
  const pattern = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*(?!\s)([^*\n]+?)\*(?![\w*])|(?<!\w)_(?!\s)([^_\n]+?)_(?!\w)|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|\[(\d+)\]/g;
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > end) parts.push(text.slice(end, found.index));
    end = found.index + found[0].length;
    const [whole, , code, bold, strong, italic, emphasis, label, address, number] = found;
    if (code !== undefined) parts.push(make("code", { textContent: code }));
    else if (bold ?? strong) parts.push(make("strong", {}, ...inline(bold ?? strong, cite)));
    else if (italic ?? emphasis) parts.push(make("em", {}, ...inline(italic ?? emphasis, cite)));
    else if (address) parts.push(make("a", { href: address, textContent: label, rel: "noreferrer noopener", target: "_blank" }));
    else parts.push(cite(number) ?? whole);
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
const isRule = (line) => line !== undefined && line.includes("-") && /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(line);
const item = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;

/** The blocks of a text: headings, lists, tables, code, quotes, paragraphs. */
function markdown(text, cite = () => null) {
  const lines = text.replaceAll("\r", "").split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (!line.trim()) { at += 1; continue; }
    const fence = /^\s*(```|~~~)/.exec(line);
    if (fence) {
      const code = [];
      for (at += 1; at < lines.length && !lines[at].trim().startsWith(fence[1]); at += 1) code.push(lines[at]);
      at += 1;
      const pre = make("pre", {}, make("code", { textContent: code.join("\n") }));
      pre.tabIndex = 0;
      blocks.push(pre);
    } else if (/^#{1,6}\s/.test(line)) {
      blocks.push(make("p", { className: "heading" }, ...inline(line.replace(/^#+\s+/, ""), cite)));
      at += 1;
    } else if (line.includes("|") && isRule(lines[at + 1])) {
      const row = (tag, line) => make("tr", {}, ...cells(line).map((cell) => make(tag, {}, ...inline(cell, cite))));
      const head = make("thead", {}, row("th", line)), body = make("tbody");
      for (at += 2; at < lines.length && lines[at].includes("|"); at += 1) body.append(row("td", lines[at]));
      const scroll = make("div", { className: "scroll" }, make("table", { className: "list" }, head, body));
      scroll.tabIndex = 0;
      blocks.push(scroll);
    } else if (item.test(line)) {
      const [, , mark] = item.exec(line);
      const list = make(/\d/.test(mark) ? "ol" : "ul");
      if (/\d/.test(mark)) list.start = Number.parseInt(mark, 10);
      let last = null;
      for (; at < lines.length && lines[at].trim(); at += 1) {
        const found = item.exec(lines[at]);
        if (found && /\d/.test(found[2]) !== /\d/.test(mark) && !found[1]) break;
        if (found && found[1].length >= 2 && last) {
          const under = last.querySelector(":scope > ul") ?? last.appendChild(make("ul"));
          under.append(make("li", {}, ...inline(found[3], cite)));
        } else if (found) {
          last = list.appendChild(make("li", {}, ...inline(found[3], cite)));
        } else {
          (last ?? list).append(" ", ...inline(lines[at].trim(), cite));
        }
      }
      blocks.push(list);
    } else if (/^\s*>/.test(line)) {
      const quoted = [];
      for (; at < lines.length && /^\s*>/.test(lines[at]); at += 1) quoted.push(lines[at].replace(/^\s*>\s?/, ""));
      blocks.push(make("blockquote", {}, ...markdown(quoted.join("\n"), cite)));
    } else {
      const paragraph = make("p");
      const starts = (line, next) => !line.trim() || item.test(line) || /^(\s*(```|~~~|>)|#{1,6}\s)/.test(line) || (line.includes("|") && isRule(next));
      do {
        if (paragraph.childNodes.length) paragraph.append(make("br"));
        paragraph.append(...inline(lines[at], cite));
        at += 1;
      } while (at < lines.length && !starts(lines[at], lines[at + 1]));
      blocks.push(paragraph);
    }
  }
  for (const block of blocks) block.dir = "auto";
  return blocks;
}
