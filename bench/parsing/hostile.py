#!/usr/bin/env python3
"""Each hostile file through a child with limits: how it ends, how long it takes, what it needs.

    cargo build --release -p parsers --example parse
    bench/parsing/hostile.py [--data ../shared/data/hostile]

Passes when each file ends within 30 s and 1.2 GB (peak resident memory of the child and all it started).
"""
import argparse, json, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS, MEGABYTES = 30.0, 1200


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=str(ROOT.parent / "shared/data/hostile"))
    options = options.parse_args()
    files = [p for p in sorted(pathlib.Path(options.data).glob("*")) if p.is_file()]
    if not files:
        sys.exit(f"skipped: no files in {options.data}")
    bad = 0
    for path in files:
        run = subprocess.run([str(ROOT / "target/release/examples/parse"), "--child", str(path)], capture_output=True, text=True)
        result = json.loads(run.stdout)
        seconds, megabytes = result["wall_seconds"], result["peak_kilobytes"] / 1024
        good = seconds <= SECONDS and megabytes <= MEGABYTES
        bad += not good
        if result["failure"]:
            end = f"{result['failure']['kind']}: {result['failure']['message']}"
        else:
            pages = result["document"]["pages"]
            end = f"read, {len(pages)} pages, {sum(len(p['warnings']) for p in pages) + len(result['document']['warnings'])} warnings"
        print(f"{'ok ' if good else 'BAD'} {seconds:6.2f} s {megabytes:6.0f} MB  {path.name}: {end}")
    sys.exit(bool(bad))


main()
