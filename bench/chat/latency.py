"""How soon answers begin and how evenly they come, through the HTTP API, answered by quoting.

    python3 bench/chat/latency.py [--streams 200] [--rounds 3] [--questions 100]

1. One stream at a time: time to the first byte, less the time that the same search takes by itself. That is what answering
   adds to retrieval.
2. Many streams at once: the longest silence inside each stream once it has begun, and the time to its first byte.

Paragraphs of xquad-en are the documents. Standard library only."""

import argparse
import json
import pathlib
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from quality import QUALITY, Measurement, lines


def stream(server, box, question):
    """Times of the first byte and of each frame after it, in seconds from sending."""
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    connection = server.context.wrap_socket(raw, server_hostname="127.0.0.1")
    body = json.dumps({"messages": [{"role": "user", "content": question}], "stream": True}).encode()
    head = (f"POST /api/public/v1/boxes/{box}/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {server.key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n").encode()
    sent = time.perf_counter()
    connection.sendall(head + body)
    times, received = [], b""
    while b"[DONE]" not in received:
        some = connection.recv(65536)
        if not some:
            raise SystemExit(f"the stream ended early: {received[-500:]!r}")
        received += some
        times.append(time.perf_counter() - sent)
    connection.close()
    return times


def share(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--streams", type=int, default=200)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--questions", type=int, default=100)
    options = options.parse_args()
    run = Measurement()
    server = run.server
    server.box = run.box("xquad")
    list(run.pool.map(lambda d: run.upload(server.box, f"{d['_id']}.md", d["text"].strip() + "\n"),
                      lines(QUALITY / "xquad-en" / "corpus.jsonl")))
    server.wait_until_read(1.0)
    questions = [q["text"] for q in lines(QUALITY / "xquad-en" / "queries.jsonl")]

    connection = server.connect()
    added, firsts = [], []
    for question in questions[:options.questions]:
        started = time.perf_counter()
        server.ask("POST", f"/boxes/{server.box}/retrieve-documents", json.dumps({"query": question, "top_k": 8}),
                   {"Content-Type": "application/json"}, connection)
        search = time.perf_counter() - started
        first = stream(server, server.box, question)[0]
        firsts.append(first)
        added.append(first - search)
    print(f"one at a time: first byte p50 {1e3 * share(firsts, .5):.0f} ms, p99 {1e3 * share(firsts, .99):.0f} ms; "
          f"after retrieval p50 {1e3 * share(added, .5):.0f} ms, p99 {1e3 * share(added, .99):.0f} ms", flush=True)

    gaps, firsts, failed = [], [], []
    def one(question):
        try:
            times = stream(server, server.box, question)
            firsts.append(times[0])
            gaps.extend(after - before for before, after in zip(times, times[1:]))
            gaps.append(0.0)
        except (OSError, SystemExit) as error:
            failed.append(error)
    for at in range(options.rounds):
        threads = [threading.Thread(target=one, args=(questions[(at * options.streams + n) % len(questions)],))
                   for n in range(options.streams)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{options.streams} at once, {options.rounds} times: frame gap p50 {1e3 * share(gaps, .5):.1f} ms, "
          f"p99 {1e3 * share(gaps, .99):.1f} ms, longest {1e3 * max(gaps):.1f} ms; first byte p50 {share(firsts, .5):.2f} s, "
          f"p99 {share(firsts, .99):.2f} s; {len(failed)} failed", flush=True)
    server.stop()


if __name__ == "__main__":
    main()
