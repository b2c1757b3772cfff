"""How fast the dashboard's pages are with 10,000 files and 1,000 conversations in the box, and how much the first page weighs.

    python3 bench/dashboard/pages.py [--files 10000] [--conversations 1000] [--times 200]

Asks for every page over one kept connection, as a browser does, and reports the time until its whole HTML is there. All but
one of the files, and the conversations, are written straight into the catalog: reading them in would measure something else. Limits: 50 ms at p95 a
page, 150 KB for the first page with all it needs; the exit code says whether they hold."""

import argparse
import hashlib
import html
import json
import pathlib
import re
import sqlite3
import statistics
import sys
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server

SLOWEST_MS = 50
HEAVIEST = 150 * 1000


class Browser:
    def __init__(self, server):
        self.connection, self.cookies, self.csrf = server.connect(), {}, None

    @property
    def cookie(self):
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def ask(self, method, path, body=None):
        headers = {"Cookie": self.cookie} if self.cookies else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urllib.parse.urlencode({"csrf": self.csrf, **body}, doseq=True)
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        text = answer.read()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        found = re.search(rb'name="csrf" content="([^"]+)"', text)
        self.csrf = found.group(1).decode() if found else self.csrf
        size = len(text) + sum(len(name) + len(value) + 4 for name, value in answer.getheaders())
        return answer.status, answer.headers, text, size


def fill(server, box, count):
    """Files that were read long ago, as far as the catalog knows."""
    catalog = sqlite3.connect(server.data / "catalog.db")
    now = int(time.time() * 1000)
    rows = []
    for number in range(count):
        name = f"report-{number:05}.pdf"
        sha256 = hashlib.sha256(name.encode()).hexdigest()
        original = server.data / "blobs" / "originals" / sha256[:2] / sha256
        original.parent.mkdir(exist_ok=True)
        original.write_text(name)
        status = "failed" if number % 50 == 0 else "ready_with_warnings" if number % 20 == 0 else "ready"
        rows.append(("fil_" + uuid.uuid4().hex, box, name, sha256, 20_000 + number, status,
                     "locked with a password" if status == "failed" else None, 5 + number % 40, now - number * 1000))
    catalog.executemany(
        "insert into files (id, box_id, name, sha256, size, media_type, status, error, progress_done, warnings, metadata, pages,"
        " characters, chunks, created_at, updated_at, indexed_at) values (?, ?, ?, ?, ?, 'application/pdf', ?, ?, 0, '[]', '{}',"
        " ?, 9000, 30, ?9, ?9, ?9)", rows)
    catalog.executemany("insert into file_tags (file_id, tag) values (?, ?)", [(row[0], f"label-{at % 30}") for at, row in enumerate(rows)])
    catalog.commit()
    catalog.close()


