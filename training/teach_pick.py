"""What a teacher says of the units that each question of the answer picker may be asked beside.

Usage: python training/teach_pick.py WORK START TEACHER OUT
START gives the tokens, TEACHER is a checkpoint that train_pick.py --teacher wrote. OUT (.npz) gets question, unit and logit, one
after the other, of the English sets: of every right and wrong unit, and of up to BESIDE others of the question's own document.
"""
import random
import sys

import numpy as np
import torch

from common import checkpoint, log
from model import DEVICE, CrossEncoder
from tokens import by_budget, pairs
from train_pick import MULTILINGUAL, PAIR_TOKENS, XQUAD, Picks

BESIDE = 14


@torch.no_grad()
def main():
    work, start, teacher, out = sys.argv[1:5]
    picks, rng, asked, units = Picks(work, start), random.Random(1), [], []
    for at, question in enumerate(picks.questions):
        if question["set"] in MULTILINGUAL + XQUAD:
            continue
        beside = rng.sample(question["beside"], min(len(question["beside"]), BESIDE))
        read = list(dict.fromkeys(question["right"] + question["wrong"] + beside))
        asked += [at] * len(read)
        units += read
    asked, units, network = np.array(asked), np.array(units), CrossEncoder(checkpoint(teacher)).to(DEVICE).eval()
    log("pairs", len(asked))
    scores = np.zeros(len(asked), np.float16)
    for group in by_budget(picks.units.lengths[units] + picks.asked.lengths[asked], 120_000):
        scores[group] = network(pairs(picks.asked, asked[group], picks.units, units[group], PAIR_TOKENS, picks.marks)).half().cpu().numpy()
    np.savez_compressed(out, question=asked.astype(np.int32), unit=units.astype(np.int32), score=scores)
    log("saved", out)


if __name__ == "__main__":
    main()
