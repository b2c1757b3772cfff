"""Whether one account that asks for all it can leaves another as quick as it was.

    cargo build --release -p server && python3 bench/security/fair.py [--seconds 20] [--connections 32]

One account searches a small box every 200 ms, first alone, then while another keeps `--connections` connections busy with
the dearest searches of a box of its own. Prints the 50th and 99th percentile of the first account's searches, their ratio,
and what the other one was answered. Standard library only.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server  # noqa: E402

PAUSE = 0.2
DEAR = {"query": "Which of the lines about the quick fox and the lazy dog says what happened in the workshop?",
        "top_k": 50, "explain": True, "context": 3}


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


def people(server):
    """Two accounts with a box and a key each; the first box is small, the second as large as it takes to be dear."""
    made = {}
    for name, files in (("quiet", 2), ("busy", 40)):
        server.command("user", "add", f"{name}@example.org")
        box = server.command("box", "add", name, "--owner", f"{name}@example.org")["boxId"]
        made[name] = (box, server.command("key", "add", "--user", f"{name}@example.org")["key"], files)
    return made


def fill(server, box, key, files):
    server.box, server.key = box, key
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            path = pathlib.Path(folder) / f"{number}.txt"
            lines = (f"Line {line} of {number}: the quick fox {line * number} met the lazy dog in the workshop.\n\n"
                     for line in range(200))
            path.write_text("".join(lines))
            server.upload(path)
    server.wait_until_read()


def search(server, box, key, body, connection):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    return server.ask("POST", f"/boxes/{box}/retrieve-documents", json.dumps(body), headers, connection)[0]


def quiet(server, box, key, seconds):
    """How long each search took, one every 200 ms."""
    connection, times, until = server.connect(), [], time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.monotonic()
        status = search(server, box, key, {"query": "What did the fox do?"}, connection)
        assert status == 200, status
        times.append(time.monotonic() - started)
        time.sleep(max(0.0, PAUSE - times[-1]))
    return times


def busy(server, box, key, stop, answers):
    connection = server.connect()
    while not stop.is_set():
        answers[search(server, box, key, DEAR, connection)] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--connections", type=int, default=32)
    asked = parser.parse_args()
    server = Server()
    accounts = people(server)
    server.start()
    try:
        for box, key, files in accounts.values():
            fill(server, box, key, files)
        (box, key, _), (other_box, other_key, _) = accounts["quiet"], accounts["busy"]
        quiet(server, box, key, 2)
        alone = quiet(server, box, key, asked.seconds)
        started = time.monotonic()
        search(server, other_box, other_key, DEAR, server.connect())
        dear = (time.monotonic() - started) * 1000
        stop, answers = threading.Event(), collections.Counter()
        threads = [threading.Thread(target=busy, args=(server, other_box, other_key, stop, answers))
                   for _ in range(asked.connections)]
        [thread.start() for thread in threads]
        time.sleep(1)
        beside = quiet(server, box, key, asked.seconds)
        stop.set()
        [thread.join() for thread in threads]
    finally:
        server.stop()
    for name, times in (("alone", alone), ("beside", beside)):
        print(f"{name}: {len(times)} searches, p50 {percentile(times, .5):.0f} ms, p99 {percentile(times, .99):.0f} ms")
    print(f"p99 beside / alone: {percentile(beside, .99) / percentile(alone, .99):.1f}; "
          f"one dear search by itself takes {dear:.0f} ms")
    print(f"the other account's answers: {dict(answers)}")


if __name__ == "__main__":
    main()
