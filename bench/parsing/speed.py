#!/usr/bin/env python3
"""PDF pages per CPU-second, beside pdftotext in the same run.

    apt-get install poppler-utils        # for pdftotext; without it only our figure is printed
    cargo build --release -p parsers --example parse
    bench/parsing/speed.py [--data ../shared/data] [--rounds 3]

All PDFs that have text are read; user and system time of the process count, the best of some rounds is taken for each
file and each program. Text recognition is off, because pdftotext has none.
"""
import argparse, json, os, pathlib, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=str(ROOT.parent / "shared/data"))
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    data = pathlib.Path(options.data)
    files = [str(p) for p in sorted(data.rglob("*.pdf")) if "hostile" not in p.parts]
    if not files:
        sys.exit(f"skipped: no PDFs below {data}")
    binary = str(ROOT / "target/release/examples/parse")
    best, pages = {}, {}
    for _ in range(options.rounds):
        run = subprocess.run([binary, "--no-ocr", *files], capture_output=True, text=True)
        for line in run.stdout.splitlines():
            result = json.loads(line)
            document = result["document"]
            if document and any(page["text"] for page in document["pages"]):
                name = result["file"]
                pages[name] = len(document["pages"])
                best[name] = min(best.get(name, 1e9), result["cpu_seconds"])
    total = sum(pages.values())
    print(f"{len(pages)} PDFs, {total} pages")
    print(f"quire      {total / sum(best.values()):7.0f} pages per CPU-second")
    if not shutil.which("pdftotext"):
        print("pdftotext  not installed (apt-get install poppler-utils)")
        return
    other = {}
    for _ in range(options.rounds):
        for name in pages:
            before = children_seconds()
            subprocess.run(["pdftotext", "-q", name, "/dev/null"], stderr=subprocess.DEVNULL)
            other[name] = min(other.get(name, 1e9), children_seconds() - before)
    print(f"pdftotext  {total / max(1e-9, sum(other.values())):7.0f} pages per CPU-second")


main()
