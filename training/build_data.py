"""Builds what training and evaluation read.

Usage: python training/build_data.py SHARED_DATA MODEL_FOLDER WORK [--slice N]
SHARED_DATA holds training/ and quality/; MODEL_FOLDER has the tokenizer.json of all-MiniLM-L6-v2. Writes to WORK:
- passages.jsonl.gz (domain, text) and queries.jsonl.gz (domain, kind, query, positives, negatives, scoped)
- sets/NAME.json.gz: chunks, the document of each, queries, judgements, and which box of documents each query is asked in
- stems.json.gz: each word with its stem, so that later steps need no stemmer
Domains are split once: `test` is never trained on nor chosen by, `validation` is where weights are chosen with models that
did not see it, and the rest is trained on. The shipped models are trained on everything but `test`.
"""
import argparse
import collections
import glob
import gzip
import json
import os
import random
import re
import subprocess

from tokenizers import Tokenizer

import sources
import text

TEST = ("tatqa", "covidqa", "pycode")
VALIDATION = ("arxiv", "cuad", "policyqa", "pubmedqa", "qed", "node")
# Questions that only make sense within one document ("What are the parties?"): negatives come from that document alone.
SCOPED = ("tatqa", "cuad", "policyqa")
KEYWORD_SHARE = {"md": 0.2, "rustdoc": 0.3, "medquad": 0.2, "squad": 0.5, "man": 0.15, "books": 0.2}
SENTENCE_SHARE = {"arxiv": 0.6, "pubmedqa": 0.8, "squad": 0.5, "cuad": 0.25, "medquad": 0.15, "man": 0.25, "books": 0.3, "md": 0.3,
                  "policyqa": 0.3, "man-other": 0.2, "xq-de": 0.5, "xq-es": 0.5, "xq-ro": 0.5, "xq-tr": 0.5, "xq-vi": 0.5}
MOST_SET_QUERIES = 400


def shared_pairs(folder):
    passages = text.read_lines(f"{folder}/training/passages.jsonl.gz")
    queries = text.read_lines(f"{folder}/training/queries.jsonl.gz")
    place = {passage["id"]: at for at, passage in enumerate(passages)}
    passages = [{"domain": passage["set"], "text": passage["text"]} for passage in passages]
    queries = [{"domain": query["set"], "kind": query["kind"], "query": query["query"],
                "positives": [place[p] for p in query["positives"] if p in place],
                "negatives": [place[n] for n in query["hard_negatives"] if n in place],
                "scoped": query["set"] in SCOPED} for query in queries]
    seen, kept = set(), []
    for query in queries:
        key = (query["domain"], query["query"].lower(), tuple(query["positives"]))
        if query["positives"] and key not in seen:
            seen.add(key)
            kept.append(query)
    return passages, kept


def add_mined(passages, queries, rng):
    for domain in sources.SOURCES:
        for query, passage, kind in sources.pairs(domain):
            if kind == "head" and domain != "node" and rng.random() < 0.3:
                # As ingest forms it: headings, then the text.
                passage = f"{query}\n{passage}" if rng.random() < 0.2 else f"{query.split()[0]}\n{passage}"
            passages.append({"domain": domain, "text": passage})
            queries.append({"domain": domain, "kind": kind, "query": query, "positives": [len(passages) - 1],
                            "negatives": [], "scoped": False})


def add_variants(passages, queries, rng):
    """Keyword versions of questions, and sentences that look for the passage they were taken from."""
    for query in list(queries):
        share = KEYWORD_SHARE.get(query["domain"], 0.3)
        if not query["scoped"] and not query["domain"].startswith("xq") and rng.random() < share:
            short = text.keywords(query["query"], rng)
            if short:
                queries.append({**query, "query": short, "kind": "keywords"})
    for at in range(len(passages)):
        domain = passages[at]["domain"]
        if rng.random() > SENTENCE_SHARE.get(domain, 0):
            continue
        parts = text.sentences(passages[at]["text"])
        chosen = rng.randrange(len(parts))
        if len(parts) < 4 or not 40 < len(parts[chosen]) < 250:
            continue
        query = text.keywords(parts[chosen], rng) if rng.random() < 0.5 else parts[chosen]
        if query:
            rest = " ".join(parts[:chosen] + parts[chosen + 1:])
            passages.append({"domain": domain, "text": rest, "taken_from": at})
            queries.append({"domain": domain, "kind": "sentence", "query": query, "positives": [len(passages) - 1],
                            "negatives": [], "scoped": False, "but_not": at})


def judged(name, documents, queries, relevant, count_tokens, language="en", boxes=None, purpose="test"):
    chunks, owner = [], []
    for at, document in enumerate(documents):
        for chunk in text.chunks(document, count_tokens):
            chunks.append(chunk)
            owner.append(at)
    return {"name": name, "purpose": purpose, "language": language, "chunks": chunks, "owner": owner, "queries": queries,
            "relevant": relevant, "boxes": boxes}


def beir(folder, count_tokens, purpose):
    name = os.path.basename(folder)
    lines = lambda path: [json.loads(line) for line in open(path, encoding="utf-8")]
    corpus = lines(f"{folder}/corpus.jsonl")
    place = {document["_id"]: at for at, document in enumerate(corpus)}
    relevant = collections.defaultdict(dict)
    for line in open(f"{folder}/qrels/test.tsv", encoding="utf-8").read().splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0 and document in place:
            relevant[query][place[document]] = float(grade)
    queries = [query for query in lines(f"{folder}/queries.jsonl") if relevant.get(query["_id"])]
    # Every fourth question of XQuAD is enough for a check of languages.
    queries = queries[::4] if name.startswith("xquad") else queries
    documents = []
    for document in corpus:
        title, body = (document.get("title") or "").strip(), document["text"].strip()
        documents.append(body if not title or body.startswith(title) else f"{title}\n{body}")
    return judged(name, documents, [q["text"] for q in queries], [relevant[q["_id"]] for q in queries], count_tokens,
                  name[-2:] if name.startswith("xquad") else "en", purpose=purpose)


