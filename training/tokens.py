"""Tokenized texts, and batches of them put together on the device."""
import json
import os

import numpy as np
import torch
from tokenizers import Tokenizer

import vocabulary
from model import DEVICE

CLS, SEP = 101, 102
QUERY_TOKENS = 224  # the runtime reads up to 254 of them beside a passage
SHORT_QUERY = 64  # a longer one takes no room from the passage


class Tokens:
    """Many texts' token ids, one after the other."""

    def __init__(self, ids, lengths):
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.starts = np.concatenate(([0], np.cumsum(self.lengths)))[:-1]
        self.ids = torch.as_tensor(np.asarray(ids, dtype=np.int32)).to(DEVICE)

    @classmethod
    def of(cls, tokenizer, texts, most):
        kept = []
        for at in range(0, len(texts), 20_000):
            for encoded in tokenizer.encode_batch(texts[at:at + 20_000], add_special_tokens=False):
                kept.append(np.array(encoded.ids[:most], dtype=np.int32))
        return cls(np.concatenate(kept) if kept else np.zeros(0), [len(ids) for ids in kept])

    @classmethod
    def cached(cls, path, make):
        if os.path.exists(path):
            found = np.load(path)
            return cls(found["ids"], found["lengths"])
        made = make()
        np.savez(path, ids=made.ids.cpu().numpy(), lengths=made.lengths)
        return made

    def followed_by(self, others):
        return Tokens(torch.cat([self.ids, others.ids]).cpu().numpy(), np.concatenate([self.lengths, others.lengths]))

    def of_text(self, at):
        start = self.starts[at]
        return self.ids[start:start + self.lengths[at]].cpu().numpy()


def tokenizer(folder):
    """Of a folder that ships: a unigram vocabulary, its own or another model's, or BERT's."""
    shared = f"{folder}/quire.json"
    named = json.load(open(shared, encoding="utf-8")).get("vocabulary") if os.path.exists(shared) else None
    unigram = f"{folder}/{named or 'vocabulary.unigram'}"
    if os.path.exists(unigram):
        return vocabulary.Original(unigram)
    made = Tokenizer.from_file(f"{folder}/tokenizer.json")
    made.no_truncation()
    made.no_padding()
    return made


class Packed:
    """Sequences one after the other, without padding."""

    def __init__(self, lengths):
        self.count, self.longest, self.total = len(lengths), int(lengths.max()), int(lengths.sum())
        self.padding = None  # made by the first attention that needs it
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        self.bounds = torch.as_tensor(bounds, dtype=torch.int32).to(DEVICE)
        self.lengths = torch.as_tensor(lengths).to(DEVICE)
        self.owner = torch.repeat_interleave(torch.arange(self.count, device=DEVICE), self.lengths, output_size=self.total)
        self.place = torch.arange(self.total, device=DEVICE) - self.bounds.long()[self.owner]


def singles(texts, which, most):
    """[CLS] text [SEP]"""
    which = np.asarray(which)
    inner = np.minimum(texts.lengths[which], most - 2)
    packed = Packed(inner + 2)
    starts = torch.as_tensor(texts.starts[which]).to(DEVICE)[packed.owner]
    last = packed.lengths[packed.owner] - 1
    inside = (packed.place > 0) & (packed.place < last)
    ids = texts.ids[(starts + packed.place - 1).clamp(0, max(0, len(texts.ids) - 1))].long()
    packed.ids = torch.where(inside, ids, torch.where(packed.place == 0, CLS, SEP))
    packed.kinds = torch.zeros_like(packed.ids)
    packed.inside = inside
    return packed


def pairs(queries, which_queries, passages, which_passages, most, marks=(CLS, SEP)):
    """[CLS] query [SEP] passage [SEP], or other `marks`; `most` tokens where the query is short."""
    first = np.minimum(queries.lengths[which_queries], QUERY_TOKENS)
    second = np.minimum(passages.lengths[which_passages], most - 3 - np.minimum(first, SHORT_QUERY))
    packed = Packed(first + second + 3)
    place, owner = packed.place, packed.owner
    length = torch.as_tensor(first).to(DEVICE)[owner]
    last = packed.lengths[owner] - 1
    query_at = torch.as_tensor(queries.starts[which_queries]).to(DEVICE)[owner] + place - 1
    passage_at = torch.as_tensor(passages.starts[which_passages]).to(DEVICE)[owner] + place - length - 2
    query_ids = queries.ids[query_at.clamp(0, len(queries.ids) - 1)].long()
    passage_ids = passages.ids[passage_at.clamp(0, len(passages.ids) - 1)].long()
    ids = torch.where(place <= length, query_ids, passage_ids)
    ids = torch.where((place == length + 1) | (place == last), marks[1], ids)
    packed.ids = torch.where(place == 0, marks[0], ids)
    packed.kinds = (place > length + 1).long()
    return packed


def by_budget(lengths, budget=120_000):
    """Places in order of length, in groups of about as many tokens as the budget."""
    order, start, taken = np.argsort(lengths, kind="stable"), 0, 0
    for at, place in enumerate(order):
        if at > start and taken + lengths[place] + 3 > budget:
            yield order[start:at]
            start, taken = at, 0
        taken += lengths[place] + 3
    if start < len(order):
        yield order[start:]
