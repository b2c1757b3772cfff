"""Trains the embedder's layers such that its token vectors, packed as signs, rank passages, and its one vector stays.

Usage: python training/train_late.py WORK START TAUGHT OUT [--leave-out validation] [--steps N | --seconds N] …
TAUGHT is what teach.py wrote. Three parts of the loss: late interaction over lists and over the batch, the same with the mean
vector, and how far mean vectors moved from the ones the model started with (so that it stays the embedder it was).
Passages' tokens are pooled by word and packed as signs in the forward pass, as crates/engine/src/search/late.rs packs them;
the gradient passes straight through.
"""
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F

import model as models
from common import PASSAGE_TOKENS, corpus
from descent import add_arguments, descend
from model import DEVICE, WIDTH, Encoder, pooled
from tokens import singles
from train_cross import left_out

QUERY_ROWS = 48
VOCABULARY = 30_522


def token_rows(hidden, packed):
    """Inner tokens as padded rows, tokens of the same word in one row, and which rows count."""
    inside = packed.inside
    owner, place, ids = packed.owner[inside], packed.place[inside] - 1, packed.ids[inside]
    # The first place of each word in its text takes the sum of all.
    first = torch.full((packed.count, VOCABULARY), 10_000, dtype=torch.long, device=DEVICE)
    first = first.view(-1).scatter_reduce(0, owner * VOCABULARY + ids, place, "amin")[owner * VOCABULARY + ids]
    unit = F.normalize(hidden[inside].float(), dim=1)
    rows = torch.zeros(packed.count * packed.longest, WIDTH, device=DEVICE).index_add(0, owner * packed.longest + first, unit)
    counts = torch.zeros(packed.count * packed.longest, device=DEVICE, dtype=torch.bool)
    counts[owner * packed.longest + first] = True
    return F.normalize(rows, dim=1).view(packed.count, packed.longest, WIDTH), counts.view(packed.count, packed.longest)


def query_rows(hidden, packed):
    """Inner tokens as padded rows, one a token, and which count."""
    inside = packed.inside & (packed.place <= QUERY_ROWS)
    rows = torch.zeros(packed.count, packed.longest, WIDTH, device=DEVICE)
    counts = torch.zeros(packed.count, packed.longest, dtype=torch.bool, device=DEVICE)
    at = packed.owner[inside], packed.place[inside] - 1
    rows = rows.index_put(at, F.normalize(hidden[inside].float(), dim=1))
    counts[at] = True
    return rows, counts


def signs(rows):
    """What packing leaves of unit rows: signs, scaled such that a row's product with its own signs is 1."""
    packed = torch.sign(rows) / rows.abs().sum(-1, keepdim=True).clamp(min=1e-6)
    return rows + (packed - rows).detach()


def late_scores(query, query_counts, passages, passage_counts):
    """Every query against every passage: the mean over its tokens of the likest token."""
    count, longest = passage_counts.shape
    flat = passages.reshape(count * longest, WIDTH).to(models.PRECISION)
    likeness = (query.reshape(-1, WIDTH).to(models.PRECISION) @ flat.T).view(*query_counts.shape, count, longest)
    likeness = likeness.masked_fill(~passage_counts, -1.0).amax(-1).float()
    weights = query_counts.float()
    return (likeness * weights[..., None]).sum(1) / weights.sum(1).clamp(min=1)[:, None]


def listed(scores, batch, count):
    """Each query's own list out of the scores of the whole batch."""
    own = torch.arange(batch, device=DEVICE)[:, None] * count + torch.arange(count, device=DEVICE)
    return scores.gather(1, own)


def ranking_loss(scores, scale, taught, mask):
    """Follow the teacher within a list; within the batch, put the positive first."""
    batch, count = taught.shape
    own = listed(scores, batch, count) * scale
    follow = F.kl_div(F.log_softmax(own, 1), F.softmax(taught, 1), reduction="batchmean")
    first = torch.arange(batch, device=DEVICE) * count
    whole = (scores * scale).masked_fill(mask, -1e4)
    return follow + 0.2 * F.cross_entropy(own, torch.zeros_like(first)) + 0.3 * F.cross_entropy(whole, first), own


