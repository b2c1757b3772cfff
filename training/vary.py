"""Adds queries of the kind people type into a search box, two to five words: of most questions, and of some passages.

Usage: python training/vary.py WORK
Reads and writes WORK/queries.jsonl.gz; a second run adds nothing. What such a short query is best answered by is left to the
teacher: its scores, not the label alone, are what the student follows.
"""
import random
import sys

import build_data
import text

OF_QUESTIONS, OF_PASSAGES, KIND = 0.6, 0.12, "words"


def main():
    work, rng = sys.argv[1], random.Random(17)
    passages, queries = text.read_lines(f"{work}/passages.jsonl.gz"), text.read_lines(f"{work}/queries.jsonl.gz")
    queries = [query for query in queries if query["kind"] != KIND]
    known = {(query["domain"], tuple(query["positives"])) for query in queries if query["kind"] == "keywords"}
    added = []
    for query in queries:
        asked = query["kind"] not in ("keywords", "sentence") and not query["scoped"] and not query["domain"].startswith("xq")
        if asked and (query["domain"], tuple(query["positives"])) not in known and rng.random() < OF_QUESTIONS:
            added.append((query["domain"], query["positives"], text.keywords(query["query"], rng)))
    for at, passage in enumerate(passages):
        dull = passage["domain"] in build_data.TEST + build_data.SCOPED or "taken_from" in passage
        if not dull and rng.random() < OF_PASSAGES:
            added.append((passage["domain"], [at], text.keywords(rng.choice(text.sentences(passage["text"])), rng)))
    for domain, positives, query in added:
        if query:
            queries.append({"domain": domain, "kind": KIND, "query": query, "positives": positives, "negatives": [], "scoped": False})
    text.write_lines(f"{work}/queries.jsonl.gz", queries)
    print(len(queries), "queries")


if __name__ == "__main__":
    main()
