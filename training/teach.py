"""Scores lists of passages with a trained cross-encoder, for smaller models to learn from.

Usage: python training/teach.py WORK START CROSS OUT [--leave-out validation] [--list 12] [--sure]
With --sure, what a description was taken from is put well above the rest, whatever CROSS thinks of it.
"""
import argparse
import random

import numpy as np
import torch

from common import chosen_queries, corpus, cross_encoder, log
from lengthen import KIND as DESCRIPTION
from model import DEVICE, compile_steps
from tokens import QUERY_TOKENS, by_budget, pairs
from train_cross import PAIR_TOKENS, Sampler, left_out, read_lists

SURE = 3.0  # above the best of the others


@torch.no_grad()
def score(network, query_tokens, which_queries, passage_tokens, which_passages, most=PAIR_TOKENS):
    """The logits of pairs, in their order."""
    which_queries, which_passages = np.asarray(which_queries), np.asarray(which_passages)
    lengths = np.minimum(query_tokens.lengths[which_queries], QUERY_TOKENS) + passage_tokens.lengths[which_passages]
    found = torch.zeros(len(lengths), device=DEVICE)
    for group in by_budget(np.minimum(lengths, most)):
        packed = pairs(query_tokens, which_queries[group], passage_tokens, which_passages[group], most)
        found[torch.as_tensor(group).to(DEVICE)] = network(packed).float()
    return found.cpu().numpy()


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "cross", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--leave-out", choices=["validation", "none"], default="none")
    arguments.add_argument("--list", type=int, default=12)
    arguments.add_argument("--most", type=int, default=10**9, help="queries at most")
    arguments.add_argument("--sure", action="store_true")
    options = arguments.parse_args()
    queries, passage_tokens, query_tokens = corpus(options.work, options.start)
    lists = read_lists(options.work)
    network = cross_encoder(options.cross)
    if DEVICE == "cuda":
        compile_steps()
    rng, sampler = random.Random(5), Sampler(queries, lists, 5)
    asked = list(dict.fromkeys(chosen_queries(queries, lists, left_out(options.leave_out), rng)))[:options.most]
    drawn = np.array([sampler.draw(at, options.list) for at in asked])
    log("scoring", drawn.size, "pairs")
    scores = score(network, query_tokens, np.repeat(asked, options.list), passage_tokens, drawn.ravel())
    scores = scores.reshape(drawn.shape)
    right = np.mean(scores.argmax(1) == 0)
    if options.sure:
        described = np.array([queries[at]["kind"] == DESCRIPTION for at in asked])
        scores[described, 0] = np.maximum(scores[described, 0], scores[described, 1:].max(1) + SURE)
    np.savez(options.out, queries=np.array(asked), passages=drawn, scores=scores.astype(np.float32))
    log(f"the teacher puts the positive first in {right:.3f}")


if __name__ == "__main__":
    main()
