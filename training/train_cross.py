"""Trains the cross-encoder: of ten passages, the right one first.

Usage: python training/train_cross.py WORK START OUT [--leave-out validation] [--steps N | --seconds N] …
Listwise softmax over one positive and nine hard negatives, and a little binary loss that keeps the logit's zero where right
and wrong balance. With --teacher, the scores of another cross-encoder are followed too.
"""
import argparse
import pickle
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

import build_data
import model as models
from common import chosen_queries, corpus, log, schedule
from model import DEVICE, ON_GPU, Average, CrossEncoder
from tokens import pairs

PAIR_TOKENS = 288


class Sampler:
    """Draws a query's list: its positive first, then hard negatives, then easy ones."""

    def __init__(self, queries, lists, seed):
        self.queries, self.mined, self.by_domain = queries, lists["mined"], lists["by_domain"]
        self.rng = random.Random(seed)
        self.everything = np.concatenate(list(self.by_domain.values()))

    def draw(self, at, count):
        rng, found, query = self.rng, self.mined[at], self.queries[at]
        drawn = [rng.choice(found["positives"])]
        mined = bool(found["words"] or found["vector"])
        given = found["given"]
        drawn += rng.sample(given, min(len(given), 3 if mined else count - 1))
        easy = rng.random() < 0.5
        room = count - len(drawn) - easy
        for side, share in ((found["words"], room // 2), (found["vector"], room - room // 2)):
            left = [place for place in side if place not in drawn]
            drawn += rng.sample(left, max(0, min(len(left), share)))
        # In a scoped domain another document's passage may be right too.
        pool = self.everything if query["scoped"] else self.by_domain[query["domain"]]
        right = set(found["positives"]) | {query.get("but_not", -1)}
        for _ in range(60):
            if len(drawn) >= count:
                break
            place = int(pool[rng.randrange(len(pool))])
            if place not in drawn and place not in right:
                drawn.append(place)
        return (drawn + drawn[1:] * count + drawn * count)[:count]


def left_out(name):
    return build_data.VALIDATION if name == "validation" else ()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("work")
    arguments.add_argument("start")
    arguments.add_argument("out")
    arguments.add_argument("--leave-out", choices=["validation", "none"], default="none")
    arguments.add_argument("--init", help="a checkpoint to go on from; START's otherwise")
    arguments.add_argument("--steps", type=int, default=0)
    arguments.add_argument("--seconds", type=float, default=0, help="as many steps as fit, by the speed of the first")
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--list", type=int, default=10)
    arguments.add_argument("--rate", type=float, default=8e-5)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    _, queries, passage_tokens, query_tokens = corpus(options.work, options.start)
    with open(f"{options.work}/lists.pkl", "rb") as file:
        lists = pickle.load(file)
    start = models.load(f"{options.start}/start.safetensors")
    network = CrossEncoder(models.load(options.init) if options.init else start).to(DEVICE).train()
    if DEVICE == "cuda":
        models.compile_steps()
    matrices = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
                                  lr=options.rate, betas=(0.9, 0.98), **ON_GPU)
    average, sampler = Average(network), Sampler(queries, lists, options.seed)
    steps, step, waiting, marks = options.steps or 10**9, 0, [], []
    log("queries", len(chosen_queries(queries, lists, left_out(options.leave_out), random.Random(0))))
    while step < steps:
        while len(waiting) < options.batch:
            waiting += chosen_queries(queries, lists, left_out(options.leave_out), sampler.rng)
        batch, waiting = waiting[:options.batch], waiting[options.batch:]
        drawn = np.array([sampler.draw(at, options.list) for at in batch])
        packed = pairs(query_tokens, np.repeat(batch, options.list), passage_tokens, drawn.ravel(), PAIR_TOKENS)
        scores = network(packed).view(len(batch), options.list)
        wanted = torch.zeros_like(scores)
        wanted[:, 0] = 1
        loss = F.cross_entropy(scores, torch.zeros(len(batch), dtype=torch.long, device=DEVICE))
        loss = loss + 0.1 * F.binary_cross_entropy_with_logits(scores, wanted)
        rate = options.rate * schedule(step, steps if steps < 10**9 else 3000)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        average.update(step)
        step += 1
        if options.seconds and step in (20, 60):
            loss.item()
            marks.append(time.time())
            if step == 60:
                steps = 60 + int(options.seconds / ((marks[1] - marks[0]) / 40))
                log(f"{40 * options.batch * options.list / (marks[1] - marks[0]):.0f} pairs/s; steps: {steps}")
        if step % 100 == 0 or step == steps or steps < 50:
            right = (scores.argmax(1) == 0).float().mean().item()
            log(f"step {step}/{steps} loss {loss.item():.3f} right {right:.2f} rate {rate:.1e}")
    average.apply()
    models.save(network, start, options.out)
    log("saved", options.out, "after", step, "steps")


if __name__ == "__main__":
    main()