class Lists:
    """Draws batches of what teach.py wrote: queries, passages, the teacher's scores, and which passages answer which query."""

    def __init__(self, taught, queries, leave_out, seed):
        kept = [queries[at]["domain"] not in leave_out for at in taught["queries"]]
        self.asked, self.passages, self.scores = (taught[name][kept] for name in ("queries", "passages", "scores"))
        self.queries, self.rng, self.waiting = queries, random.Random(seed), []

    def draw(self, batch, count):
        while len(self.waiting) < batch:
            self.waiting += self.rng.sample(range(len(self.asked)), len(self.asked))
        chosen, self.waiting = np.array(self.waiting[:batch]), self.waiting[batch:]
        columns = np.array([[0] + self.rng.sample(range(1, self.passages.shape[1]), count - 1) for _ in chosen])
        passages = np.take_along_axis(self.passages[chosen], columns, 1)
        scores = torch.as_tensor(np.take_along_axis(self.scores[chosen], columns, 1)).to(DEVICE)
        asked = [self.queries[self.asked[at]] for at in chosen]
        right = np.stack([np.isin(passages.ravel(), query["positives"] + [query.get("but_not", -1)]) for query in asked])
        right[np.arange(batch), np.arange(batch) * count] = False
        return self.asked[chosen], passages.ravel(), scores, torch.as_tensor(right).to(DEVICE)


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "taught", "out"):
        arguments.add_argument(name)
    add_arguments(arguments, rate=4e-5, batch=64, length=8, seed=4)
    arguments.add_argument("--leave-out", choices=["validation", "none"], default="none")
    arguments.add_argument("--stay", type=float, default=2.0, help="how much the mean vectors are held where they were")
    arguments.add_argument("--mean", type=float, default=0.3, help="how much the mean vectors' ranking counts")
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    queries, passage_tokens, query_tokens = corpus(options.work, options.start)
    before = {name: value.to(DEVICE).float() for name, value in torch.load(f"{options.work}/vectors.pt").items()}
    lists = Lists(np.load(options.taught), queries, left_out(options.leave_out), options.seed)
    start = models.load(f"{options.start}/start.safetensors")
    network = Encoder(models.load(options.init) if options.init else start).to(DEVICE).train()
    scales = torch.nn.Parameter(torch.tensor([30.0, 20.0], device=DEVICE))

    def next_loss():
        asked, passages, teacher, right = lists.draw(options.batch, options.list)
        query_packed = singles(query_tokens, asked, 66)
        passage_packed = singles(passage_tokens, passages, PASSAGE_TOKENS)
        query_hidden, passage_hidden = network(query_packed), network(passage_packed)
        mean_query, mean_passage = pooled(query_hidden, query_packed), pooled(passage_hidden, passage_packed)
        rows, counts = token_rows(passage_hidden, passage_packed)
        late = late_scores(*query_rows(query_hidden, query_packed), signs(rows), counts)
        late_loss, own = ranking_loss(late, scales[0], teacher, right)
        mean_loss, _ = ranking_loss(mean_query @ mean_passage.T, scales[1], teacher, right)
        old_query = before["queries"][torch.as_tensor(asked).to(DEVICE)]
        old_passage = before["passages"][torch.as_tensor(passages).to(DEVICE)]
        moved = (1 - (mean_query * old_query).sum(1)).mean() + (1 - (mean_passage * old_passage).sum(1)).mean()
        say = lambda: (f"late {late_loss.item():.3f} mean {mean_loss.item():.3f} moved {moved.item() / 2:.4f} "
                       f"right {(own.argmax(1) == 0).float().mean().item():.2f} scales {scales.tolist()}")
        return late_loss + options.mean * mean_loss + options.stay * moved, say

    descend(network, options, next_loss, [(scales, 0.05)])
    models.save(network, start, options.out)


if __name__ == "__main__":
    main()
