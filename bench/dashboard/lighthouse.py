"""What Lighthouse says of the documentation and of the dashboard's main pages.

    QUIRE_BINARY=target/debug/quire python3 bench/dashboard/lighthouse.py

Needs node, npm and a Chromium (CHROME_PATH, by default the one on the PATH). Every page is loaded as a slow phone would, the
pages of the dashboard by somebody who is signed in. The limit is 95 for each score; the exit code says whether it holds."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from pages import furnish, start
from service import Server
from tools import program

LEAST = 95
# Whatever else keeps the machine busy only lowers a score or breaks the browser's trace, so such a page is loaded again.
TRIES = 3
SCORES = ["performance", "accessibility", "best-practices", "seo"]


def judged(url, cookie, folder):
    """The four scores of a page, and what kept each from being full."""
    report = folder / "report.json"
    line = [program("lighthouse"), url, "--quiet", "--output=json", f"--output-path={report}", f"--only-categories={','.join(SCORES)}",
            "--chrome-flags=--headless=new --no-sandbox --ignore-certificate-errors"]
    if cookie:
        line.append("--extra-headers=" + json.dumps({"Cookie": cookie}))
    chrome = os.environ.get("CHROME_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    subprocess.run(line, env=os.environ | {"CHROME_PATH": chrome}, check=True, stdout=subprocess.DEVNULL, timeout=300)
    found = json.loads(report.read_text())
    assert found["finalDisplayedUrl"] == url, f"{url} led to {found['finalDisplayedUrl']}"
    scores, lost = {}, []
    for name in SCORES:
        scores[name] = round(found["categories"][name]["score"] * 100)
        for reference in found["categories"][name]["auditRefs"]:
            audit = found["audits"][reference["id"]]
            if scores[name] < LEAST and reference["weight"] and audit["score"] is not None and audit["score"] < 0.9:
                lost.append(f"{name}: {audit['title']} {audit.get('displayValue', '')}".strip())
    return scores, lost


def main():
    server = start(Server())
    try:
        browser, box, file = furnish(server)
        open_pages = ["/docs", "/docs/quickstart", "/docs/errors", "/docs/api", "/sign-in"]
        own_pages = ["/", f"/boxes/{box}", f"/boxes/{box}/files/{file}", f"/boxes/{box}/search", f"/boxes/{box}/chat", "/account/keys"]
        wrong = 0
        print(f"{'page':32}" + "".join(f"{name:>16}" for name in SCORES))
        with tempfile.TemporaryDirectory() as folder:
            for page in open_pages + own_pages:
                cookie = browser.cookie if page in own_pages else None
                for left in reversed(range(TRIES)):
                    try:
                        scores, lost = judged(f"https://127.0.0.1:{server.port}{page}", cookie, pathlib.Path(folder))
                    except subprocess.CalledProcessError:
                        if not left:
                            raise
                        continue
                    if min(scores.values()) >= LEAST:
                        break
                wrong += min(scores.values()) < LEAST
                shown = page.replace(box, "BOX").replace(file, "FILE")
                print(f"{shown:32}" + "".join(f"{scores[name]:16}" for name in SCORES), *[f"\n    {what}" for what in lost], flush=True)
        sys.exit(1 if wrong else 0)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
