"""quire beside a common stack (chromadb + sentence-transformers) in one run: same passages, same embedder, same machine.

    python3 bench/search/stack.py [PASSAGES, 3000 by default]

Passages are those of ../shared/data/training. quire gets them over HTTPS as text files of a hundred pages, one passage a
page, so that parsing, cutting, embedding, full text and every fsync are in its time; the stack gets plain strings. Queries
are asked one after another, without reranking. Needs a Python with torch, sentence-transformers and chromadb, which it
installs into target/bench-venv when they are missing."""

import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = pathlib.Path(os.environ.get("QUIRE_BENCH_VENV", ROOT / "target" / "bench-venv"))
if pathlib.Path(sys.prefix) != VENV:
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "chromadb", "sentence-transformers"], check=True)
    os.execv(python, [python, *sys.argv])

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
sys.path.insert(0, str(ROOT / "bench"))
from service import SHARED, Server

count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
with gzip.open(SHARED / "training" / "passages.jsonl.gz", "rt", encoding="utf-8") as file:
    texts = [" ".join(json.loads(line)["text"].split()) for line in file]
texts = [text for text in dict.fromkeys(texts) if 500 < len(text) < 1000]
texts = texts[:: max(1, len(texts) // count)][:count]
with gzip.open(SHARED / "training" / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
    queries = [json.loads(line)["query"] for line in file]
queries = queries[:: len(queries) // 300][:300]
print(f"{len(texts)} passages of {statistics.mean(map(len, texts)):.0f} characters, {len(queries)} queries", flush=True)


def median_ms(ask):
    times = []
    for query in queries:
        started = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times), sorted(times)[int(len(times) * 0.99)]


def quire():
    server = Server().set_up().start()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for start in range(0, len(texts), 100):
            paths.append(pathlib.Path(folder) / f"{start}.txt")
            paths[-1].write_text("\f".join(texts[start:start + 100]))
        started = time.perf_counter()
        for path in paths:
            server.upload(path)
        files = server.wait_until_read(0.05)
        rate = len(texts) / (time.perf_counter() - started)
    connection = server.connect()

    def ask(query):
        body = json.dumps({"query": query[:4000], "rerank": False})
        status, _ = server.ask("POST", f"/boxes/{server.box}/retrieve-documents", body,
                               {"Content-Type": "application/json"}, connection)
        assert status == 200

    ask(queries[0])
    result = rate, *median_ms(ask)
    print(f"quire: {sum(f['chunks'] for f in files)} chunks", flush=True)
    server.stop()
    return result


def stack():
    import chromadb
    from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

    with tempfile.TemporaryDirectory() as model, tempfile.TemporaryDirectory() as folder:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers import models

        fetched = ROOT / "models" / "fetched" / "all-minilm-l6-v2"
        words = models.Transformer(str(fetched), max_seq_length=256)
        SentenceTransformer(modules=[words, models.Pooling(words.get_word_embedding_dimension()),
                                     models.Normalize()]).save(model)
        embed = SentenceTransformerEmbeddingFunction(model_name=model)
        collection = chromadb.PersistentClient(folder).create_collection(
            "bench", embedding_function=embed, metadata={"hnsw:space": "cosine"})
        collection.add(ids=["warm"], documents=["warm up"])
        collection.delete(ids=["warm"])
        started = time.perf_counter()
        for start in range(0, len(texts), 100):
            part = texts[start:start + 100]
            collection.add(ids=[str(start + at) for at in range(len(part))], documents=part)
        rate = len(texts) / (time.perf_counter() - started)
        return rate, *median_ms(lambda query: collection.query(query_texts=[query], n_results=10))


ours, theirs = quire(), stack()
for name, (rate, p50, p99) in (("quire", ours), ("chromadb + sentence-transformers", theirs)):
    print(f"{name:34} {rate:7.1f} passages/s   query p50 {p50:6.1f} ms  p99 {p99:6.1f} ms")
print(f"ingest {ours[0] / theirs[0]:.1f} times as fast, query time {ours[1] / theirs[1]:.2f} of theirs")
