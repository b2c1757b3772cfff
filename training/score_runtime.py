"""Scores the judged sets with the runtime that ships, on its own processor path, instead of PyTorch: the same tables as score.py.

Usage: python training/score_runtime.py WORK START OLD_FOLDER MODELS OUT [--sets NAME:QUERIES …] [--path best] [--threads 2]
OLD_FOLDER holds the model that training started with, MODELS what export.py wrote. Needs `cargo build -p models --release
--example measure`. Columns that only PyTorch can fill (other packings) are left at the packed value.
"""
import argparse
import json
import os
import random
import subprocess

import numpy as np

from common import Bm25, log, read_json
from read import rough
from score import RECALLED, trust

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class Running:
    """A model in a process of the runtime."""

    def __init__(self, kind, folder, options):
        target = os.environ.get("CARGO_TARGET_DIR", f"{ROOT}/target")
        command = [f"{target}/release/examples/measure", kind, folder, options.path, str(options.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        log(kind, self.process.stdout.readline().strip())

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def some_queries(judged, most):
    """The same queries for whoever asks: a fixed sample."""
    chosen = sorted(random.Random(3).sample(range(len(judged["queries"])), min(most, len(judged["queries"]))))
    for name in ("queries", "relevant", "boxes"):
        judged[name] = [judged[name][at] for at in chosen] if judged[name] else judged[name]


def features(judged, models, stems, depth):
    owner = np.array(judged["owner"])
    words = Bm25(judged["chunks"], stems[judged["language"]], judged["language"]).scores(judged["queries"]).cpu().numpy()
    found = {"old": [], "new": []}
    for name in found:
        models[name].ask(forget=True)
        for start in range(0, len(judged["chunks"]), 64):
            models[name].ask(texts=judged["chunks"][start:start + 64], keep=True)
        found[name] = [models[name].ask(query=query) for query in judged["queries"]]
    log("  embedded", len(owner), "chunks twice")
    table = []
    for at, query in enumerate(judged["queries"]):
        allowed = np.arange(len(owner))
        if judged["boxes"]:
            first, last = judged["boxes"][at]
            allowed = np.flatnonzero((owner >= first) & (owner < last))
        cosine = {name: np.array(found[name][at]["cosines"]) for name in found}
        late = {name: np.array([value or 0.0 for value in found[name][at]["late"]]) for name in found}
        chosen = {int(c) for c in allowed[np.argsort(-words[at][allowed], kind="stable")][:RECALLED] if words[at][c] > 0}
        for name in cosine:
            chosen |= {int(c) for c in allowed[np.argsort(-cosine[name][allowed], kind="stable")][:RECALLED]}
        chosen = np.array(sorted(chosen))
        order = np.argsort(-rough(words[at][chosen], cosine["new"][chosen], late["new"][chosen]), kind="stable")[:depth]
        logit = np.full(len(chosen), np.nan)
        logit[order] = models["cross"].ask(query=query, passages=[judged["chunks"][c] for c in chosen[order]])["scores"]
        relevant = judged["relevant"][at]
        grade = [float(relevant.get(str(owner[c]), 0)) for c in chosen]
        packed = late["new"][chosen]
        table.append(np.stack([np.full(len(chosen), at), chosen, owner[chosen], grade, words[at][chosen], cosine["old"][chosen],
                               cosine["new"][chosen], late["old"][chosen], packed, packed, packed, logit], 1))
    trusts = [trust(answer["token_ids"]) for answer in found["new"]]
    ideal = [sorted(relevant.values(), reverse=True) for relevant in judged["relevant"]]
    return np.concatenate(table).astype(np.float32), ideal, trusts


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "old", "models", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--sets", nargs="+", required=True)
    arguments.add_argument("--depth", type=int, default=24)
    arguments.add_argument("--path", default="best")
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()
    os.makedirs(options.out, exist_ok=True)
    stems = read_json(f"{options.work}/stems.json.gz")
    models = {"old": Running("embedder", options.old, options), "new": Running("embedder", f"{options.models}/quire-embed-1", options),
              "cross": Running("reranker", f"{options.models}/quire-rerank-1", options)}
    for name in options.sets:
        name, _, most = name.partition(":")
        judged = read_json(f"{options.work}/sets/{name}.json.gz")
        some_queries(judged, int(most or 10**9))
        table, ideal, trusts = features(judged, models, stems, options.depth)
        width = max(len(grades) for grades in ideal)
        ideal = np.array([grades + [0] * (width - len(grades)) for grades in ideal], np.float32)
        np.savez_compressed(f"{options.out}/{name}.npz", table=table, ideal=ideal, trust=np.array(trusts), purpose=judged["purpose"])
        log(name, len(ideal), "queries", len(table), "candidates")


if __name__ == "__main__":
    main()
