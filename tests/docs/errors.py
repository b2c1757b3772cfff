#!/usr/bin/env python3
"""Keeps the list of error texts in docs/errors.md the same as in the code.

    python3 tests/docs/errors.py --check     says what differs
    python3 tests/docs/errors.py --write     writes the list again

The texts are found where the code makes a `Fault`: with their reason, their hint, and … for what is filled in. A text that
is put together elsewhere is not found; the table of reasons above the list, which a test of the server checks, covers it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/errors.md"
START, END = "<!-- made by tests/docs/errors.py --write -->", "<!-- end -->"
# Where answers of the API are made. Commands and pages of the dashboard say their own things.
SOURCES = ["engine/src", "stores/src", "models/src", "server/src/app", "server/src/http", "server/src/library.rs", "server/src/manage", "server/src/outside.rs", "server/src/payer.rs"]
# What `Fault::missing` makes of its words; its calls are listed.
EVERY_MISSING = "`…` is required: …"
LITERAL = r'"((?:[^"\\]|\\.)*)"'


def arguments(text, start):
    """The arguments of a call whose bracket opens at `start`, and where it ends."""
    depth, begin, found, quoted, at = 0, start + 1, [], False, start
    while at < len(text):
        sign = text[at]
        if quoted:
            if sign == "\\":
                at += 1
            elif sign == '"':
                quoted = False
        elif sign == '"':
            quoted = True
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                found.append(text[begin:at].strip())
                return found, at + 1
        elif sign == "," and depth == 1:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found, at


def plain(literal, filled):
    """A string of the code as it is read, with … for what is filled in."""
    text = re.sub(r"\\\n\s*", "", literal).replace('\\"', '"').replace("\\\\", "\\")
    if not filled:
        return text
    text = text.replace("{{", "\0").replace("}}", "\1")
    return re.sub(r"(\{[^}]*\})+", "…", text).replace("\0", "{").replace("\1", "}")


def texts(argument, before):
    """The texts that an argument can be: its own, or those of the variable it names."""
    if re.fullmatch(r"&?\w+(\.into\(\)|\.to_string\(\))?", argument):
        name = argument.strip("&").split(".")[0]
        made = list(re.finditer(rf"let {name}\b[^=]*=\s+", before))
        if not made:
            return []
        end = re.search(r";\n", before[made[-1].end():])
        argument = before[made[-1].end():][: end.start() if end else None]
    if argument.startswith(("error", "&error", "wrong")):
        return []
    literals = [plain(literal, "format!" in argument) for literal in re.findall(LITERAL, argument, re.S)]
    # A text that is nothing but a name and what is filled in says nothing.
    says = lambda text: len(re.findall("[a-z]", text)) > 8 and re.search("[a-z]", re.sub("`[^`]*`", "", text))
    return [text for text in literals if " " in text and says(text)]


def worded(text, before, cause):
    """The texts of a fault that a closure or a function makes from words it is given: those of each of its calls."""
    maker = re.search(r"(?:let (\w+)\s*=\s*\|([^|]*)\|\s*|fn (\w+)\(([^)]*)\) -> Fault \{\s*)$", before)
    if not maker:
        return []
    name, given = maker.group(1) or maker.group(3), maker.group(2) or maker.group(4) or ""
    given = [one.split(":")[0].strip() for one in given.split(",")]
    pattern = cause if cause in given else "".join(re.findall(LITERAL, cause)[:1])
    last = given[-1]
    if cause != last and f"{{{last}}}" not in pattern:
        return []
    around = "{}" if cause == last else plain(pattern.replace(f"{{{last}}}", "\2"), True).replace("\2", "{}")
    found = []
    for call in re.finditer(rf"(?<!fn )\b{name}\(", text):
        parts, _ = arguments(text, call.end() - 1)
        found += [around.replace("{}", words) for words in texts(parts[len(given) - 1], text[: call.start()])] if len(parts) >= len(given) else []
    return found


def hints(text, at):
    """The hints that are chained to a call."""
    found = []
    while chained := re.match(r"\s*\.(\w+)\(", text[at:]):
        parts, after = arguments(text, at + chained.end() - 1)
        if chained.group(1) == "hint":
            found += texts(parts[0], text[:at])
        at = after
    return found


def faults(text):
    """Every fault that a file makes: reason, parameter, text."""
    text = text.split("#[cfg(test)]\nmod tests {")[0]
    for made in re.finditer(r"Fault::(new|invalid|missing)\(", text):
        parts, after = arguments(text, made.end() - 1)
        if len(parts) < 2:
            continue
        if made.group(1) == "new":
            reason = re.fullmatch(r"(?:engine::)?Reason::(\w+)", parts[0])
            if not reason:
                continue
            reason, parameter = reason.group(1), "…"
        else:
            reason = "InvalidParameter" if made.group(1) == "invalid" else "MissingParameter"
            literal = re.fullmatch(LITERAL, parts[0])
            parameter = literal.group(1) if literal else "…"
        before = text[: made.start()]
        for cause in worded(text, before, parts[1]) or texts(parts[1], before):
            if made.group(1) == "missing":
                cause = f"`{parameter}` is required: {cause}"
            if cause != EVERY_MISSING:
                yield reason, "; ".join([cause, *hints(text, after)])


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def listed():
    """The list as Markdown."""
    by_reason = {}
    for source in SOURCES:
        path = ROOT / "crates" / source
        for file in [path] if path.is_file() else sorted(path.rglob("*.rs")):
            if {"contract", "tests.rs", "fake.rs"} & set(file.parts):
                continue
            for reason, cause in faults(file.read_text()):
                by_reason.setdefault(reason, set()).add(cause)
    lines = []
    for reason in sorted(by_reason):
        lines += [f"### {snake(reason)}", ""]
        lines += [f"- {cause}" for cause in sorted(by_reason[reason], key=str.lower)] + [""]
    return "\n".join(lines)


def check():
    """Ends with what differs, if anything does."""
    kept = DOCUMENT.read_text().split(START)[1].split(END)[0].strip().splitlines()
    now = listed().strip().splitlines()
    missing = [line for line in now if line not in kept]
    stale = [line for line in kept if line not in now]
    if missing or stale:
        difference = "\n".join([f"  not in docs/errors.md: {line}" for line in missing] + [f"  no longer in the code: {line}" for line in stale])
        raise SystemExit(f"docs/errors.md differs from the code; run python3 tests/docs/errors.py --write\n{difference}")


def main():
    if "--write" in sys.argv:
        before, rest = DOCUMENT.read_text().split(START)
        DOCUMENT.write_text(f"{before}{START}\n\n{listed().strip()}\n\n{END}{rest.split(END)[1]}")
    else:
        check()
        print("docs/errors.md lists every error text of the code")


if __name__ == "__main__":
    main()
