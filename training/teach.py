"""Scores lists of passages with a trained cross-encoder, for smaller models to learn from.

Usage: python training/teach.py WORK START CROSS OUT [--leave-out validation] [--list 12]
"""
import argparse
import random

import numpy as np
import torch

from common import chosen_queries, corpus, cross_encoder, log
from model import DEVICE, compile_steps
from tokens import by_budget, pairs
from train_cross import PAIR_TOKENS, Sampler, left_out, read_lists


@torch.no_grad()
def score(network, query_tokens, which_queries, passage_tokens, which_passages, most=PAIR_TOKENS):
    """The logits of pairs, in their order."""
    which_queries, which_passages = np.asarray(which_queries), np.asarray(which_passages)
    lengths = np.minimum(query_tokens.lengths[which_queries], 64) + passage_tokens.lengths[which_passages]
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
    np.savez(options.out, queries=np.array(asked), passages=drawn, scores=scores.astype(np.float32))
    log(f"the teacher puts the positive first in {np.mean(scores.argmax(1) == 0):.3f}")


if __name__ == "__main__":
    main()