def converse(server, box, file, count, turns=20):
    """Conversations of the only person with this box; gives the id of one."""
    catalog = sqlite3.connect(server.data / "catalog.db")
    now = int(time.time() * 1000)
    (user,) = catalog.execute("select id from users").fetchone()
    cited = json.dumps([{"index": 1, "fileId": file, "fileName": "warranty.md", "page": 1, "quote": "The warranty lasts two years"}])
    answer = "The warranty lasts two years from the day of purchase [1]. " * 6
    ids = ["cnv_" + uuid.uuid4().hex for _ in range(count)]
    catalog.executemany("insert into conversations (id, user_id, box_id, title, turns, changed_at) values (?, ?, ?, ?, ?, ?)",
                        [(each, user, box, f"How long is warranty {at}?", turns, now - at * 60_000) for at, each in enumerate(ids)])
    catalog.executemany("insert into conversation_turns (conversation_id, number, question, answer, citations, at) values (?, ?, ?, ?, ?, ?)",
                        [(each, number, f"And of part {number}?", answer, cited, now) for each in ids for number in range(1, turns + 1)])
    catalog.executemany("insert into conversation_files (conversation_id, number, file_id) values (?, ?, ?)",
                        [(each, number, file) for each in ids for number in range(1, turns + 1)])
    catalog.commit()
    catalog.close()
    return ids[count // 2]


def sign_up(server):
    browser = Browser(server)
    link = urllib.parse.urlparse(server.link)
    status, *_ = browser.ask("GET", f"{link.path}?{link.query}")
    assert status == 200, status
    token = urllib.parse.parse_qs(link.query)["token"][0]
    fields = {"token": token, "email": "ada@example.org", "name": "Ada", "password": "correct horse battery"}
    status, *_ = browser.ask("POST", "/welcome", fields)
    assert status == 303, status
    browser.ask("GET", "/")
    return browser


def start(server):
    server.start()
    server.link = server.process.stdout.readline().decode().split(": ", 1)[1].strip()
    return server


def furnish(server):
    """An operator who is signed in, with a box, a key and one file that is ready."""
    browser = sign_up(server)
    _, headers, *_ = browser.ask("POST", "/boxes", {"name": "Reports"})
    server.box = headers["Location"].rsplit("/", 1)[1]
    browser.ask("GET", "/account/keys")
    status, *_ = browser.ask("POST", "/account/keys", {"name": "bench", "scope": "all", "permission": ["read", "write"]})
    assert status == 303, status
    _, _, text, _ = browser.ask("GET", "/account/keys")
    server.key = html.unescape(re.search(r'id="fresh-key">([^<]+)', text.decode()).group(1))
    document = server.data / "warranty.md"
    document.write_text("# Warranty\n\n" + "The warranty lasts two years from the day of purchase. " * 40)
    status, uploaded = server.upload(document)
    assert status == 201, uploaded
    server.wait_until_read()
    return browser, server.box, uploaded["data"]["fileId"]


def weigh(browser):
    """The first page, with everything it asks for."""
    browser.cookies, kept = {}, browser.cookies
    _, _, text, total = browser.ask("GET", "/sign-in")
    for path in sorted(set(re.findall(r'(?:href|src)="(/assets/[^"]+)"', text.decode()))):
        total += browser.ask("GET", path)[3]
    browser.cookies = kept
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=200)
    arguments = parser.parse_args()
    server = start(Server())
    try:
        browser, box, file = furnish(server)
        fill(server, box, arguments.files - 1)
        conversation = converse(server, box, file, arguments.conversations)
        # Filling can take longer than the server keeps an idle connection.
        browser.connection = server.connect()
        pages = ["/sign-in", "/", f"/boxes/{box}", f"/boxes/{box}?sort=name", f"/boxes/{box}?q=report-0999", f"/boxes/{box}?status=failed",
                 f"/boxes/{box}?tag=label-3", f"/boxes/{box}/files/{file}", f"/boxes/{box}/files/{file}/report", f"/boxes/{box}/search",
                 f"/boxes/{box}/chat", f"/boxes/{box}/chat/{conversation}", f"/boxes/{box}/questions", f"/boxes/{box}/members", f"/boxes/{box}/settings", f"/boxes/{box}/audit", "/account/keys",
                 "/account/usage", "/account/profile", "/operator/users", "/account/notices", "/operator/plans", "/operator/model", "/operator/health", "/operator/system", "/operator/audit"]
        wrong = 0
        print(f"{arguments.files} files, {arguments.conversations} conversations, each page {arguments.times} times")
        print(f"{'page':44} {'p50 ms':>8} {'p95 ms':>8} {'KB':>7}")
        for page in pages:
            times = []
            for _ in range(arguments.times):
                begun = time.perf_counter()
                status, _, _, size = browser.ask("GET", page)
                times.append((time.perf_counter() - begun) * 1000)
                assert status == 200 or (page == "/sign-in" and status == 303), (page, status)
            p95 = statistics.quantiles(times, n=20)[-1]
            wrong += p95 > SLOWEST_MS
            shown = page.replace(box, "BOX").replace(file, "FILE").replace(conversation, "CONVERSATION")
            print(f"{shown:44} {statistics.median(times):8.1f} {p95:8.1f} {size / 1000:7.1f}{'   too slow' if p95 > SLOWEST_MS else ''}")
        weight = weigh(browser)
        wrong += weight > HEAVIEST
        print(f"first page with all it needs: {weight / 1000:.1f} KB")
        print(json.dumps({"ok": wrong == 0}))
        sys.exit(1 if wrong else 0)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
