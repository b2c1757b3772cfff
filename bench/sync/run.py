#!/usr/bin/env python3
"""How long `quire sync` takes for a folder that has not changed, and for a change under `--watch`.

    python3 bench/sync/run.py [FILES]     needs target/release/quire (or QUIRE_BINARY)"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server


def main():
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    server = Server(env={"QUIRE__INGEST__WORKERS": "1"}).set_up().start()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-sync-"))
    for number in range(files):
        place = folder / f"part-{number % 50}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.txt").write_text(f"Note number {number}.\n" + f"It says {number * 7919}. " * 40)
    environment = server.env | {"QUIRE_URL": f"https://127.0.0.1:{server.port}", "QUIRE_API_KEY": server.key}
    line = [server.binary, "sync", server.box, folder, "--json"]

    def sync():
        began = time.monotonic()
        report = json.loads(subprocess.run(line, env=environment, capture_output=True, check=True).stdout)
        counts = {name: value if isinstance(value, int) else len(value) for name, value in report.items()}
        return round(time.monotonic() - began, 2), counts

    try:
        print("first", *sync(), flush=True)
        for _ in range(3):
            print("again", *sync(), flush=True)
        watching = subprocess.Popen([*line, "--watch"], env=environment, stdout=subprocess.PIPE)
        watching.stdout.readline()
        new, moved = folder / "new.txt", folder / "moved.txt"
        for what, change in [("added", lambda: new.write_text("One.")), ("changed", lambda: new.write_text("Another.")),
                             ("renamed", lambda: new.rename(moved)), ("removed", moved.unlink)]:
            change()
            began = time.monotonic()
            report = json.loads(watching.stdout.readline())
            print(f"watched, {what}", round(time.monotonic() - began, 2), len(report[what]), flush=True)
        watching.kill()
    finally:
        server.kill()


main()
