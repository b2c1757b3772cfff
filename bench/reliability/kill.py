#!/usr/bin/env python3
"""Kills the server again and again in the middle of everything; afterwards nothing acknowledged may be lost, doubled or left behind.

    bench/reliability/kill.py [kills, default 1000] [seed, default 1] [check after every so many, default 100]

Each cycle starts the server, lets several clients upload, replace, delete and search at once, now and then deletes a whole
box or asks for one to be reindexed, and kills the server with SIGKILL after 0.3 to 1 second. Every so many kills, and at the end:

- every file whose last upload was acknowledged is there once, with the text of that upload or of a later one;
- nothing whose deletion was acknowledged is listed, and no text of a deleted file, a replaced version or a deleted box is
  anywhere in the data folder, by searching its raw bytes;
- there is one original for each version that is there, and no index of a box that is not;
- the ledger has charged every search exactly once (each is sent with an Idempotency-Key until it is answered).
"""

import collections
import http.client
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server

KILLS, SEED, EVERY = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 1000), (2, 1), (3, 100)))
CLIENTS = 3
BOXES = 6
MARKER = re.compile(rb"MARK[0-9a-f]{16}")
LOST = (OSError, http.client.HTTPException, json.JSONDecodeError, KeyError)
chance = random.Random(SEED)
counts = collections.Counter()
lock = threading.Lock()


def count(what):
    with lock:
        counts[what] += 1


