"""The weighing of crates/engine/src/search/fuse.rs, and nDCG@10, over the tables that score.py wrote."""
import glob
import os

import numpy as np

COLUMNS = "query chunk document grade words old new late_old late_new late_two late_whole logit".split()
AT = {name: place for place, name in enumerate(COLUMNS)}
SEMANTIC_WEIGHT, SEMANTIC_SPREAD, KEYWORD_SPREAD, RECALLED, READ = 0.45, 0.4, 0.0, 100, 20


class Asked:
    """One query: its candidates by column, the grades of a perfect order, and how far models are trusted with it."""

    def __init__(self, rows, ideal, trust):
        self.rows, self.trust = rows, float(trust)
        gains = np.sort(ideal)[::-1][:10]
        self.best = (gains / np.log2(np.arange(2, 2 + len(gains)))).sum()

    def __getitem__(self, name):
        return self.rows[:, AT[name]]

    def recalled(self, model):
        """The candidates of both sides, were `model` the embedder."""
        keep = np.zeros(len(self.rows), bool)
        keep[np.argsort(-self[model], kind="stable")[:RECALLED]] = True
        by_words = np.argsort(-self["words"], kind="stable")[:RECALLED]
        keep[by_words[self["words"][by_words] > 0]] = True
        return keep


def read(folder, purpose=None):
    """Sets by name."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/*.npz")):
        held = np.load(path)
        if purpose and str(held["purpose"]) != purpose:
            continue
        table = held["table"]
        edges = np.searchsorted(table[:, 0], np.arange(len(held["ideal"]) + 1))
        found[os.path.basename(path)[:-4]] = [
            Asked(table[edges[at]:edges[at + 1]].astype(float), held["ideal"][at], held["trust"][at])
            for at in range(len(held["ideal"]))]
    return found


def ndcg(asked, weighed):
    """Of the documents in order of their first chunk."""
    order = np.argsort(-weighed, kind="stable")
    documents, grades = asked["document"][order], asked["grade"][order]
    _, first = np.unique(documents, return_index=True)
    gains = grades[np.sort(first)][:10]
    return 100 * (gains / np.log2(np.arange(2, 2 + len(gains)))).sum() / asked.best


def rank_fused(asked, k=60):
    """Plain reciprocal rank fusion of BM25 and the model that training started with."""
    weighed = np.zeros(len(asked.rows))
    for side in ("words", "old"):
        order = np.argsort(-asked[side], kind="stable")[:RECALLED]
        order = order[asked[side][order] > 0] if side == "words" else order
        weighed[order] += 1 / (k + 1 + np.arange(len(order)))
    return weighed


def stretched(values, known, spread):
    """Each known value's place between the lowest and the highest; the lowest where it is not known."""
    if not known.any():
        return np.zeros(len(values))
    low, high = values[known].min(), values[known].max()
    return np.where(known, (values - low) / max(spread, high - low), 0)


def first_stage(asked, model):
    keep = asked.recalled(model)
    words = np.where(keep, asked["words"], 0)
    weight = SEMANTIC_WEIGHT * asked.trust if words.max() > 0 else 1.0
    fused = weight * stretched(asked[model], keep, SEMANTIC_SPREAD) + (1 - weight) * words / max(words.max(), KEYWORD_SPREAD, 1e-9)
    return np.where(keep, fused, -1.0), keep


def with_late(asked, fused, keep, column, weight, spread):
    weight = weight * asked.trust
    late = stretched(asked[column], keep, spread)
    return np.where(keep, (1 - weight) * fused + weight * late, -1.0)


def with_cross(asked, weighed, weight, spread, read=READ, plain=None):
    """The best `read` are read by the cross-encoder and stay above the rest. `plain`: logits through a logistic function of
    this slope instead of being stretched."""
    weight = weight * asked.trust
    best = np.argsort(-weighed, kind="stable")[:read]
    best = best[~np.isnan(asked["logit"][best])]
    logits = asked["logit"][best]
    if len(logits) == 0:
        return weighed
    share = stretched(logits, np.ones(len(logits), bool), spread) if plain is None else 1 / (1 + np.exp(-plain * logits))
    found = weighed.copy()
    found[best] = 1 + (1 - weight) * weighed[best] + weight * share
    return found
