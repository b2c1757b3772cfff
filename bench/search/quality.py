"""nDCG@10 of every way to search, through the HTTP API, on sets in the BEIR layout; and the handbook's pages.

    python3 bench/search/quality.py [--language L] [SET…]

A set is a name below ../shared/data/quality (all of them by default) or a folder; the language is that of its box (`english` by default).

Each document of a set is uploaded as a file of its own; a document counts where its first passage stands. Plain
reciprocal rank fusion (k = 60) is made here of the two sides' own lists. A query may name the documents it is asked
`among`, which become its `sources`."""

import argparse
import concurrent.futures
import http.client
import json
import math
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, WAYS, Server

QUALITY = SHARED / "quality"


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]


class Asker(threading.local):
    connection = None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--language", choices=["english", "multilingual", "auto"], default="english")
    options.add_argument("sets", nargs="*")
    options = options.parse_args()
    wanted = options.sets or sorted(path.name for path in QUALITY.iterdir() if path.is_dir())
    server = Server().set_up().start()
    local = Asker()

    def ask(method, path, body, headers):
        local.connection = local.connection or server.connect()
        try:
            return server.ask(method, path, body, headers, local.connection)
        except (OSError, http.client.HTTPException):
            # The server closes connections that were idle for long.
            local.connection = server.connect()
            return server.ask(method, path, body, headers, local.connection)

    def upload(box, name, text):
        mark = "quire-bench-boundary"
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + text.encode() + f"\r\n--{mark}--\r\n".encode()
        status, answer = ask("POST", f"/boxes/{box}/files", body,
                             {"Content-Type": f"multipart/form-data; boundary={mark}"})
        assert status in (200, 201), answer
        return answer["data"]["fileId"]

    def search(box, query, way, sources=None):
        only = {"sources": sources} if sources else {}
        body = json.dumps({"query": query[:4000], "top_k": 50, **WAYS[way], **only})
        status, answer = ask("POST", f"/boxes/{box}/retrieve-documents", body,
                             {"Content-Type": "application/json"})
        assert status == 200, answer
        return answer["data"]["documents"][0]["documents"]

    pool = concurrent.futures.ThreadPoolExecutor(4)
    table = {}
    for name in wanted:
        if name == "handbook":
            continue
        folder = QUALITY / name
        name = folder.name
        server.box = server.command("box", "add", name, "--owner", "bench@example.org", "--language", options.language)["boxId"]
        started = time.time()
        texts = {}
        for document in lines(folder / "corpus.jsonl"):
            title, text = document.get("title", "").strip(), document["text"].strip()
            named, said = (".md", f"# {title}\n\n{text}\n") if title else (".txt", f"{text or '-'}\n")
            texts[document["_id"]] = document["_id"] + named, said
        files = dict(pool.map(lambda item: (item[0], upload(server.box, *item[1])), texts.items()))
        server.wait_until_read(1.0)
        took = time.time() - started
        judged = {}
        for line in open(folder / "qrels" / "test.tsv", encoding="utf-8").read().splitlines()[1:]:
            query, document, grade = line.split("\t")
            judged.setdefault(query, {})[document] = int(grade)
        queries = [(q["_id"], q["text"], [files[d] for d in q.get("among", [])])
                   for q in lines(folder / "queries.jsonl") if q["_id"] in judged]
        row = {}
        ranked = {}
        for way in WAYS:
            def documents(query, way=way):
                seen = []
                for passage in search(server.box, query[1], way, query[2]):
                    document = passage["fileName"].rsplit(".", 1)[0]
                    if document not in seen:
                        seen.append(document)
                return query[0], seen
            ranked[way] = dict(pool.map(documents, queries))
            row[way] = mean_ndcg(ranked[way], judged)
        row["rrf"] = mean_ndcg({q: fused([ranked["keyword"][q], ranked["semantic"][q]]) for q, *_ in queries}, judged)
        table[name] = row
        print(f"{name:10} {len(texts)} documents in {took:.0f} s  "
              + "  ".join(f"{way} {value:.2f}" for way, value in row.items()), flush=True)
    if table:
        print("mean       " + "  ".join(f"{way} {statistics.mean(r[way] for r in table.values()):.2f}"
                                        for way in next(iter(table.values()))))
        gains = [row["reranked"] - row["rrf"] for row in table.values()]
        worst = min(row["reranked"] - max(row["keyword"], row["semantic"]) for row in table.values())
        print(f"reranked over plain RRF: {statistics.mean(gains):+.2f} on average, {min(gains):+.2f} at worst; "
              f"over the better side {worst:+.2f} at worst")
    if "handbook" in wanted:
        handbook(server, search, options.language)
    server.stop()


def handbook(server, search, language):
    server.box = server.command("box", "add", "handbook", "--owner", "bench@example.org", "--language", language)["boxId"]
    for path in sorted((QUALITY / "handbook").glob("*.pdf")):
        server.upload(path)
    server.wait_until_read()
    questions = lines(QUALITY / "handbook" / "questions.jsonl")
    for way in WAYS:
        ranks = []
        for question in questions:
            gold = {part.split("]")[0] for part in question["truth"].split("[")[1:]}
            found = []
            for passage in search(server.box, question["question"], way):
                place = f"{passage['fileName']}#page={passage['page']}"
                if place not in found:
                    found.append(place)
            ranks.append(next((rank for rank, place in enumerate(found, 1) if place in gold), None))
        at = lambda depth: sum(rank is not None and rank <= depth for rank in ranks)
        print(f"handbook   {way:9} right page first {at(1)}, among 3 {at(3)}, among 5 {at(5)}, among 10 {at(10)} "
              f"of {len(ranks)}", flush=True)


def fused(lists, k=60):
    score = {}
    for ranked in lists:
        for rank, document in enumerate(ranked, 1):
            score[document] = score.get(document, 0) + 1 / (k + rank)
    return sorted(score, key=score.get, reverse=True)


def mean_ndcg(ranked, judged):
    """As trec_eval and BEIR have it: the gain is the grade itself."""
    values = []
    for query, grades in judged.items():
        if query not in ranked or not any(grade > 0 for grade in grades.values()):
            continue
        gain = sum(grades.get(d, 0) / math.log2(at + 2) for at, d in enumerate(ranked[query][:10]))
        best = sum(g / math.log2(at + 2) for at, g in enumerate(sorted(grades.values(), reverse=True)[:10]))
        values.append(gain / best)
    return 100 * statistics.mean(values)


main()
