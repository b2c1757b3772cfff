#!/usr/bin/env python3
"""Checks README.md and the pages of docs/: links and anchors, the list of pages, foreign resources, samples that parse.

    python3 tests/docs/lint.py

Needs nothing but Python; shell and TypeScript samples are parsed too where bash and node are installed."""

import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES_LIST = ROOT / "crates/server/src/docs/pages.rs"
FENCE = re.compile(r"^(\s*)```([^\n]*)\n(.*?)^\1```[ \t]*$", re.S | re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)\)")
# Package registries and their mirrors have no place in documentation that works without a network.
REGISTRIES = re.compile(r"\b(pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|crates\.io|static\.crates\.io|docker\.io|ghcr\.io|quay\.io)\b")
findings = []


def found(path, what):
    findings.append(f"{path.relative_to(ROOT)}: {what}")


def anchors(text):
    """The anchors of a page's headings, as Git hosts make them."""
    seen, names = {}, set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", FENCE.sub("", text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def check_links(path, text):
    count = 0
    for picture, label, target in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))):
        if re.match(r"https?://", target):
            if picture:
                found(path, f"the picture {target} is loaded from elsewhere")
            continue
        count += 1
        if picture and not label:
            found(path, f"the picture {target} has no text in its place")
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            found(path, f"{target} leads nowhere")
        elif ROOT not in there.parents:
            found(path, f"{target} leads out of the repository")
        elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
            found(path, f"{target}: there is no such heading")
    return count


def parses(language, text):
    """What is wrong with a sample, if anything."""
    try:
        if language == "python":
            ast.parse(text)
        elif language == "json":
            json.loads(text)
        elif language == "jsonl":
            [json.loads(line) for line in text.splitlines()]
        elif language == "toml":
            tomllib.loads(text)
        elif language == "sh" and shutil.which("bash"):
            ran = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
            return ran.stderr.strip() or None
        elif language == "ts" and shutil.which("node"):
            ran = subprocess.run(["node", "--input-type=module", "--check"], input=text, capture_output=True, text=True)
            return ran.stderr.strip().splitlines()[-1] if ran.returncode else None
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


def check_samples(path, text):
    count = 0
    for _, info, sample in FENCE.findall(text):
        language = info.split()[0] if info.split() else ""
        if language in ("sh", "python", "ts", "json", "jsonl", "toml"):
            count += 1
            if wrong := parses(language, sample):
                found(path, f"a sample in {language} does not parse: {wrong}")
        elif language not in ("console", "shell", "", "text"):
            found(path, f"a sample is in an unknown language, {language}")
    return count


def check_list(pages):
    """Every page is in the site's list and in docs/README.md, in the same order."""
    listed = re.findall(r'written\("([\w-]+\.md)"', PAGES_LIST.read_text())
    names = sorted(page.name for page in pages if page.name != "README.md")
    for name in sorted(set(names) - set(listed)):
        found(DOCS / name, f"is not in {PAGES_LIST.relative_to(ROOT)}")
    for name in sorted(set(listed) - set(names)):
        found(PAGES_LIST, f"lists {name}, which does not exist")
    linked = [target for _, _, target in LINK.findall((DOCS / "README.md").read_text()) if target.endswith(".md")]
    if linked != listed:
        found(DOCS / "README.md", f"lists {linked}, the site {listed}")


def main():
    pages = sorted(DOCS.glob("*.md"))
    links = samples = 0
    for path in [ROOT / "README.md", *pages]:
        text = path.read_text()
        links += check_links(path, text)
        samples += check_samples(path, text)
        if path.name != "README.md" and len(re.findall(r"^# ", FENCE.sub("", text), re.M)) != 1:
            found(path, "must have exactly one heading of the first level")
        for name in REGISTRIES.findall(text):
            found(path, f"names the registry {name}")
    check_list(pages)
    print("\n".join(findings), end="\n" if findings else "")
    print(f"{len(pages) + 1} pages, {links} links, {samples} samples: {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
