"""What every stage says of every candidate of the judged sets, with the runtime that ships: the tables that gte_fit.py chooses by.

Usage: python training/gte_stages.py MODELS WORK OUT SET… [--queries 150] [--passages 1500] [--path best] [--threads 2]
WORK is what build_data.py and longer.py wrote. Needs `cargo build -p models --release --example measure`. The embedder is
quire-embed-2. Words are weighed as the index weighs them: function words left out, repeated ones ever less.
"""
import argparse
import os
import random

import numpy as np

import fusion
import text
from common import log, read_json
from read import rough
from score import trust
from score_runtime import Running

VERSIONS = ("", "-keywords", "-asked", "-described", "-piled")
DEPTH = 24  # candidates that the cross-encoder reads


class Words:
    """BM25 (k1 1.2, b 0.75) of some chunks."""

    def __init__(self, chunks, stems):
        self.stems, self.postings = stems, {}
        self.lengths = np.zeros(len(chunks))
        for at, chunk in enumerate(chunks):
            for word in text.words(chunk):
                held = self.postings.setdefault(stems.get(word, word), {})
                held[at] = held.get(at, 0) + 1
                self.lengths[at] += 1

    def scores(self, query):
        said = text.words(query)
        said = [word for word in said if word not in text.STOP_WORDS] or said
        counts, norm = {}, 1.2 * (0.25 + 0.75 * self.lengths / self.lengths.mean())
        for word in said:
            term = self.stems.get(word, word)
            counts[term] = counts.get(term, 0) + 1
        found, total = np.zeros(len(self.lengths)), len(self.lengths)
        for term, count in counts.items():
            held = self.postings.get(term)
            if held:
                places, times = np.array(list(held)), np.array(list(held.values()))
                rarity = np.log(1 + (total - len(held) + 0.5) / (len(held) + 0.5))
                found[places] += 9 * count / (8 + count) * rarity * times * 2.2 / (times + norm[places])
        return found


def smaller(judged, queries, passages):
    """Some queries, and enough chunks that each has its own and many others."""
    chosen = sorted(random.Random(3).sample(range(len(judged["queries"])), min(queries, len(judged["queries"]))))
    for name in ("queries", "relevant", "boxes"):
        judged[name] = [judged[name][at] for at in chosen] if judged[name] else judged[name]
    owners = sorted(set(judged["owner"]))
    needed = {int(one) for relevant in judged["relevant"] for one in relevant}
    for first, last in judged["boxes"] or []:
        needed |= set(range(first, min(last, first + 200)))
    others = [one for one in owners if one not in needed]
    random.Random(3).shuffle(others)
    kept = needed | set(others[:max(0, passages - len(needed))])
    keep = [at for at, owner in enumerate(judged["owner"]) if owner in kept]
    judged["chunks"], judged["owner"] = [judged["chunks"][at] for at in keep], [judged["owner"][at] for at in keep]
    return judged


def gather(judged, embedder, cross, held, stems):
    """The table of one set. `held`: which place each text has in the embedder."""
    owner, words = np.array(judged["owner"]), Words(judged["chunks"], stems)
    fresh = [chunk for chunk in dict.fromkeys(judged["chunks"]) if chunk not in held]
    for start in range(0, len(fresh), 64):
        embedder.ask(texts=fresh[start:start + 64], keep=True)
    for chunk in fresh:
        held[chunk] = len(held)
    places = np.array([held[chunk] for chunk in judged["chunks"]])
    rows, tokens, trusts = [], [], []
    for at, query in enumerate(judged["queries"]):
        said = embedder.ask(query=query)
        cosine, late = np.array(said["cosines"])[places], np.array([value or 0.0 for value in said["late"]])[places]
        allowed = np.ones(len(owner), bool)
        if judged["boxes"]:
            first, last = judged["boxes"][at]
            allowed = (owner >= first) & (owner < last)
        scored = words.scores(query)
        chosen = set()
        for side in (scored, cosine):
            best = np.argsort(-np.where(allowed, side, -9), kind="stable")[:fusion.RECALLED]
            chosen |= {int(one) for one in best if allowed[one] and (side is not scored or side[one] > 0)}
        chosen = np.array(sorted(chosen))
        logit = np.full(len(chosen), np.nan)
        read = np.argsort(-rough(scored[chosen], cosine[chosen], late[chosen]), kind="stable")[:DEPTH]
        logit[read] = cross.ask(query=query, passages=[judged["chunks"][c] for c in chosen[read]])["scores"]
        grade = [float(judged["relevant"][at].get(str(owner[c]), 0)) for c in chosen]
        known = {"query": np.full(len(chosen), at), "chunk": chosen, "document": owner[chosen], "grade": grade,
                 "words": scored[chosen], "old": cosine[chosen], "new": cosine[chosen], "late_new": late[chosen], "logit": logit}
        nothing = np.full(len(chosen), np.nan)
        rows.append(np.stack([known.get(column, nothing) for column in fusion.COLUMNS], 1))
        tokens.append(len(said["token_ids"]))
        trusts.append(trust(said["token_ids"]))
    return np.concatenate(rows).astype(np.float32), tokens, trusts


def main():
    arguments = argparse.ArgumentParser()
    for name in ("models", "work", "out"):
        arguments.add_argument(name)
    arguments.add_argument("sets", nargs="+")
    arguments.add_argument("--queries", type=int, default=150)
    arguments.add_argument("--passages", type=int, default=1500)
    arguments.add_argument("--path", default="best")
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()
    os.makedirs(options.out, exist_ok=True)
    stems = read_json(f"{options.work}/stems.json.gz")["en"]
    embedder = Running("embedder", f"{options.models}/quire-embed-2", options)
    cross = Running("reranker", f"{options.models}/quire-rerank-1", options)
    for name in options.sets:
        held = {}
        embedder.ask(forget=True)
        for version in VERSIONS:
            path = f"{options.work}/sets/{name}{version}.json.gz"
            if not os.path.exists(path) or os.path.exists(f"{options.out}/{name}{version}.npz"):
                continue
            judged = smaller(read_json(path), options.queries, options.passages)
            if len(judged["queries"]) < 20:
                continue
            table, tokens, trusts = gather(judged, embedder, cross, held, stems)
            ideal = [sorted(relevant.values(), reverse=True) for relevant in judged["relevant"]]
            width = max(map(len, ideal))
            ideal = np.array([grades + [0] * (width - len(grades)) for grades in ideal], np.float32)
            np.savez_compressed(f"{options.out}/{name}{version}.npz", table=table, ideal=ideal, trust=np.array(trusts),
                                tokens=np.array(tokens), purpose=judged["purpose"])
            log(f"{name}{version}", len(ideal), "queries", len(judged["chunks"]), "chunks", len(table), "candidates")


if __name__ == "__main__":
    main()
