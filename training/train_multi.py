"""Ten of quire-multi-1's twelve layers, taught by all twelve, by questions with their passages, and by texts in several languages.

Usage: python training/train_multi.py WORK START OUT [--steps N | --seconds N] [--keep LAYERS] …
WORK holds multi.json.xz (multi_cross.py data) and parallel.json.xz (parallel.py), START is the folder of quire-multi-1, OUT gets the model
as it ships: layers in 8 bits, with START's tables and vocabulary. Of multi.json.xz the questions on XQuAD's paragraphs are left out, so that
XQuAD is new to it in every language. Which layers are left out is tried: those without which vectors move least.
"""
import argparse
import itertools
import json
import lzma
import os
import random
import shutil

import numpy as np
import torch
import torch.nn.functional as F

from common import checkpoint, log
from descent import add_arguments, descend
from export import config, shipped, whole, write
from model import DEVICE, Encoder, layers, pooled
from multi_cross import CROSSED, ENGLISH, Embedder, Judged, ndcg, nearest, stretched
from tokens import Tokens, tokenizer
from train_late import late_scores, signs

PASSAGE, QUERY = 224, 48  # tokens
SIDE = 40  # groups of a step that are in several languages
SCALES = 20.0, 30.0  # of cosines: of vectors and of late interaction
LATE = 0.4  # how much late interaction counts in what ships; START's is higher (MODEL_CARD.md)
SKIPPED = 2  # of the nearest passages: some answer the question as well


def without(weights, gone):
    """The checkpoint without these layers."""
    place = {at: number for number, at in enumerate(at for at in range(layers(weights)) if at not in gone)}
    kept = {}
    for name, value in weights.items():
        parts = name.split(".")
        if not name.startswith("encoder.layer."):
            kept[name] = value
        elif int(parts[2]) in place:
            kept[".".join([*parts[:2], str(place[int(parts[2])]), *parts[3:]])] = value
    return kept


@torch.no_grad()
def least_missed(start, made, tokens, count):
    """Which layers to leave out: the vectors of some texts stay nearest to what they were."""
    few = np.arange(min(256, len(tokens.lengths)))
    some = Tokens(np.concatenate([tokens.of_text(at) for at in few]), tokens.lengths[few])
    before, best = Embedder(start, made).of(some, "passage"), (-1.0, ())
    for gone in itertools.combinations(range(1, layers(start) - 1), count):
        found = (Embedder(without(start, gone), made).of(some, "passage") * before).sum(1).mean().item()
        best = max(best, (found, gone))
    log(f"left out: {best[1]}, cosine {best[0]:.4f}")
    return best[1]


class Said:
    """What a model says of a batch: vectors, and rows of token vectors with which of them count."""

    def __init__(self, model, packed):
        hidden = model(packed)
        self.vectors = model.centred(pooled(hidden, packed))
        self.tokens = model.centred(F.normalize(hidden.float(), dim=1), "tokens")[packed.inside]
        owner, place = packed.owner[packed.inside], packed.place[packed.inside] - 1 - packed.before
        self.rows = torch.zeros(packed.count, packed.longest, self.tokens.shape[1], device=DEVICE).index_put((owner, place), self.tokens)
        self.counts = torch.zeros(packed.count, packed.longest, dtype=torch.bool, device=DEVICE)
        self.counts[owner, place] = True


def scores(asked, there):
    """Of every query with every passage: by vectors, and by late interaction as the index packs it."""
    return [SCALES[0] * asked.vectors @ there.vectors.T, SCALES[1] * late_scores(asked.rows, asked.counts, signs(there.rows), there.counts)]


@torch.no_grad()
def judge(model, made, held):
    embedder, means = Embedder(model.eval(), made), []
    names = [(one, one) for one in held] + [pair for pair in CROSSED if set(pair) <= set(held)]
    for asked, written in names:
        one = Judged(embedder, made, held[written], held[asked])
        alone = np.argsort(-one.vector, axis=1)[:, :100]
        both = 0.4 * stretched(one.vector, 0.3) + 0.6 * stretched(one.late, 0.25)
        rank = lambda order: np.where((order == one.right[:, None]).any(1), (order == one.right[:, None]).argmax(1), 99)
        means.append([ndcg(rank(alone)), ndcg(rank(np.argsort(-both, axis=1)[:, :100]))])
        log(f"{asked}-{written}: vectors {means[-1][0]:.2f}, with late interaction {means[-1][1]:.2f}")
    log("mean: vectors {:.2f}, with late interaction {:.2f}".format(*np.mean(means, 0)))
    model.train()


@torch.no_grad()
def with_centres(network, made, tokens):
    """The layers' weights, with what all vectors share now."""
    for kind in ("vector", "tokens"):
        getattr(network, f"centre_{kind}").zero_()
    vectors, each = Embedder(network.eval(), made).of(tokens, "passage", token_vectors=True)
    network.centre_vector.copy_(vectors.mean(0))
    network.centre_tokens.copy_(torch.cat(each).mean(0))
    return {**network.named(), "centre.vector": network.centre_vector, "centre.tokens": network.centre_tokens}


