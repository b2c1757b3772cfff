#!/usr/bin/env python3
"""Backup, restore, export and import of a large box: what a backup costs those who search, and whether everything comes back.

    python3 bench/reliability/backup.py [CHUNKS, default 100000] [FOLDER]     needs target/release/quire (or QUIRE_BINARY)

With FOLDER the box is kept there, and a later run starts from it instead of reading files for half an hour.

1. Reads generated files into a box, and notes 500 answers.
2. Takes full backups one after the other beside a client that searches: p50 and p99, beside those of a quiet minute.
3. Replaces ten files and backs up again: what was copied?
4. Restores into another folder and, by `migrate-store`, on PostgreSQL and S3 (tests/servers/servers.py): are the 500 answers the same,
   by default and where every passage is compared?
5. Exports the box and imports it elsewhere: how much faster is that than reading the files? Flips bits of the export: is each refused,
   and does nothing stay?"""

import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parents[1] / "tests" / "servers"))
from service import Server  # noqa: E402
from servers import Servers  # noqa: E402

CHUNKS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
KEPT = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
SECTIONS = 50                      # of one file, each of two passages
UNBOUND = {"QUIRE__BOUNDS__STORAGE_GB": "1000", "QUIRE__BOUNDS__FILES": "1000000"}
ANSWERS, FLIPS, CHANGED = 500, 40, 10
WORDS = [first + middle + last for first in "b br d f gr h k l m n p pl r s st t tr v w z".split() for middle in "a e i o u ai ea oo".split()
         for last in "b ck d g l ll m n nd ng p r rt s st t th x".split()]
chance = random.Random(7)


def text(number):
    own = random.Random(number)
    sentence = lambda: " ".join(own.choices(WORDS, k=14)).capitalize() + "."
    return f"# Document {number}\n\n" + "\n\n".join(
        f"## Part {part} of {number}\n\n" + " ".join(sentence() for _ in range(9)) for part in range(SECTIONS))


def p(times, share):
    return round(sorted(times)[int(len(times) * share)] * 1000, 1)


def plain(answer):
    """An answer without what differs from request to request, and from one server's address to the next."""
    answer.pop("requestId", None)
    answer["data"].pop("usage", None)
    return re.sub(r"https://127\.0\.0\.1:\d+/", "/", json.dumps(answer, sort_keys=True))


def search(server, query, connection=None):
    body = json.dumps({"query": query, "limit": 5})
    status, answer = server.ask("POST", f"/boxes/{server.box}/retrieve-documents", body, {"Content-Type": "application/json"}, connection)
    assert status == 200, answer
    return answer


def answers(server, queries):
    connection = server.connect()
    return [plain(search(server, query, connection)) for query in queries]


def differing(before, after):
    return sum(one != other for one, other in zip(before, after))


def first(answer):
    documents = json.loads(answer)["data"]["documents"]
    return documents and documents[0]["documents"][0]["text"]


def searching(server, queries, until):
    """Searches until told to stop; gives the times."""
    times, connection = [], server.connect()
    while not until.is_set() or len(times) < 20:
        began = time.perf_counter()
        search(server, queries[len(times) % len(queries)], connection)
        times.append(time.perf_counter() - began)
    return times


def beside(server, queries, work):
    """Times of searches while something is done, and how long that took."""
    until, found = threading.Event(), []
    thread = threading.Thread(target=lambda: found.extend(searching(server, queries, until)))
    thread.start()
    began = time.monotonic()
    try:
        work()
    finally:
        took = time.monotonic() - began
        until.set()
        thread.join()
    return found, took


