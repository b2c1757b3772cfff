"""Checks the HTML of every page with html-validate: its recommended rules and those for accessibility.

    QUIRE_BINARY=target/debug/quire python3 bench/dashboard/markup.py

Needs node and npm. The exit code says whether every page is clean."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from pages import furnish, start
from service import Server
from tools import program

RULES = {
    # The templates' loops leave blank lines behind, and compression takes them away.
    "no-trailing-whitespace": "off",
    # HTML does not mind the case of its doctype.
    "doctype-style": "off",
    # The ticked boxes of one question share a name, as radio buttons and the buttons of a form do.
    "form-dup-name": ["error", {"shared": ["radio", "checkbox", "submit"]}],
    # A list may have a name, which tells a screen reader's user which one it is.
    "aria-label-misuse": ["error", {"allowAnyNamable": True}],
}


def main():
    server = start(Server())
    try:
        browser, box, file = furnish(server)
        docs = re.findall(r'href="(/docs/[a-z-]+)"', browser.ask("GET", "/docs")[2].decode())
        pages = ["/docs", *sorted(set(docs)), "/", f"/boxes/{box}", f"/boxes/{box}/files/{file}", f"/boxes/{box}/files/{file}/report",
                 f"/boxes/{box}/search", f"/boxes/{box}/chat", f"/boxes/{box}/members", f"/boxes/{box}/settings", f"/boxes/{box}/audit",
                 "/search", f"/boxes/{box}/questions", "/account/integrations", "/account/playground", "/account/second-step", "/account/keys", "/account/webhooks", "/account/usage", "/account/profile", "/operator/users",
                 "/account/notices", "/operator/plans", "/operator/model", "/operator/health", "/operator/system", "/operator/audit", "/nothing-here"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for page in pages:
                status, _, text, _ = browser.ask("GET", page)
                assert status == (404 if page == "/nothing-here" else 200), (page, status)
                name = page.replace(box, "BOX").replace(file, "FILE").strip("/").replace("/", "_") or "start"
                (folder / f"{name}.html").write_bytes(text)
            browser.cookies = {}
            (folder / "sign-in.html").write_bytes(browser.ask("GET", "/sign-in")[2])
            rules = {"extends": ["html-validate:recommended", "html-validate:a11y"], "root": True, "rules": RULES}
            (folder / ".htmlvalidate.json").write_text(json.dumps(rules))
            checked = subprocess.run([program("html-validate"), "."], cwd=folder)
        print(f"{len(pages) + 1} pages: {'clean' if checked.returncode == 0 else 'not clean'}")
        sys.exit(checked.returncode)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
