"""Scores the candidates of every judged set: words, vectors and late interaction.

Usage: python training/score.py WORK START EMBEDDER OUT [--sets NAME …] [--purpose test|validation]
For each set writes OUT/NAME.npz, one row a candidate: query, chunk, document, grade, and the scores. `old` is the model that
training started with, `new` the trained EMBEDDER: a checkpoint, or a folder that export.py wrote. read.py adds what the
cross-encoder says. Which weights are best is decided later, from these files alone.
"""
import argparse
import glob
import os

import numpy as np
import torch
import torch.nn.functional as F

from common import Bm25, PASSAGE_TOKENS, encoder, log, read_json, vectors
from model import DEVICE
from packing import packed as pack
from tokens import QUERY_TOKENS, Tokens, by_budget, singles, tokenizer
from train_late import query_rows

RECALLED = 100


@torch.no_grad()
def token_vectors(model, tokens, which):
    """Unit vectors of each text's tokens."""
    found = {}
    for group in by_budget(np.minimum(tokens.lengths[which], PASSAGE_TOKENS)):
        places = np.asarray(which)[group]
        packed = singles(tokens, places, PASSAGE_TOKENS)
        hidden = model.centred(F.normalize(model(packed).float(), dim=1), "tokens").cpu().numpy()
        bounds = packed.bounds.cpu().numpy()
        ids = packed.ids.cpu().numpy()
        for row, place in enumerate(places):
            inner = slice(bounds[row] + 1, bounds[row + 1] - 1)
            found[int(place)] = hidden[inner], ids[inner]
    return found


def padded(rows):
    longest = max([1] + [len(one) for one in rows])
    whole = np.zeros((len(rows), longest, 384), np.float16)
    counts = np.zeros((len(rows), longest), bool)
    for at, one in enumerate(rows):
        whole[at, :len(one)], counts[at, :len(one)] = one, True
    return torch.as_tensor(whole).to(DEVICE), torch.as_tensor(counts).to(DEVICE)


@torch.no_grad()
def late(model, query_tokens, chunk_tokens, candidates, forms):
    """For each form of packing, each query's scores of its candidates."""
    needed = np.unique(np.concatenate(candidates))
    place = np.full(len(chunk_tokens.lengths), -1)
    place[needed] = np.arange(len(needed))
    held = token_vectors(model, chunk_tokens, needed)
    rows, counts = [], []
    for group in np.array_split(np.arange(len(query_tokens.lengths)), max(1, len(query_tokens.lengths) // 256)):
        packed = singles(query_tokens, group, QUERY_TOKENS + 2)
        some, some_counts = query_rows(model(packed), packed)
        some = model.centred(some, "tokens")
        rows += list(some)
        counts += list(some_counts)
    found = {}
    for form, made in forms.items():
        whole, inside = padded([made(*held[int(at)]) for at in needed])
        found[form] = []
        for at, chosen in enumerate(candidates):
            mine = torch.as_tensor(place[chosen]).to(DEVICE)
            query = rows[at][counts[at]].float()
            if not len(query):
                found[form].append(np.zeros(len(chosen)))
                continue
            likeness = torch.einsum("qh,clh->cql", query, whole[mine].float())
            likeness = likeness.masked_fill(~inside[mine][:, None], -1.0)
            found[form].append(likeness.amax(-1).mean(-1).cpu().numpy())
    return found


def trust(ids):
    """As fuse.rs: how far a model may be trusted with a query, from the tokens it makes of it, 32 at a time."""
    repeated = (len(ids) - sum(len(set(ids[at:at + 32])) for at in range(0, len(ids), 32))) / max(1, len(ids))
    return 1 - 0.7 * min(1, max(0, (repeated - 0.25) / 0.2))


def features(judged, start, old, new, stems):
    tokens = tokenizer(start)
    chunk_tokens = Tokens.of(tokens, judged["chunks"], PASSAGE_TOKENS - 2)
    query_tokens = Tokens.of(tokens, judged["queries"], QUERY_TOKENS)
    owner = np.array(judged["owner"])
    words = Bm25(judged["chunks"], stems[judged["language"]], judged["language"]).scores(judged["queries"]).cpu().numpy()
    cosines = {name: (vectors(model, query_tokens) @ vectors(model, chunk_tokens).T).cpu().numpy()
               for name, model in (("old", old), ("new", new))}
    candidates = []
    for at in range(len(judged["queries"])):
        allowed = np.arange(len(owner))
        if judged["boxes"]:
            first, last = judged["boxes"][at]
            allowed = np.flatnonzero((owner >= first) & (owner < last))
        chosen = {int(c) for c in allowed[np.argsort(-words[at][allowed], kind="stable")][:RECALLED] if words[at][c] > 0}
        for name in cosines:
            chosen |= {int(c) for c in allowed[np.argsort(-cosines[name][at][allowed], kind="stable")][:RECALLED]}
        candidates.append(np.array(sorted(chosen)))
    forms = {"signs": pack, "two bits": lambda rows, ids: pack(rows, ids, 40, 2), "whole": lambda rows, ids: rows}
    lates = {"old": late(old, query_tokens, chunk_tokens, candidates, {"signs": pack}),
             "new": late(new, query_tokens, chunk_tokens, candidates, forms)}
    table = []
    for at, chosen in enumerate(candidates):
        relevant = judged["relevant"][at]
        grade = [float(relevant.get(str(owner[c]), 0)) for c in chosen]
        table.append(np.stack([np.full(len(chosen), at), chosen, owner[chosen], grade, words[at][chosen],
                               cosines["old"][at][chosen], cosines["new"][at][chosen], lates["old"]["signs"][at],
                               lates["new"]["signs"][at], lates["new"]["two bits"][at], lates["new"]["whole"][at],
                               np.full(len(chosen), np.nan)], 1))
    ideal = [sorted(relevant.values(), reverse=True) for relevant in judged["relevant"]]
    trusts = [trust(query_tokens.of_text(at).tolist()) for at in range(len(judged["queries"]))]
    return np.concatenate(table).astype(np.float32), ideal, trusts


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "embedder", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--sets", nargs="*")
    arguments.add_argument("--purpose", choices=["test", "validation"])
    options = arguments.parse_args()
    os.makedirs(options.out, exist_ok=True)
    stems = read_json(f"{options.work}/stems.json.gz")
    old, new = encoder(f"{options.start}/start.safetensors"), encoder(options.embedder)
    for path in sorted(glob.glob(f"{options.work}/sets/*.json.gz")):
        judged = read_json(path)
        if (options.sets and judged["name"] not in options.sets) or options.purpose not in (None, judged["purpose"]):
            continue
        table, ideal, trusts = features(judged, options.start, old, new, stems)
        width = max(len(grades) for grades in ideal)
        ideal = np.array([grades + [0] * (width - len(grades)) for grades in ideal], np.float32)
        np.savez_compressed(f"{options.out}/{judged['name']}.npz", table=table, ideal=ideal, trust=np.array(trusts),
                            purpose=judged["purpose"])
        log(judged["name"], len(judged["queries"]), "queries", len(table), "candidates")


if __name__ == "__main__":
    main()
