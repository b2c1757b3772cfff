"""How much later the first word of an answer is on the screen than a program has it.

    python3 bench/dashboard/first_word.py [--times 40]

Asks each question in turn as a program would, over the API, and in a browser, where a frame that shows the first word counts. What the
browser's median and p95 are behind the program's is the page's own doing. Limit: 100 ms. Needs node, npm and a Chromium
(CHROMIUM, by default the one on the PATH)."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tests" / "dashboard")]
# The tests would take the debug build.
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "release" / "quire"))
from pages import furnish, start
from run import FOLDER, install
from service import Server

LATEST_MS = 100


def p95(times):
    return sorted(times)[int(len(times) * 0.95)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=40)
    arguments = parser.parse_args()
    install()
    shutil.copy(HERE / "first_word.mjs", FOLDER)
    server = start(Server())
    try:
        browser, box, _ = furnish(server)
        key = server.command("key", "add", "--user", "ada@example.org")["key"]
        environment = dict(
            os.environ, CHROMIUM=os.environ.get("CHROMIUM") or shutil.which("chromium"), QUIRE_ADDRESS=f"https://127.0.0.1:{server.port}",
            QUIRE_KEY=key, QUIRE_BOX=box, QUIRE_COOKIES=json.dumps(browser.cookies), QUIRE_TIMES=str(arguments.times))
        ran = subprocess.run(["node", "first_word.mjs"], cwd=FOLDER, env=environment, stdout=subprocess.PIPE, check=True)
        program, page = (json.loads(ran.stdout)[name] for name in ("program", "page"))
    finally:
        server.stop()
    for name, times in (("a program", program), ("the page", page)):
        print(f"first word, {name}: {len(times)} answers, p50 {statistics.median(times):.1f} ms, p95 {p95(times):.1f} ms")
    behind = [statistics.median(page) - statistics.median(program), p95(page) - p95(program)]
    print(f"the page is {behind[0]:.1f} ms behind at p50, {behind[1]:.1f} ms at p95 (limit {LATEST_MS})")
    sys.exit(max(behind) > LATEST_MS)


if __name__ == "__main__":
    main()
