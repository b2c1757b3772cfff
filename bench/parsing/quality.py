#!/usr/bin/env python3
"""Word F1 of every kind of file, and reading order and table cells of PDFs, against expected Markdown.

    cargo build --release -p parsers --example parse
    bench/parsing/quality.py [--data ../shared/data/parsing] [--worst 5] [--no-ocr]

Both sides are stripped of markup (comments, link targets, table pipes and rules, emphasis, heading and list marks,
escapes, HTML entities), lower-cased, and split into words: runs of letters and digits; each CJK character is a word.
F1 compares the bags of words. Order is the longest common subsequence of words over the number of expected words.
A kind's figure is the mean over its files. Cells are those of pipe tables that are not empty, each as its words: F1 of the
bag of cells of all PDFs together, and of the bag of pairs of cells that stand beside or below each other.
"""
import argparse, collections, html, json, pathlib, re, subprocess, sys, unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def words(text):
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)", r"\1", text)
    text = re.sub(r"^\s*\|?[\s:|-]+\|[\s:|-]*$", " ", text, flags=re.M)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    text = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", " ", text, flags=re.M)
    text = html.unescape(re.sub(r"\\([\\`*_{}\[\]()#+.!|-])", r"\1", text))
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(c for c in text if unicodedata.category(c) != "Mn" or "\u0300" > c)
    return WORD.findall(text)


def f1(got, expected):
    common = sum((collections.Counter(got) & collections.Counter(expected)).values())
    if not got and not expected:
        return 1.0
    return 2 * common / (len(got) + len(expected))


def tables(text):
    """The pipe tables of a text, each as rows of cells; a cell is its words."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        line = line.strip()
        if line.startswith("|") and line.count("|") >= 2:
            if re.fullmatch(r"[\s:|-]+", line) and "-" in line:
                continue
            inner = line[1:-1] if line.endswith("|") and not line.endswith("\\|") else line[1:]
            rows.append([" ".join(words(cell)) for cell in re.split(r"(?<!\\)\|", inner)])
        elif rows:
            found.append(rows)
            rows = []
    return found


def cells(text):
    """The cells of all tables, and the pairs of those that stand beside or below each other."""
    single, pairs = collections.Counter(), collections.Counter()
    for rows in tables(text):
        for at, row in enumerate(rows):
            filled = [cell for cell in row if cell]
            single.update(filled)
            pairs.update(("beside", *pair) for pair in zip(filled, filled[1:]))
            below = rows[at + 1] if at + 1 < len(rows) else []
            pairs.update(("below", a, b) for a, b in zip(row, below) if a and b)
    return single, pairs


def bags_f1(pairs):
    common = sum(sum((got & want).values()) for got, want in pairs)
    return 2 * common / max(1, sum(sum(got.values()) + sum(want.values()) for got, want in pairs))


def lcs(a, b):
    """Length of the longest common subsequence, with bit-parallel rows."""
    places = collections.defaultdict(int)
    for i, word in enumerate(a):
        places[word] |= 1 << i
    row, full = 0, (1 << len(a)) - 1
    for word in b:
        x = row | places.get(word, 0)
        row = x & ~(x - ((row << 1) | 1)) & full
    return bin(row).count("1")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=str(ROOT.parent / "shared/data/parsing"))
    options.add_argument("--worst", type=int, default=4)
    options.add_argument("--no-ocr", action="store_true")
    options.add_argument("--binary", default=str(ROOT / "target/release/examples/parse"))
    options = options.parse_args()
    data = pathlib.Path(options.data)
    if not data.is_dir():
        sys.exit(f"skipped: no data at {data}")
    expected = sorted(data.rglob("*.expected.md"))
    files = [p.with_name(p.name[: -len(".expected.md")]) for p in expected]
    everything = [p for p in sorted(data.rglob("*")) if p.is_file() and not p.name.endswith(".expected.md")]
    command = [options.binary] + (["--no-ocr"] if options.no_ocr else []) + [str(p) for p in everything]
    run = subprocess.run(command, capture_output=True, text=True)
    results = {}
    for line in run.stdout.splitlines():
        result = json.loads(line)
        results[result["file"]] = result
    if run.returncode:
        print(f"the parser stopped with code {run.returncode} after {len(results)} of {len(everything)} files")
        print(run.stderr[-2000:])
    kinds = collections.defaultdict(list)
    in_tables = []
    for path, truth in zip(files, expected):
        result = results.get(str(path))
        document = result and result["document"]
        got = words("\n".join(page["text"] for page in document["pages"])) if document else []
        want = words(truth.read_text())
        kind = path.suffix.lstrip(".")
        if kind == "pdf":
            text = "\n\n".join(page["text"] for page in document["pages"]) if document else ""
            in_tables.append((path.name, cells(text), cells(truth.read_text())))
        order = lcs(want, got) / max(1, len(want)) if kind == "pdf" else None
        kinds[kind].append((f1(got, want), order, path.name, len(got), len(want)))
    print(f"{'kind':8} {'files':>5} {'F1':>7} {'order':>7}")
    for kind, rows in sorted(kinds.items()):
        mean = sum(row[0] for row in rows) / len(rows)
        order = f"{sum(row[1] for row in rows) / len(rows):7.4f}" if rows[0][1] is not None else "      -"
        print(f"{kind:8} {len(rows):5} {mean:7.4f} {order}")
        for score, order, name, got, want in sorted(rows)[: options.worst]:
            if score < 0.995:
                extra = f" order {order:.3f}" if order is not None else ""
                print(f"         {score:.3f}{extra} {name} ({got} words, {want} expected)")
    for nth, what in enumerate(("cells", "pairs of cells")):
        print(f"PDF tables, {what}: F1 {bags_f1([(got[nth], want[nth]) for _, got, want in in_tables]):.4f}")
    for name, got, want in in_tables:
        if (got[0] or want[0]) and options.worst:
            print(f"         {bags_f1([(got[0], want[0])]):.3f} {name} ({sum(got[0].values())} cells, {sum(want[0].values())} expected)")
    silent = [
        name for name, result in results.items()
        if result["document"] and any(not p["text"] and not p["warnings"] for p in result["document"]["pages"])
    ]
    failed = [(name, r["failure"]) for name, r in results.items() if r["failure"]]
    print(f"{len(results)} of {len(everything)} files answered, {len(silent)} silently empty, {len(failed)} failed:")
    for name, failure in failed:
        print(f"  {pathlib.Path(name).name}: {failure['kind']}: {failure['message']}")


main()
