"""Trains a cross-encoder, the one that ships or its teacher: of ten passages, the right one first.

Usage: python training/train_cross.py WORK START OUT [--taught TAUGHT] [--leave-out validation] [--steps N | --seconds N] …
Listwise softmax over one positive and nine hard negatives, and a little binary loss that keeps the logit's zero where right
and wrong balance. START may be a folder or one checkpoint, such as the teacher's. With --taught, the lists and scores that
teach.py wrote are followed: the teacher's order counts most, and a negative that it puts above the positive is not held
against the student. With --versions, a question that lengthen.py made a version of is asked that way half of the time.
"""
import argparse
import os
import pickle
import random

import numpy as np
import torch
import torch.nn.functional as F

import build_data
import model as models
import text
from common import chosen_queries, corpus, log
from descent import add_arguments, descend
from model import DEVICE, CrossEncoder
from tokens import QUERY_TOKENS, Tokens, pairs, tokenizer

PAIR_TOKENS = 288
SOFTENED = 2.0  # the temperature at which the teacher is followed
FOLLOWED, HARD = 0.7, 0.3  # how much its order counts, and how much the label


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


def read_lists(work):
    with open(f"{work}/lists.pkl", "rb") as file:
        return pickle.load(file)


class Taught:
    """Draws from the lists that a teacher scored."""

    def __init__(self, path, seed):
        found = np.load(path)
        self.place = {int(query): at for at, query in enumerate(found["queries"])}
        self.passages, self.scores, self.rng = found["passages"], found["scores"], np.random.default_rng(seed)

    def draw(self, batch, count):
        rows = np.array([self.place[at] for at in batch])
        others = self.rng.random((len(rows), self.passages.shape[1] - 1)).argsort(1)[:, :count - 1] + 1
        columns = np.concatenate([np.zeros((len(rows), 1), int), others], 1)
        return np.take_along_axis(self.passages[rows], columns, 1), np.take_along_axis(self.scores[rows], columns, 1)


class Versions:
    """Other ways in which questions are asked, in place of them half of the time."""

    def __init__(self, work, folder, queries, query_tokens, seed):
        found = text.read_lines(f"{work}/versions.jsonl.gz")
        more = Tokens.of(tokenizer(folder), [version["query"] for version in found], QUERY_TOKENS)
        self.tokens = query_tokens.followed_by(more)
        self.place = {version["of"]: len(queries) + at for at, version in enumerate(found)}
        self.rng = random.Random(seed)

    def of(self, batch):
        return [self.place[at] if at in self.place and self.rng.random() < 0.5 else at for at in batch]


def list_loss(scores, taught=None):
    """The positive is first in every list."""
    wanted = torch.zeros_like(scores)
    wanted[:, 0] = 1
    counts = torch.ones_like(scores) if taught is None else (taught <= taught[:, :1]).float()
    hard = -F.log_softmax(scores.masked_fill(counts == 0, -1e4), 1)[:, 0].mean()
    binary = 0.1 * F.binary_cross_entropy_with_logits(scores, wanted, counts)
    if taught is None:
        return hard + binary
    follow = F.kl_div(F.log_softmax(scores / SOFTENED, 1), F.softmax(taught / SOFTENED, 1), reduction="batchmean")
    return FOLLOWED * SOFTENED**2 * follow + HARD * hard + binary


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--leave-out", choices=["validation", "none"], default="none")
    arguments.add_argument("--taught", help="what teach.py wrote")
    arguments.add_argument("--versions", help="a folder with the tokenizer, to ask in the words of lengthen.py too")
    add_arguments(arguments, rate=8e-5, batch=64, length=10, seed=1)
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    queries, passage_tokens, query_tokens = corpus(options.work, options.start)
    lists = read_lists(options.work)
    start = models.load(f"{options.start}/start.safetensors" if os.path.isdir(options.start) else options.start)
    network = CrossEncoder(models.load(options.init) if options.init else start).to(DEVICE).train()
    sampler, taught, waiting = Sampler(queries, lists, options.seed), None, []
    if options.taught:
        taught = Taught(options.taught, options.seed)
    versions = Versions(options.work, options.versions, queries, query_tokens, options.seed) if options.versions else None
    epoch = lambda rng: [at for at in chosen_queries(queries, lists, left_out(options.leave_out), rng)
                         if taught is None or at in taught.place]
    log("queries", len(epoch(random.Random(0))))

    def next_loss():
        while len(waiting) < options.batch:
            waiting.extend(epoch(sampler.rng))
        batch, scores_taught = waiting[:options.batch], None
        del waiting[:options.batch]
        if taught:
            drawn, scores_taught = taught.draw(batch, options.list)
            scores_taught = torch.as_tensor(scores_taught).to(DEVICE)
        else:
            drawn = np.array([sampler.draw(at, options.list) for at in batch])
        asked, tokens = (versions.of(batch), versions.tokens) if versions else (batch, query_tokens)
        packed = pairs(tokens, np.repeat(asked, options.list), passage_tokens, drawn.ravel(), PAIR_TOKENS)
        scores = network(packed).view(len(batch), options.list)
        return list_loss(scores, scores_taught), lambda: f"right {(scores.argmax(1) == 0).float().mean().item():.2f}"

    descend(network, options, next_loss)
    models.save(network, start, options.out)
    log("saved", options.out)


if __name__ == "__main__":
    main()
