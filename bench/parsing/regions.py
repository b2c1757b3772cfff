#!/usr/bin/env python3
"""Whether the words inside a passage's regions are the passage's, as pdftotext sees the page.

    apt-get install poppler-utils
    cargo build --release -p parsers --example regions
    bench/parsing/regions.py [--data ../shared/data/parsing] [--sample 300] [--worst 5]

Of all passages and quoted sentences of all PDFs some are drawn, with a fixed seed, evenly over the files. A word of
`pdftotext -bbox` is inside a region if its middle is. Words are runs of letters and digits, in lower case; those divided at
the end of a line are joined. Precision: how many of the words inside are the passage's; recall: how many of the passage's
are inside. Where the two programs cut words differently, "letters" tells more: those of equal words, and of the other words
those that follow each other on both sides.
"""
import argparse, collections, difflib, json, pathlib, random, re, shutil, subprocess, sys, unicodedata, xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def normal(text):
    text = unicodedata.normalize("NFKC", text).lower()
    return "".join(c for c in text if unicodedata.category(c) not in ("Mn", "Cf"))


def cut(text):
    """Words. pdftotext gives some that are read from right to left as they are seen: of those only the letters count."""
    leftwards = lambda word: any(unicodedata.bidirectional(c) in ("R", "AL") for c in word)
    return ["".join(sorted(word)) if leftwards(word) else word for word in WORD.findall(text)]


def quoted(text):
    """The words of a passage, without what Markdown adds."""
    text = re.sub(r"^\s*\|(?: - \|)+\s*$", " ", text, flags=re.M)
    text = re.sub(r"^(\s*)(?:#{1,6}|-|\d+\.) ", r"\1", text, flags=re.M)
    return cut(normal(text))


def turns(file):
    """By how many degrees each page is turned."""
    run = subprocess.run(["pdfinfo", "-l", "9999", file], capture_output=True, text=True, errors="replace")
    return {int(page): int(rot) for page, rot in re.findall(r"^Page\s+(\d+) rot:\s+(\d+)", run.stdout, flags=re.M)}


def pages(file):
    """The words of each page with their boxes, as shares of the page's size."""
    run = subprocess.run(["pdftotext", "-q", "-cropbox", "-bbox", file, "-"], capture_output=True)
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", run.stdout.decode(errors="replace"))
    turned = turns(file)
    found = []
    for number, page in enumerate(tree.fromstring(text).iter("{http://www.w3.org/1999/xhtml}page"), 1):
        width, height = float(page.get("width")), float(page.get("height"))
        if turned.get(number, 0) % 180:
            # It tells the size before the page is turned, and places after.
            width, height = height, width
        edges = lambda word: [float(word.get(k)) / s for k, s in
                              (("xMin", width), ("yMin", height), ("xMax", width), ("yMax", height))]
        found.append([(word.text or "", edges(word)) for word in page])
    return found


def inside(words, regions):
    """The words whose middle is in a region, divided ones joined; list markers that the passage lacks are not looked for."""
    kept, divided = [], ""
    for text, (left, top, right, bottom) in words:
        x, y = (left + right) / 2, (top + bottom) / 2
        if not any(r["x"] <= x <= r["x"] + r["w"] and r["y"] <= y <= r["y"] + r["h"] for r in regions):
            continue
        text = divided + normal(text)
        divided = ""
        if re.search(r"[^\W\d_][-\u2010\xad]$", text):
            divided = text[:-1]
        else:
            kept += cut(text)
    return kept + cut(divided)


def common(a, b):
    return sum((collections.Counter(a) & collections.Counter(b)).values())


def letters(got, want):
    """How many letters are of equal words, or follow each other in what is left of both."""
    got_left, want_left = collections.Counter(got) - collections.Counter(want), collections.Counter(want) - collections.Counter(got)
    equal = len("".join(got)) - sum(len(word) * times for word, times in got_left.items())
    rest = lambda words, left: "".join(word for word in words if left[word] > 0)
    matcher = difflib.SequenceMatcher(None, rest(got, got_left), rest(want, want_left), autojunk=False)
    return equal + sum(block.size for block in matcher.get_matching_blocks() if block.size > 1)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=str(ROOT.parent / "shared/data/parsing"))
    options.add_argument("--sample", type=int, default=300)
    options.add_argument("--worst", type=int, default=5)
    options.add_argument("--binary", default=str(ROOT / "target/release/examples/regions"))
    options = options.parse_args()
    data = pathlib.Path(options.data)
    if not data.is_dir():
        sys.exit(f"skipped: no data at {data}")
    if not shutil.which("pdftotext"):
        sys.exit("skipped: pdftotext is not installed (apt-get install poppler-utils)")
    files = [str(p) for p in sorted(data.rglob("*.pdf"))]
    run = subprocess.run([options.binary, *files], capture_output=True, text=True)
    by_file = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        found = json.loads(line)
        if len(quoted(found["text"])) >= 3:
            by_file[found["file"]].append(found)
    placeless = sum(found["kind"] == "none" for all in by_file.values() for found in all)
    chance = random.Random(20)
    queues = [chance.sample(all, len(all)) for _, all in sorted(by_file.items())]
    sample = []
    while len(sample) < options.sample and any(queues):
        sample += [queue.pop() for queue in queues if queue]
    sample = [found for found in sample[: options.sample] if found["kind"] != "none"]
    read, rows, sums = {}, [], collections.Counter()
    for found in sample:
        words = read.setdefault(found["file"], None) or pages(found["file"])
        read[found["file"]] = words
        got, want = inside(words[found["page"] - 1], found["regions"]), quoted(found["text"])
        sums.update(got=len(got), want=len(want), common=common(got, want), letters=letters(got, want),
                    got_letters=len("".join(got)), want_letters=len("".join(want)))
        rows.append((common(got, want) * 2 / max(1, len(got) + len(want)), found, got, want))
    if not rows:
        sys.exit("nothing was measured")
    size = sum(len(json.dumps(found["regions"])) for found in sample) / len(sample)
    print(f"{len(rows)} passages and quotes of {len(read)} files; {placeless} passages know no place")
    print(f"by words    precision {sums['common'] / sums['got']:.4f}  recall {sums['common'] / sums['want']:.4f}")
    print(f"by letters  precision {sums['letters'] / sums['got_letters']:.4f}  recall {sums['letters'] / sums['want_letters']:.4f}")
    print(f"{sum(len(found['regions']) for found in sample) / len(sample):.1f} regions each, {size:.0f} bytes of JSON")
    for score, found, got, want in sorted(rows, key=lambda row: row[0])[: options.worst]:
        print(f"  {score:.3f} {pathlib.Path(found['file']).name} p. {found['page']} {found['kind']}")
        print(f"        more: {list((collections.Counter(got) - collections.Counter(want)).elements())[:12]}")
        print(f"        less: {list((collections.Counter(want) - collections.Counter(got)).elements())[:12]}")


main()