def handbook(folder, count_tokens):
    """Pages of HR documents; the truth names file and page."""
    pages, place = [], {}
    for path in sorted(glob.glob(f"{folder}/*.pdf")):
        written = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
        for number, page in enumerate(written.split("\f"), 1):
            page = re.sub(r"[ \t]+", " ", page).strip()
            if page:
                place[os.path.basename(path), number] = len(pages)
                pages.append(page)
    queries, relevant = [], []
    for line in open(f"{folder}/questions.jsonl", encoding="utf-8"):
        question = json.loads(line)
        cited = re.findall(r"\[([^\]#]+\.pdf)#page=(\d+)\]", question["truth"])
        pages_cited = {place[file, int(page)]: 1 for file, page in cited if (file, int(page)) in place}
        if pages_cited:
            queries.append(question["question"])
            relevant.append(pages_cited)
    return judged("handbook", pages, queries, relevant, count_tokens)


def domain_sets(passages, queries, count_tokens, rng):
    """One set for each domain left out, and a keyword version of those with questions."""
    for domain in TEST + VALIDATION:
        members = [at for at, passage in enumerate(passages) if passage["domain"] == domain and "taken_from" not in passage]
        place = {at: here for here, at in enumerate(members)}
        asked = [query for query in queries if query["domain"] == domain and query["kind"] not in ("sentence", "keywords")]
        asked = rng.sample(asked, min(MOST_SET_QUERIES, len(asked)))
        relevant = [{place[p]: 1 for p in query["positives"]} for query in asked]
        boxes = None
        if domain in SCOPED:
            boxes = [box(domain, [place[p] for p in query["positives"] + query["negatives"]], len(members)) for query in asked]
        documents = [passages[at]["text"] for at in members]
        purpose = "test" if domain in TEST else "validation"
        yield judged(domain, documents, [q["query"] for q in asked], relevant, count_tokens, boxes=boxes, purpose=purpose)
        if domain in ("covidqa", "pycode", "qed", "arxiv", "pubmedqa"):
            short = text.keyword_queries([q["query"] for q in asked], 9)
            yield judged(f"{domain}-keywords", documents, [query for _, query in short], [relevant[at] for at, _ in short],
                         count_tokens, purpose=purpose)


def box(domain, near, count):
    """The documents a scoped query is asked among: its own document, or for finance a hundred passages of some reports."""
    if domain != "tatqa":
        return [min(near), max(near) + 1]
    start = near[0] // 100 * 100
    return [start, min(count, start + 100)]


def write_json(path, value):
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as file:
        json.dump(value, file, ensure_ascii=False)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("shared")
    arguments.add_argument("model")
    arguments.add_argument("work")
    arguments.add_argument("--slice", type=int, default=0, help="keep every Nth query and passage of training, for a rehearsal")
    options = arguments.parse_args()
    os.makedirs(f"{options.work}/sets", exist_ok=True)
    tokenizer = Tokenizer.from_file(f"{options.model}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counted = {}

    def count_tokens(piece):
        if piece not in counted:
            counted[piece] = len(tokenizer.encode(piece, add_special_tokens=False).ids)
        return counted[piece]

    rng = random.Random(11)
    passages, queries = shared_pairs(options.shared)
    add_mined(passages, queries, rng)
    sets = list(domain_sets(passages, queries, count_tokens, rng))
    for folder in sorted(glob.glob(f"{options.shared}/quality/*")):
        if os.path.exists(f"{folder}/corpus.jsonl"):
            sets.append(beir(folder, count_tokens, "test"))
    sets.append(handbook(f"{options.shared}/quality/handbook", count_tokens))
    passages_of_test = [passage for passage in passages if passage["domain"] in TEST]
    add_variants(passages, queries, rng)
    queries = [query for query in queries if query["domain"] not in TEST]
    print("left out of training:", len(passages_of_test), "passages of", ", ".join(TEST))
    if options.slice:
        queries = queries[::options.slice]
        for judged_set in sets:
            judged_set["queries"] = judged_set["queries"][:6]
    write_json(f"{options.work}/stems.json.gz", {
        language: text.stems([t for s in sets if s["language"] == language for t in s["chunks"] + s["queries"]]
                             + ([p["text"] for p in passages] + [q["query"] for q in queries] if language == "en" else []),
                             language)
        for language in sorted({s["language"] for s in sets})})
    text.write_lines(f"{options.work}/passages.jsonl.gz", passages)
    text.write_lines(f"{options.work}/queries.jsonl.gz", queries)
    for judged_set in sets:
        write_json(f"{options.work}/sets/{judged_set['name']}.json.gz", judged_set)
        print(f"{judged_set['name']}: {judged_set['purpose']}, {len(judged_set['chunks'])} chunks, {len(judged_set['queries'])} queries")
    for key, count in sorted(collections.Counter((q["domain"], q["kind"]) for q in queries).items()):
        print(*key, count)
    print(len(passages), "passages,", len(queries), "queries")


if __name__ == "__main__":
    main()
