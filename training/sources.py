"""Pairs mined from freely licensed text on this machine: heading → section, summary → page, doc comment → code.

- Rust crates in Cargo's registry (MIT, Apache-2.0 and the like): doc comments and the code below them, Markdown sections
- the books that come with Rust (MIT or Apache-2.0), by heading
- manual pages (each freely licensed, commercial use allowed), in English and translated
- Node.js's documentation (MIT), kept for validation
- Python's standard library (PSF licence), doc strings and code, kept for testing

Each yields (query, passage, kind). What is not installed yields nothing.
"""
import ast
import glob
import gzip
import html.parser
import os
import random
import re
import sys
import sysconfig

HOME = os.path.expanduser("~")
NON_FREE = re.compile(r"non-?commercial", re.I)


def read(path):
    try:
        opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
        with opened as file:
            return file.read(400_000)
    except (OSError, UnicodeDecodeError, EOFError):
        return ""


def some(paths, count, seed):
    paths = sorted(paths)
    return random.Random(seed).sample(paths, min(count, len(paths)))


def tidy(text):
    return re.sub(r"[ \t]+", " ", re.sub(r"\n\s*\n+", "\n", text)).strip()


def sectioned(title, parts, kind):
    """Sections long enough to be found and headings that say something."""
    dull = {"examples", "example", "license", "usage", "see also", "description", "options", "synopsis", "name", "notes",
            "contents", "authors", "author", "copyright", "bugs", "returns", "parameters", "index", "history"}
    for heading, body in parts:
        body = tidy(body)[:1400]
        alone = heading.lower().strip(" :.") in dull
        if len(body) < 160 or len(heading) < 3 or len(heading) > 120 or body.count(" ") < 20:
            continue
        if alone and not title:
            continue
        title = "" if title.lower() == heading.lower() else title
        query = f"{title} {heading}" if title and (alone or len(heading.split()) < 3) else heading
        yield query, body, kind


def markdown_sections(text):
    """(heading, text) of a Markdown file; headings inside of code are not headings."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    found, heading, body, code = [], "", [], False
    for line in text.splitlines():
        code ^= line.lstrip().startswith("```")
        mark = re.match(r"#{1,4}\s+(.*?)\s*#*$", line) if not code else None
        if mark:
            found.append((heading, "\n".join(body)))
            heading, body = re.sub(r"[`*\[\]]|\(http\S+\)|<[^>]*>", "", mark[1]).strip(), []
        elif not re.match(r"\s*(\[!\[|<!--|\[[^\]]+\]:)", line):
            body.append(line)
    return found + [(heading, "\n".join(body))]


def rust_docs():
    """First sentence of a doc comment → the item's code, or the rest of the comment."""
    paths = glob.glob(f"{HOME}/.cargo/registry/src/*/*/src/**/*.rs", recursive=True)
    comment = re.compile(r"((?:^[ \t]*///.*\n)+)((?:^[ \t]*#\[.*\n)*)([ \t]*(?:pub(?:\([a-z]+\))? )?(?:const |async |unsafe )*"
                         r"(?:fn|struct|enum|trait|macro_rules!) [^\n]*\n(?:.*\n){0,25})", re.M)
    for path in some(paths, 12_000, 1):
        taken = 0
        for docs, _, code in comment.findall(read(path)):
            lines = [line.strip()[3:].strip() for line in docs.splitlines()]
            whole = re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", " ".join(lines))
            first = re.split(r"(?<=[.!?])\s", whole)[0].rstrip(".")
            end = re.search(r"\n(?: {0,4})\}\n", code)
            code = code[:end.end()] if end else code
            if 25 <= len(first) <= 160 and len(code) > 120 and taken < 6 and "```" not in first:
                taken += 1
                yield first, code.rstrip()[:1400], "code"
                rest = " ".join(whole.split()[len(first.split()):])
                if len(rest) > 250:
                    yield first, rest[:1400], "doc"


def rust_markdown():
    for path in some(glob.glob(f"{HOME}/.cargo/registry/src/*/*/*.md") + glob.glob(
            f"{HOME}/.cargo/registry/src/*/*/doc*/**/*.md", recursive=True), 1500, 2):
        text = read(path)
        if "changelog" in path.lower() or NON_FREE.search(text):
            continue
        title = re.sub(r"-\d.*", "", path.split("/src/")[1].split("/")[1])
        yield from sectioned(title, markdown_sections(text), "head")


class Page(html.parser.HTMLParser):
    """(heading, text) of an HTML page."""

    def __init__(self):
        super().__init__()
        self.found, self.heading, self.body, self.level, self.skip, self.main = [], "", [], 0, 0, 0

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style", "nav"):
            self.skip += 1
        elif tag == "main":
            self.main += 1
        elif re.fullmatch("h[1-4]", tag) and self.main:
            self.found.append((self.heading.strip(), "".join(self.body)))
            self.heading, self.body, self.level = "", [], 1
        elif tag in ("p", "li", "pre", "tr", "div"):
            self.body.append("\n")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav"):
            self.skip = max(0, self.skip - 1)
        elif tag == "main":
            self.found.append((self.heading.strip(), "".join(self.body)))
            self.main, self.heading, self.body = 0, "", []
        elif re.fullmatch("h[1-4]", tag):
            self.level = 0

    def handle_data(self, data):
        if self.skip or not self.main:
            return
        if self.level:
            self.heading += data
        else:
            self.body.append(data)