def form(name, text, external):
    edge = "edge7d1f"
    head = (f'--{edge}\r\nContent-Disposition: form-data; name="externalId"\r\n\r\n{external}\r\n'
            f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n')
    return (head + text + f"\r\n--{edge}--\r\n").encode(), {"Content-Type": f"multipart/form-data; boundary={edge}"}


class Document:
    """What a client knows of one file: the versions it sent, which were acknowledged, and whether it was deleted."""

    def __init__(self, box, name):
        self.box, self.name = box, name
        self.versions = []      # markers in the order sent
        self.texts = {}         # what was sent with each
        self.acknowledged = -1  # the last one that was
        self.file = None        # its id
        self.deleting = False   # a deletion was sent
        self.deleted = False    # and acknowledged


class Client(threading.Thread):
    """One of those who use the service at the same time; each has documents of its own."""

    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.run_, self.number, self.chance = run, number, random.Random(SEED * 1000 + number)
        self.documents, self.made, self.connection = [], 0, None

    def ask(self, *arguments, key=None):
        if self.connection is None:
            self.connection = self.run_.server.connect()
        try:
            headers = {"Authorization": f"Bearer {key or self.run_.server.key}", **(arguments[3] if len(arguments) > 3 else {})}
            self.connection.request(arguments[0], f"/api/public/v1{arguments[1]}",
                                    body=arguments[2] if len(arguments) > 2 else None, headers=headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except LOST:
            self.connection = None
            raise

    def run(self):
        while not self.run_.over.is_set():
            self.run_.up.wait()
            try:
                self.step()
            except LOST:
                count("cut off by a kill")
                time.sleep(0.02)

    def step(self):
        alive = [d for d in self.documents if not d.deleting and d.box not in self.run_.deleting]
        draw = self.chance.random()
        if self.number == 0 and draw < 0.5:
            self.search()
        elif draw < 0.4 or not alive:
            self.made += 1
            box = self.chance.choice(self.run_.boxes)
            document = Document(box, f"c{self.number}-{self.made}")
            self.documents.append(document)
            self.upload(document)
        elif draw < 0.75:
            self.upload(self.chance.choice(alive))
        else:
            self.delete(self.chance.choice(alive))

    def upload(self, document):
        marker = f"MARK{self.chance.getrandbits(64):016x}"
        document.versions.append(marker)
        version = len(document.versions) - 1
        text = f"{marker} says what it is about. " + "The warranty lasts two years. " * self.chance.randrange(1, 30)
        document.texts[marker] = text
        body, headers = form(f"{document.name}.txt", text, document.name)
        status, answer = self.ask("POST", f"/boxes/{document.box}/files", body, headers)
        if status in (200, 201):
            document.acknowledged, document.file = version, answer["data"]["fileId"]
            count("upload" if version == 0 else "replace")
        elif document.box not in self.run_.deleting:
            count(f"unexpected {status} to an upload")

    def delete(self, document):
        if document.file is None:
            return
        document.deleting = True
        status, _ = self.ask("DELETE", f"/files/{document.file}")
        if status in (200, 404):
            document.deleted = True
            count("delete")
        elif document.box not in self.run_.deleting:
            count(f"unexpected {status} to a deletion")

    def search(self):
        """The same request until it is answered: then it was charged once."""
        run = self.run_
        if run.pending is None:
            run.pending = f"search-{len(run.charged)}"
        body = json.dumps({"query": f"warranty {len(run.charged) % 7}"})
        headers = {"Content-Type": "application/json", "Idempotency-Key": run.pending}
        status, answer = self.ask("POST", f"/boxes/{run.ledger_box}/retrieve-documents", body, headers, key=run.ledger_key)
        if status == 200:
            run.charged.append(answer["data"]["usage"]["intelligence_units_consumed"])
            run.pending = None
            count("charge")
        else:
            count(f"search answered {status}")
            time.sleep(0.05)


class Run:
    def __init__(self):
        self.server = Server().set_up()
        self.up, self.over = threading.Event(), threading.Event()
        self.boxes, self.deleting = [], set()
        self.charged, self.pending = [], None
        self.commands = []
        for _ in range(BOXES):
            self.add_box()
        self.server.command("user", "add", "ledger@example.org")
        self.ledger_box = self.server.command("box", "add", "Ledger", "--owner", "ledger@example.org")["boxId"]
        self.ledger_key = self.server.command("key", "add", "--user", "ledger@example.org")["key"]

    def add_box(self):
        self.boxes.append(self.server.command("box", "add", "Files", "--owner", "bench@example.org")["boxId"])

    def start(self):
        """Somebody else may have taken the port while nobody listened there."""
        try:
            self.server.start()
        except SystemExit:
            self.server.port = Server(data=self.server.data).port
            self.server.start()

    def background(self, *line):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.commands.append((line, subprocess.Popen([self.server.binary, *line], env=self.server.env, **quiet)))

    def cycle(self, number):
        while len(self.boxes) < BOXES:
            self.add_box()
        self.start()
        self.up.set()
        if number % 5 == 2:
            box = self.boxes.pop(chance.randrange(len(self.boxes)))
            self.deleting.add(box)
            self.background("box", "delete", box, "--yes")
            count("box delete")
        if number % 5 == 4:
            self.background("reindex", chance.choice(self.boxes))
            count("reindex")
        time.sleep(chance.uniform(0.3, 1.0))
        self.up.clear()
        self.server.kill()
        count("kill")
        for line, command in self.commands:
            if command.poll() is None and line[0] == "reindex":
                command.kill()
                command.wait()
        # A deletion of a box goes on waiting for the next server.
        refused = [line for line, command in self.commands if line[0] == "box" and command.poll()]
        if refused:
            raise SystemExit(f"a box could not be deleted: {refused[0]}")
        self.commands = [(line, command) for line, command in self.commands if command.poll() is None]


def settle(run, clients):
    """An undisturbed while: everything that was begun is finished."""
    run.start()
    time.sleep(1)  # the clients have noticed the kill by then, and wait
    while run.pending is not None:
        try:
            clients[0].search()
        except LOST:
            time.sleep(0.1)
    for _, command in run.commands:
        command.wait(timeout=120)
    again = {}
    for box in run.boxes:
        run.server.box = box
        for file in run.server.wait_until_read():
            if "the server died" in (file["error"] or "") + " ".join(file["warnings"]):
                again[(box, file["externalId"])] = file
        for client in clients:
            for document in client.documents:
                if (document.box, document.name) in again:
                    # What its owner would do: the newest version once more. It is known, and so only read again.
                    count("read again after three deaths")
                    newest = document.texts[document.versions[-1]]
                    run.server.ask("POST", f"/boxes/{box}/files", *form(f"{document.name}.txt", newest, document.name))
                    document.acknowledged = len(document.versions) - 1
        again.clear()
        run.server.wait_until_read()
    time.sleep(2)  # deletions that a kill cut short are looked for every second


def compare(run, clients):
    findings, listed = [], {}
    for box in run.boxes:
        run.server.box = box
        for file in run.server.files():
            name = (box, file["externalId"])
            if name in listed:
                findings.append(f"doubled: {name}")
            listed[name] = file
            if file["status"] not in ("ready", "ready_with_warnings"):
                findings.append(f"not read: {name} {file['status']} {file['error']}")
    allowed = set()
    for client in clients:
        for document in client.documents:
            file = listed.pop((document.box, document.name), None)
            if document.box in run.deleting or document.deleted:
                if file:
                    findings.append(f"deleted and still listed: {document.name}")
                continue
            if file is None:
                if document.acknowledged >= 0 and not document.deleting:
                    findings.append(f"lost: {document.name}")
                continue
            run.server.box = document.box
            text = " ".join(run.server.pages(file["fileId"]) or [])
            allowed_here = document.versions[max(document.acknowledged, 0):]
            shown = [marker for marker in document.versions if marker in text]
            if len(shown) != 1 or shown[0] not in allowed_here:
                findings.append(f"other text than acknowledged: {document.name} shows {shown}, acknowledged {allowed_here[:1]}")
            allowed.update(shown)
    findings += [f"nobody uploaded: {name}" for name in listed]
    return findings, allowed


def raw(run, allowed):
    findings = []
    for path in run.server.data.rglob("*"):
        if path.is_file():
            for marker in set(MARKER.findall(path.read_bytes())):
                if marker.decode() not in allowed:
                    findings.append(f"left behind: {marker.decode()} in {path.relative_to(run.server.data)}")
    originals = [p for p in (run.server.data / "blobs" / "originals").rglob("*") if p.is_file()]
    known = [p for p in originals if MARKER.search(p.read_bytes()[:100])]
    if len(known) != len(allowed):
        findings.append(f"{len(known)} originals of {len(allowed)} files")
    boxes = {p.name for p in (run.server.data / "index").glob("**/boxes/*/*") if p.is_dir()}
    findings += [f"index of a box that is gone: {box}" for box in boxes & run.deleting]
    return findings


def check(run, clients):
    settle(run, clients)
    findings, allowed = compare(run, clients)
    key, run.server.key = run.server.key, run.ledger_key
    charged = run.server.ask("GET", "/usage")[1]["data"]["used"]
    run.server.key = key
    findings += raw(run, allowed)
    run.server.stop()
    findings += raw(run, allowed)
    told = sum(run.charged)
    if charged != told:
        findings.append(f"the ledger has {charged} units, the answers said {told}")
    print(f"checked: {len(findings)} findings; {len(allowed)} files are there; the ledger has {charged} units for "
          f"{len(run.charged)} searches that cost {told}", flush=True)
    for finding in findings[:40]:
        print("  ", finding, flush=True)
    return len(findings)


def fill_ledger_box(run):
    key, run.server.key = run.server.key, run.ledger_key
    run.server.start()
    run.server.box = run.ledger_box
    for number in range(7):
        body, headers = form(f"{number}.txt", f"Report {number}: the warranty lasts {number} years.", f"r{number}")
        run.server.ask("POST", f"/boxes/{run.ledger_box}/files", body, headers)
    run.server.wait_until_read()
    run.server.stop()
    run.server.key = key


def main():
    run, began, findings = Run(), time.time(), 0
    fill_ledger_box(run)
    clients = [Client(run, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for number in range(1, KILLS + 1):
        run.cycle(number)
        if number % EVERY == 0 or number == KILLS:
            print(f"{number} kills in {time.time() - began:.0f} s: {dict(counts)}", flush=True)
            findings += check(run, clients)
    print(f"{KILLS} kills, {findings} findings")
    if findings:
        print("data folder:", run.server.data)
    else:
        shutil.rmtree(run.server.data)
    sys.exit(1 if findings else 0)


main()
