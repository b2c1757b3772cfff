"""The same passages in many languages: LibreOffice's help pages, as Debian packages them.

Usage: python training/parallel.py HELP WORK        WORK/parallel.json.xz
HELP is usr/share/libreoffice/help of the unpacked packages libreoffice-help-* (MPL-2.0). Paragraphs have the same id in every language;
neighbours in one page are put together until there is enough to be a passage. A page that was not translated is left out.
"""
import html
import json
import lzma
import pathlib
import random
import re
import sys

from common import log

PIVOT = "en-US"
ENOUGH, MOST = 220, 900  # characters of the English passage
LANGUAGES = 5  # kept of each passage, beside English
PARAGRAPH = re.compile(r'<(p|h[1-6])[^>]* id="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)


def paragraphs(path):
    found = {}
    for _, name, inner in PARAGRAPH.findall(path.read_text("utf-8", "replace")):
        said = " ".join(html.unescape(re.sub(r"<[^>]+>", "", inner)).split())
        if said:
            found[name] = said
    return found


def passages(page):
    """Ids of neighbouring paragraphs that make a passage."""
    ids, size = [], 0
    for name, said in page.items():
        if len(said) > MOST:
            continue
        ids.append(name)
        size += len(said)
        if size >= ENOUGH:
            yield ids
            ids, size = [], 0


def main():
    root, work = pathlib.Path(sys.argv[1]), sys.argv[2]
    languages = sorted(folder.name for folder in root.iterdir() if (folder / "text").is_dir() and folder.name != PIVOT)
    rng, groups = random.Random(1), []
    for path in sorted((root / PIVOT / "text").rglob("*.html")):
        inner = path.relative_to(root / PIVOT)
        english = paragraphs(path)
        pages = {language: paragraphs(root / language / inner) for language in languages if (root / language / inner).exists()}
        for ids in passages(english):
            own = " ".join(english[name] for name in ids)
            said = {language: " ".join(page[name] for name in ids) for language, page in pages.items() if all(name in page for name in ids)}
            whole = {language: text for language, text in said.items() if sum(page == english.get(name) for name, page in pages[language].items() if name in ids) == 0}
            chosen = rng.sample(sorted(whole), min(LANGUAGES, len(whole)))
            if chosen:
                groups.append({PIVOT: own, **{language: whole[language] for language in chosen}})
    with lzma.open(f"{work}/parallel.json.xz", "wt", encoding="utf-8", preset=2) as file:
        json.dump(groups, file, ensure_ascii=False)
    log("passages", len(groups), "texts", sum(map(len, groups)))


if __name__ == "__main__":
    main()