def rust_books():
    root = next(iter(sorted(glob.glob(f"{HOME}/.rustup/toolchains/stable*/share/doc/rust/html"))), None)
    books = "book reference nomicon cargo rustc rustdoc rust-by-example edition-guide embedded-book error_codes".split()
    paths = [path for book in books for path in glob.glob(f"{root}/{book}/**/*.html", recursive=True)] if root else []
    paths += glob.glob(f"{root}/std/*/struct.*.html") + glob.glob(f"{root}/std/*/trait.*.html") if root else []
    for path in some([path for path in paths if not path.endswith("print.html")], 1600, 3):
        page = Page()
        page.feed(read(path))
        parts = [(heading.replace("§", "").replace("Copy item path", "").strip(), body) for heading, body in page.found]
        title = parts[1][0][:60] if len(parts) > 1 else ""
        yield from sectioned(title, parts, "head")


def plain_roff(text):
    text = re.sub(r'^[.\']\\".*\n', "", text, flags=re.M)
    text = re.sub(r"^\.(B|I|BR|IR|RB|BI|IB|RI|Nm|Fl|Ar|Xr|Sy|Em|IP|Dq|Pa|Dv)(?= |$)", "", text, flags=re.M)
    text = re.sub(r"^[.'](?!SH|SS|Sh|Ss).*$", "", text, flags=re.M)
    text = re.sub(r"\\f\(?[A-Z]{1,2}|\\f[A-Z0-9]|\\[,/&|^!]|\\s[+-]?\d", "", text)
    text = re.sub(r"\\\(bu|\\\(em", "-", text)
    text = re.sub(r"\\\((?:aq|cq|oq)", "'", text)
    return re.sub(r"\\(.)", lambda mark: {"-": "-", "e": "\\", " ": " "}.get(mark[1], ""), text)


def manual_pages(folders, count, seed, kind):
    paths = [path for folder in folders for path in glob.glob(f"{folder}/man[1-8]/*.gz")]
    for path in some([path for path in paths if "/gcloud" not in path], count, seed):
        text = read(path)
        if len(text) < 1500 or text.startswith(".so") or NON_FREE.search(text):
            continue
        parts = re.split(r'^\.(?:SH|SS|Sh|Ss)\s+"?(.*?)"?\s*$', plain_roff(text), flags=re.M)
        parts = list(zip(parts[1::2], parts[2::2]))
        name = os.path.basename(path).split(".")[0]
        summary = re.search(r" -+ (.{15,120})", tidy(parts[0][1])) if parts else None
        long = [tidy(body) for heading, body in parts[1:] if len(body) > 400]
        if summary and long:
            yield summary[1].strip(), f"{name}\n{long[0][:1400]}", kind
        yield from list(sectioned(name, [(heading.capitalize(), body) for heading, body in parts[1:]], kind))[:6]


def manuals():
    yield from manual_pages(["/usr/share/man"], 4000, 4, "head")


def foreign_manuals():
    folders = [folder for folder in glob.glob("/usr/share/man/*") if not re.search(r"/(man\d|ja|ko|zh\w*)$", folder)]
    yield from manual_pages(folders, 2500, 5, "head")


def node_docs():
    for path in sorted(glob.glob("/usr/share/doc/nodejs/api/*.md")):
        title = os.path.basename(path)[:-3]
        yield from sectioned(title, markdown_sections(read(path)), "head")


def python_code():
    """First line of a doc string → the code without it."""
    for path in sorted(glob.glob(f"{sysconfig.get_paths()['stdlib']}/**/*.py", recursive=True)):
        if re.search(r"site-packages|/test|idlelib|lib2to3|_vendor", path):
            continue
        text = read(path)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        lines = text.splitlines()
        for node in ast.walk(tree):
            summary = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
            first = summary.split("\n")[0].rstrip(".") if summary else ""
            if not 25 <= len(first) <= 160 or node.end_lineno - node.lineno < 6:
                continue
            inner = node.body[0]
            code = lines[node.lineno - 1:inner.lineno - 1] + lines[inner.end_lineno:node.end_lineno]
            code = "\n".join(code)[:1400]
            if len(code) > 150:
                yield first, code, "code"


SOURCES = {
    "rustdoc": (rust_docs, 12_000), "md": (rust_markdown, 7_000), "books": (rust_books, 6_000), "man": (manuals, 9_000),
    "man-other": (foreign_manuals, 4_000), "node": (node_docs, 1_500), "pycode": (python_code, 3_000),
}


def pairs(domain):
    """Up to as many pairs as a domain may have, no query and no passage twice."""
    source, most = SOURCES[domain]
    found, queries, passages = [], set(), set()
    for query, passage, kind in source():
        query = " ".join(query.split())
        if query.lower() in queries or passage[:200] in passages:
            continue
        queries.add(query.lower())
        passages.add(passage[:200])
        found.append((query, passage, kind))
    random.Random(7).shuffle(found)
    return found[:most]


if __name__ == "__main__":
    for name in SOURCES:
        some_pairs = pairs(name)
        print(name, len(some_pairs), file=sys.stderr)
        for query, passage, kind in some_pairs[:3]:
            print(f"  [{kind}] {query!r}\n      {passage[:150]!r}", file=sys.stderr)
