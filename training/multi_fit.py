"""Chooses how much the stages count for quire-multi-1, and fits its score, with the runtime that ships.

Usage: python training/multi_fit.py MEASURE MODEL DATA OUT [TABLES]
MEASURE is target/…/examples/measure, MODEL the folder, DATA the folder with training/. Writes OUT (JSON), which multi.py takes; TABLES is
where what the stages said is kept, and read from the second time. Sets: paragraphs in three languages with questions in the same and in
another one (the paragraphs of XQuAD's languages are the same, in the same order), and four English domains. Those of es, de and zh, which
the service is measured on, take no part.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import sys

import numpy as np

import calibrate
import fusion
import text

LANGUAGES = ("xq-ro", "xq-tr", "xq-vi")
ACROSS = (("xq-ro", "xq-tr"), ("xq-tr", "xq-vi"), ("xq-vi", "xq-ro"))
ENGLISH = ("arxiv", "policyqa", "pubmedqa", "qed")
QUERIES, PASSAGES = (int(number) for number in os.environ.get("SIZES", "200,1000").split(","))
SLACK_BEFORE, SLACK = 1.0, 0.3  # nDCG@10
STEMMED = {"xq-ro": "romanian", "xq-tr": "turkish"}


def sets(data):
    """Sets by name: passages, queries, and the places of the passages that answer each."""
    passages, asked = {}, {}
    with gzip.open(f"{data}/training/passages.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            passages.setdefault(one["set"], []).append(one)
    with gzip.open(f"{data}/training/queries.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            asked.setdefault(one["set"], []).append(one)
    for name, (queries_of, passages_of) in [(one, (one, one)) for one in LANGUAGES + ENGLISH] + [(f"{a}-{b}", (a, b)) for a, b in ACROSS]:
        queries = random.Random(3).sample(asked[queries_of], min(QUERIES, len(asked[queries_of])))
        first = passages[queries_of][0]["id"]
        needed = {place - first for query in queries for place in query["positives"]}
        others = [at for at in range(len(passages[passages_of])) if at not in needed]
        random.Random(3).shuffle(others)
        kept = sorted(needed | set(others[:max(0, PASSAGES - len(needed))]))
        place = {at: now for now, at in enumerate(kept)}
        yield (name, [passages[passages_of][at]["text"] for at in kept], [query["query"] for query in queries],
               [{place[at - first] for at in query["positives"]} for query in queries], passages_of)


def bm25(texts, queries, name):
    """Scores of every text for every query (k1 1.2, b 0.75)."""
    import Stemmer
    stemmer = Stemmer.Stemmer(STEMMED.get(name, "english")) if name in STEMMED or name in ENGLISH else None
    term = lambda word: text.fold(stemmer.stemWord(word) if stemmer else word)
    words = [[term(word) for word in text.words(one)] for one in texts]
    mean = np.mean([len(held) for held in words])
    postings = {}
    for at, held in enumerate(words):
        for word in held:
            postings.setdefault(word, {}).setdefault(at, 0)
            postings[word][at] += 1
    scores = np.zeros((len(queries), len(texts)), np.float32)
    for row, query in zip(scores, queries):
        for word in map(term, text.words(query)):
            found = postings.get(word, {})
            rarity = np.log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
            for at, count in found.items():
                row[at] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(words[at]) / mean))
    return scores


def gather(measure, model, data, tables):
    os.makedirs(tables, exist_ok=True)
    process = subprocess.Popen([measure, "embedder", model, "best", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(process.stdout.readline().strip(), flush=True)

    def ask(**request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    for name, texts, queries, relevant, language in sets(data):
        ask(forget=True)
        for start in range(0, len(texts), 64):
            ask(texts=texts[start:start + 64], keep=True)
        words, rows, nothing = bm25(texts, queries, language), [], np.full(len(texts), np.nan)
        for at, query in enumerate(queries):
            answer = ask(query=query)
            grade = np.isin(np.arange(len(texts)), list(relevant[at])).astype(float)
            late = np.array([value or 0.0 for value in answer["late"]])
            known = {"query": np.full(len(texts), at), "chunk": np.arange(len(texts)), "document": np.arange(len(texts)), "grade": grade,
                     "words": words[at], "new": np.array(answer["cosines"]), "late_new": late}
            rows.append(np.stack([known.get(column, nothing) for column in fusion.COLUMNS], 1))
            best = set(np.argsort(-words[at])[:fusion.RECALLED]) | set(np.argsort(-known["new"])[:fusion.RECALLED])
            rows[-1] = rows[-1][sorted(best)]
        most = max(map(len, relevant))
        ideal = np.array([[1.0] * len(one) + [0.0] * (most - len(one)) for one in relevant])
        np.savez_compressed(f"{tables}/{name}.npz", table=np.concatenate(rows).astype(np.float32), ideal=ideal, trust=np.ones(len(queries)),
                            purpose="validation")
        print(name, len(texts), "passages", len(queries), "queries", flush=True)
    process.stdin.close()


def worth(found):
    """Kinds of sets count the same, however many there are of each."""
    kinds = {}
    for name, value in found.items():
        kinds.setdefault("across" if name.count("xq-") == 2 else "languages" if name in LANGUAGES else "english", []).append(value)
    return {kind: float(np.mean(values)) for kind, values in kinds.items()}


def scored(held, order):
    return worth({name: np.mean([fusion.ndcg(asked, order(asked)) for asked in asking]) for name, asking in held.items()})


def choose(held):
    """Weights and spreads, one after the other: first both sides, then late interaction on top of the best few."""
    mean = lambda found: np.mean(list(found.values()))
    show = lambda *words: print(*words, flush=True)
    show("vectors alone", scored(held, lambda asked: asked["new"]), "words alone", scored(held, lambda asked: asked["words"]))
    show("late alone", scored(held, lambda asked: np.where(asked.recalled("new"), asked["late_new"], -9)))
    tried = []
    for keyword in (0.0, 10.0, 20.0):
        for spread in (0.3, 0.45):
            for weight in (0.35, 0.45, 0.55, 0.65):
                fusion.KEYWORD_SPREAD, fusion.SEMANTIC_SPREAD, fusion.SEMANTIC_WEIGHT = keyword, spread, weight
                found = scored(held, lambda asked: fusion.first_stage(asked, "new")[0])
                tried.append((mean(found), keyword, spread, weight))
                show(f"words over {keyword}, vectors {weight} over {spread}: {mean(found):.2f}", found)
    best = []
    for value, keyword, spread, weight in sorted(tried, reverse=True):
        if value < max(tried)[0] - SLACK_BEFORE:
            break
        fusion.KEYWORD_SPREAD, fusion.SEMANTIC_SPREAD, fusion.SEMANTIC_WEIGHT = keyword, spread, weight
        for late_spread in (0.25,):
            for late in (0.4, 0.5, 0.6):
                found = scored(held, lambda asked: fusion.with_late(asked, *fusion.first_stage(asked, "new"), "late_new", late, late_spread))
                best.append((mean(found), keyword, spread, weight, late, late_spread))
                show(f"words over {keyword}, vectors {weight} over {spread}, late {late} over {late_spread}: {mean(found):.2f}", found)
    # Late interaction makes up for most of what the vectors' weight brings. Of what is as good, the one that leaves the most to the
    # words: a code or a name that stands in one passage only must be found by it.
    good = [found for found in best if found[0] >= max(best)[0] - SLACK]
    return min(good, key=lambda found: (found[3] / (1 - found[3]) * max(found[1], 10.0), -found[0]))[1:]


def main():
    measure, model, data, out = sys.argv[1:5]
    tables = sys.argv[5] if len(sys.argv) > 5 else out + ".tables"
    if not os.path.isdir(tables):
        gather(measure, model, data, tables)
    held = fusion.read(tables)
    keyword, spread, weight, late, late_spread = choose(held)
    fusion.KEYWORD_SPREAD, fusion.SEMANTIC_SPREAD, fusion.SEMANTIC_WEIGHT = keyword, spread, weight
    options = argparse.Namespace(late_weight=late, late_spread=late_spread)
    weighing = {"semantic": {"weight": weight, "spread": spread}, "keyword_spread": keyword, "late": {"weight": late, "spread": late_spread},
                "cross": {"weight": 0.3, "spread": 8.0}, "least_trust": 1.0}
    for stage in ("WITHOUT_LATE", "WITH_LATE"):
        answered, unanswered, tops = calibrate.gathered(held, stage, options)
        beta = calibrate.fit(*(np.concatenate([a, u]) for a, u in zip(answered, unanswered)))
        print(stage, calibrate.quality(beta, answered, tops))
        weighing[stage.lower()] = {name: round(float(value), 2) for name, value in zip(calibrate.NAMES, beta)}
    weighing["with_cross"] = weighing["with_late"]  # not fitted again with the cross-encoder
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"weighing": weighing}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
