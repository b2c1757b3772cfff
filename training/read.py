"""Lets a cross-encoder read the best candidates of every judged set.

Usage: python training/read.py WORK START CROSS SCORES OUT [--depth 30]
SCORES is what score.py wrote; OUT gets the same with the logits of CROSS, a checkpoint or a folder that export.py wrote.
"""
import argparse
import glob
import os

import numpy as np

from common import cross_encoder, log, read_json
from fusion import AT
from teach import score
from tokens import QUERY_TOKENS, Tokens, tokenizer

CROSS_TOKENS = 320


def stretched(values, spread):
    return (values - values.min()) / max(values.max() - values.min(), spread)


def rough(words, cosine, late_score):
    """About the order that search has before the cross-encoder: whom it should read."""
    fused = 0.45 * stretched(cosine, 0.4) + 0.55 * words / max(words.max(), 1e-6)
    return 0.7 * fused + 0.3 * stretched(late_score, 0.5)


def best(rows, depth):
    """The places of the candidates that either embedder would have read."""
    column = lambda name: rows[:, AT[name]]
    orders = [np.argsort(-rough(column("words"), column(model), column(f"late_{model}")), kind="stable") for model in ("old", "new")]
    return np.union1d(orders[0][:depth], orders[1][:depth])


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "cross", "scores", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--depth", type=int, default=30, help="candidates that the cross-encoder reads")
    options = arguments.parse_args()
    os.makedirs(options.out, exist_ok=True)
    cross, tokens = cross_encoder(options.cross), tokenizer(options.start)
    for path in sorted(glob.glob(f"{options.scores}/*.npz")):
        name = os.path.basename(path)[:-4]
        held = dict(np.load(path))
        table, judged = held["table"], read_json(f"{options.work}/sets/{name}.json.gz")
        edges = np.searchsorted(table[:, 0], np.arange(len(held["ideal"]) + 1))
        places = np.concatenate([low + best(table[low:high], options.depth) for low, high in zip(edges, edges[1:]) if high > low])
        chunk_tokens, query_tokens = Tokens.of(tokens, judged["chunks"], CROSS_TOKENS), Tokens.of(tokens, judged["queries"], QUERY_TOKENS)
        asked, chunks = table[places, AT["query"]].astype(int), table[places, AT["chunk"]].astype(int)
        table[:, AT["logit"]] = np.nan
        table[places, AT["logit"]] = score(cross, query_tokens, asked, chunk_tokens, chunks, CROSS_TOKENS)
        np.savez_compressed(f"{options.out}/{name}.npz", **held)
        log(name, len(places), "read")


if __name__ == "__main__":
    main()