def export(start_folder, out, weights):
    os.makedirs(out, exist_ok=True)
    write(f"{out}/model.safetensors", shipped(weights))
    base = f"../{os.path.basename(os.path.normpath(start_folder))}"
    with open(f"{start_folder}/quire.json", encoding="utf-8") as file:
        said = json.load(file)
    said |= {"id": os.path.basename(os.path.normpath(out)), "tables": f"{base}/model.safetensors", "vocabulary": f"{base}/vocabulary.unigram"}
    said["weighing"]["late"]["weight"] = LATE
    with open(f"{start_folder}/config.json", encoding="utf-8") as file:
        sizes = json.load(file) | {"num_hidden_layers": config(weights)["num_hidden_layers"]}
    for name, content in (("quire.json", said), ("config.json", sizes)):
        with open(f"{out}/{name}", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
    shutil.copyfile(f"{start_folder}/LICENSE", f"{out}/LICENSE")


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--keep", type=int, default=10)
    arguments.add_argument("--labels", type=float, default=0.6, help="how much questions and their passages count")
    arguments.add_argument("--more", nargs="*", default=[], help="sets that are drawn from four times as often")
    add_arguments(arguments, rate=1.5e-4, batch=48, length=4, seed=1)
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    read = lambda name: json.load(lzma.open(f"{options.work}/{name}.json.xz", "rt", encoding="utf-8"))
    found, groups = read("multi"), read("parallel")
    start, made = checkpoint(options.start), tokenizer(options.start)
    queries = [query for query in found["queries"] if query["set"] != "crossed"]
    cached = lambda name, texts, most: Tokens.cached(f"{options.work}/multi-{name}.npz", lambda: Tokens.of(made, texts, most))
    passages = cached("passages", found["passages"], 256)
    asked = cached("queries", [query["query"] for query in found["queries"]], 64)
    asked = Tokens(np.concatenate([asked.of_text(at) for at, query in enumerate(found["queries"]) if query["set"] != "crossed"]),
                   [asked.lengths[at] for at, query in enumerate(found["queries"]) if query["set"] != "crossed"])
    sides = cached("parallel", [text for group in groups for text in group.values()], 224)
    places = np.split(np.arange(len(sides.lengths)), np.cumsum([len(group) for group in groups])[:-1])
    log("passages", len(passages.lengths), "queries", len(queries), "texts in several languages", len(sides.lengths))
    teacher = Embedder(start, made)
    near = nearest(teacher, queries, asked, passages)
    by_set = {}
    for at, query in enumerate(queries):
        by_set.setdefault(query["set"], []).append(at)
    names = list(by_set)
    sizes = [len(by_set[name]) ** 0.7 * (0.3 if name in ENGLISH else 4 if name in options.more else 1) for name in names]
    held = found["judged"]
    log("the twelve layers:")
    judge(teacher.model, made, held)
    teacher.model.eval()
    if options.init:
        begun = checkpoint(options.init)
    else:
        begun = without(start, least_missed(start, made, sides, layers(start) - options.keep))
    network = Encoder(begun | {name: start[name] for name in ("centre.vector", "centre.tokens")}).to(DEVICE).train()

    def next_loss():
        # Wrong passages of the same set are harder to tell apart.
        chosen = rng.choices(names, sizes)[0]
        batch = rng.sample(by_set[chosen], min(options.batch, len(by_set[chosen])))
        lists = []
        for at in batch:
            wrong = near[at][SKIPPED:] or [rng.randrange(len(passages.lengths))]
            lists.append([rng.choice(queries[at]["right"]), *rng.choices(wrong, k=options.list - 1)])
        flat = np.array(lists).ravel()
        right = torch.as_tensor(np.stack([np.isin(flat, queries[at]["right"] + queries[at]["also"]) for at in batch])).to(DEVICE)
        own = torch.arange(len(batch), device=DEVICE) * options.list
        right[torch.arange(len(batch), device=DEVICE), own] = False
        pack = [teacher.packed(asked, batch, "query", QUERY), teacher.packed(passages, flat, "passage", PASSAGE)]
        ours = scores(*(Said(network, one) for one in pack))
        with torch.no_grad():
            theirs = scores(*(Said(teacher.model, one) for one in pack))
        loss, follow = 0.0, 0.0
        for mine, taught in zip(ours, theirs):
            loss = loss + F.cross_entropy(mine.masked_fill(right, -1e4), own)
            follow = follow + F.kl_div(F.log_softmax(mine, 1), F.softmax(taught, 1), reduction="batchmean")
        # Of a passage in two languages, both vectors go to where the twelve layers have them on average.
        pairs = np.array([rng.sample(list(places[at]), 2) for at in rng.sample(range(len(places)), min(SIDE, len(places)))])
        packed = teacher.packed(sides, pairs.ravel(), rng.choice(("query", "passage")), PASSAGE)
        mine = Said(network, packed)
        with torch.no_grad():
            taught = Said(teacher.model, packed)
            middle = F.normalize(taught.vectors.view(-1, 2, taught.vectors.shape[1]).sum(1), dim=1).repeat_interleave(2, 0)
        moved = 1 - (mine.vectors * F.normalize(taught.vectors + middle, dim=1)).sum(1).mean()
        tokens = 1 - (mine.tokens * taught.tokens).sum(1).mean()
        say = lambda: f"labels {loss.item():.3f} follow {follow.item():.3f} moved {moved.item():.4f} tokens {tokens.item():.4f}"
        return options.labels * loss + 0.5 * follow + 4 * moved + 2 * tokens, say

    descend(network, options, next_loss)
    few = np.array(rng.sample(range(len(sides.lengths)), min(300, len(sides.lengths))) + [-1])[:-1]
    plain = np.array(rng.sample(range(len(passages.lengths)), min(300, len(passages.lengths))))
    mixed = Tokens(np.concatenate([sides.of_text(at) for at in few] + [passages.of_text(at) for at in plain]),
                   np.concatenate([sides.lengths[few], passages.lengths[plain]]))
    trained = with_centres(network, made, mixed)
    tables = {name: value for name, value in start.items() if name.startswith("embeddings.")}
    trained = {**tables, **{name: value.detach().cpu() for name, value in trained.items()}}
    export(options.start, options.out, trained)
    log("as it ships:")
    judge(Encoder(whole(trained)).to(DEVICE), made, held)


if __name__ == "__main__":
    main()
