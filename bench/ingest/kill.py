#!/usr/bin/env python3
"""Kills the server again and again while it takes files in; afterwards nothing may be lost, doubled or different.

    bench/ingest/kill.py [kills, default 20] [files, default 200] [seed, default 1]

Takes files of ../shared/data/parsing where there are any, and makes the rest. First an undisturbed run, then one with
kill -9 at random moments; every file that was acknowledged must be there once, stand as it stood in the undisturbed run,
and have the same text on every page.
"""

import collections
import hashlib
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server, text_pdf

KILLS, FILES, SEED = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 20), (2, 200), (3, 1)))


def sources(folder):
    found = [p for p in sorted((SHARED / "parsing").rglob("*")) if p.is_file() and p.stat().st_size < 2_000_000
             and not p.name.endswith(".expected.md") and p.name not in ("LICENSE", "README.md")]
    unique = {hashlib.sha256(p.read_bytes()).hexdigest(): p for p in found}
    paths = list(unique.values())
    random.Random(SEED).shuffle(paths)
    paths = paths[:FILES]
    for n in range(FILES - len(paths)):
        path = folder / f"made-{n}.pdf"
        path.write_bytes(text_pdf(1 + n % 7))
        paths.append(path)
    return paths


def contents(server):
    return {f["sha256"]: (f["status"], server.pages(f["fileId"])) for f in server.wait_until_read()}


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        paths = sources(pathlib.Path(folder))
        calm = Server().set_up().start()
        began = time.time()
        for path in paths:
            calm.upload(path)
        expected = contents(calm)
        whole = time.time() - began
        calm.stop()
        print(f"undisturbed: {len(expected)} files in {whole:.1f} s,", dict(collections.Counter(s for s, _ in expected.values())))

        stormy = Server().set_up().start()
        acknowledged, done = set(), threading.Event()

        def upload_all():
            for path in paths:
                while True:
                    try:
                        status, answer = stormy.upload(path)
                        if status in (200, 201):
                            acknowledged.add(answer["data"]["sha256"])
                            break
                    except Exception:
                        time.sleep(0.05)
            done.set()

        uploader = threading.Thread(target=upload_all)
        uploader.start()
        for kill in range(KILLS):
            time.sleep(chance.uniform(0.05, max(0.2, 1.2 * whole / KILLS)))
            stormy.kill()
            stormy.start()
        uploader.join()
        found = contents(stormy)
        listed = stormy.files()
        stormy.stop()

        doubled = [s for s, n in collections.Counter(f["sha256"] for f in listed).items() if n > 1]
        lost = [s for s in acknowledged if s not in found]
        different = [s for s in acknowledged & set(found) if found[s] != expected[s]]
        print(f"{KILLS} kills: {len(acknowledged)} acknowledged, {len(listed)} listed,",
              dict(collections.Counter(s for s, _ in found.values())))
        print(f"lost {len(lost)}, doubled {len(doubled)}, different {len(different)}")
        for sha in different[:5]:
            print("  ", sha, expected[sha][0], "->", found[sha][0])
        sys.exit(1 if lost or doubled or different or len(acknowledged) != len(paths) else 0)


main()
