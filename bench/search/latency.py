"""Latency of searches over HTTPS in a box of many chunks, with and without reranking.

    python3 bench/search/latency.py [CHUNKS, 100000 by default]

The passages of ../shared/data/training are repeated in another order of words until there are enough, in text files of a
thousand pages, one passage a page."""

import gzip
import json
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server

wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
chance = random.Random(7)
with gzip.open(SHARED / "training" / "passages.jsonl.gz", "rt", encoding="utf-8") as file:
    texts = [" ".join(json.loads(line)["text"].split())[:600] for line in file]
with gzip.open(SHARED / "training" / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
    queries = [json.loads(line)["query"][:500] for line in file]
chance.shuffle(queries)

server = Server().set_up().start()
started = time.time()
with tempfile.TemporaryDirectory() as folder:
    made = 0
    while made < wanted:
        pages = []
        for _ in range(min(1000, wanted - made)):
            words = chance.choice(texts).split()
            # Sentences of two passages: as varied as real text, never the same twice.
            other = chance.choice(texts).split()
            pages.append(" ".join(words[: len(words) // 2] + other[len(other) // 2:])[:600])
        path = pathlib.Path(folder) / f"{made}.txt"
        path.write_text("\f".join(pages))
        server.upload(path)
        path.unlink()
        made += len(pages)
    files = server.wait_until_read(1.0)
chunks = sum(file["chunks"] for file in files)
print(f"{chunks} chunks in {time.time() - started:.0f} s; server memory {server.memory_kb() // 1024} MB "
      f"({server.memory_kb('RssAnon') // 1024} MB of its own)", flush=True)
connection = server.connect()
for name, more in (("without reranking", {"rerank": False}), ("with reranking", {}),
                   ("words only", {"mode": "keyword", "rerank": False}),
                   ("vectors only", {"mode": "semantic", "rerank": False})):
    times = []
    for query in queries[:320]:
        body = json.dumps({"query": query, **more})
        sent = time.perf_counter()
        status, answer = server.ask("POST", f"/boxes/{server.box}/retrieve-documents", body,
                                    {"Content-Type": "application/json"}, connection)
        times.append((time.perf_counter() - sent) * 1e3)
        assert status == 200, answer
    # The first ones open the box and fill caches.
    times = sorted(times[20:])
    print(f"{name:18} p50 {statistics.median(times):6.1f} ms  p90 {times[int(len(times) * 0.9)]:6.1f} ms  "
          f"p99 {times[int(len(times) * 0.99)]:6.1f} ms", flush=True)
print(f"server memory afterwards {server.memory_kb() // 1024} MB ({server.memory_kb('RssAnon') // 1024} MB of its own)")
server.stop()