def filled(work):
    """A server with the box, its files, and how long it took to read them."""
    kept = KEPT or work / "kept"
    data, files, facts = kept / "data", kept / "files", kept / "facts.json"
    if not facts.exists():
        server = Server(data=data, env=UNBOUND).set_up().start()
        files.mkdir()
        paths = [files / f"{number}.md" for number in range(max(CHANGED, CHUNKS // (2 * SECTIONS)))]
        for number, path in enumerate(paths):
            path.write_text(text(number))
        began = time.monotonic()
        for path in paths:
            status, answer = server.upload(path)
            assert status == 201, answer
        read = server.wait_until_read(1)
        took = time.monotonic() - began
        server.stop()
        assert all(file["status"] == "ready" for file in read)
        facts.write_text(json.dumps({"box": server.box, "key": server.key, "took": took}))
    shutil.copytree(kept, work / "in-use")
    facts = json.loads(facts.read_text())
    server = Server(data=work / "in-use" / "data", env=UNBOUND)
    server.box, server.key = facts["box"], facts["key"]
    return server.start(), sorted((work / "in-use" / "files").iterdir()), facts["took"]


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-bench-backups-"))
    server, paths, reading = filled(folder)
    try:
        queries = [" ".join(chance.choices(WORDS, k=chance.randint(2, 8))) for _ in range(ANSWERS)]
        contents = server.command("export", server.box, str(folder / "box.quire"))["contents"]
        print(f"{contents} read in {reading:.0f} s", flush=True)
        (folder / "box.quire").unlink()
        before = answers(server, queries)

        quiet, _ = beside(server, queries, lambda: time.sleep(60))
        loud, spent = [], []
        for number in range(4):
            times, took = beside(server, queries, lambda: server.command("backup", str(folder / f"full-{number}")))
            loud, spent = loud + times, spent + [took]
        for what, times in (("quiet", quiet), ("during a backup", loud)):
            print(f"searches {what}: {len(times)}, p50 {p(times, .5)} ms, p99 {p(times, .99)} ms", flush=True)
        print(f"p99 {p(loud, .99) / p(quiet, .99):.2f}x; a full backup takes {statistics.median(spent):.1f} s", flush=True)

        for path in chance.sample(paths, CHANGED):
            path.write_text(path.read_text() + "\n\nAnd one line more.\n")
            files = [file["fileId"] for file in server.files() if file["name"] == path.name]
            for file in files:
                server.ask("DELETE", f"/files/{file}")
            server.upload(path)
        server.wait_until_read()
        again = server.command("backup", str(folder / "full-3"))
        print(f"after {CHANGED} changed files: {again['copied']} of {again['files']} files copied, {again['bytesCopied'] / 1e6:.1f} MB", flush=True)
        before = answers(server, queries)

        restored = Server(data=folder / "restored", env=UNBOUND)
        restored.box, restored.key = server.box, server.key
        began = time.monotonic()
        restored.command("restore", str(folder / "full-3"))
        took = time.monotonic() - began
        restored.start()
        print(f"restored in {took:.1f} s: {differing(before, answers(restored, queries))} of {ANSWERS} answers differ", flush=True)
        restored.stop()

        with Servers() as servers:
            addresses = servers.environment()
            settings = folder / "quire.toml"
            settings.write_text(f"[catalog]\nurl = \"{addresses['QUIRE_TEST_POSTGRES']}?schema=c\"\n"
                                f"[index]\nurl = \"{addresses['QUIRE_TEST_POSTGRES']}?schema=i\"\n"
                                f"[blobs]\nurl = \"{addresses['QUIRE_TEST_S3']}\"\n[limiter]\nurl = \"{addresses['QUIRE_TEST_VALKEY']}\"\n")
            began = time.monotonic()
            restored.command("migrate-store", "--from", str(restored.data), "--to", str(settings))
            took = time.monotonic() - began
            # By default a large box is searched approximately, and PostgreSQL misses other passages than the data folder does.
            for how, exact in (("by default", {}), ("with index.exact_to", {"QUIRE__INDEX__EXACT_TO": "1000000"})):
                server.stop()
                server.env |= exact
                server.start()
                before = answers(server, queries)
                node = Server(data=folder / "node", env={"QUIRE_CONFIG": str(settings)} | exact)
                node.box, node.key = server.box, server.key
                node.start()
                try:
                    after = answers(node, queries)
                finally:
                    node.stop()
                print(f"on PostgreSQL and S3 in {took:.0f} s, {how}: {differing(before, after)} of {ANSWERS} answers differ, "
                      f"{differing(map(first, before), map(first, after))} in what comes first", flush=True)

        move(server, folder, reading)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def move(server, folder, reading):
    bundle = folder / "box.quire"
    began = time.monotonic()
    server.command("export", server.box, str(bundle))
    exporting = time.monotonic() - began
    other = Server(data=folder / "other")
    other.command("user", "add", "bench@example.org")
    began = time.monotonic()
    other.command("import", str(bundle))
    importing = time.monotonic() - began
    print(f"exported in {exporting:.1f} s ({bundle.stat().st_size / 1e6:.0f} MB), imported in {importing:.1f} s: "
          f"{reading / (exporting + importing):.1f}x faster than reading", flush=True)

    third = Server(data=folder / "third")
    third.command("user", "add", "bench@example.org")
    refused, named = 0, 0
    for _ in range(FLIPS):
        at = chance.randrange(bundle.stat().st_size)
        with open(bundle, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ (1 << chance.randrange(8))]))
            file.flush()
            done = subprocess.run([third.binary, "import", bundle, "--json"], env=third.env, capture_output=True, text=True)
            refused += done.returncode != 0
            named += "byte" in done.stdout
            file.seek(at)
            file.write(bytes([byte]))
    boxes = third.command("box", "list")
    left = sum(path.is_file() for path in (third.data / "blobs").rglob("*"))
    print(f"{FLIPS} flipped bits: {refused} refused, {named} with the place named; {boxes} afterwards, {left} originals left", flush=True)


if __name__ == "__main__":
    main()
