"""An experiment: does a reader of answer spans beat the sentence that the reranker likes best?

Usage: python training/reader.py WORK START CROSS XQUAD HANDBOOK [--steps 700] [--frozen] …
XQUAD is a folder with xquad.LANGUAGE.json (CC BY-SA 4.0), HANDBOOK that of questions.jsonl. A head of two numbers a token (where
the answer begins, where it ends; both at the first token: no answer) is put on CROSS, a trained cross-encoder: on its trunk as
it is with --frozen, else trained along with it. Trained on three quarters of the articles in the languages that the
cross-encoder was trained on, asked about the others in languages that neither knows; and about the handbook.
"""
import argparse
import json
import random
import re

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from common import checkpoint, cross_encoder, log, read_json
from descent import add_arguments, descend
from model import DEVICE, WIDTH, Encoder
from teach import score
from tokens import Tokens, pairs, tokenizer

TRAINED = ("en", "de", "es", "ro", "tr", "vi")
MOST_TOKENS, MOST_SPAN = 512, 40
SENTENCE = re.compile(r"[^.!?。！？;\n]*(?:[.!?。！？;\n]+(?=\s|$)|[。！？\n]+|.(?=$))", re.S)


class Reader(nn.Module):
    def __init__(self, weights, frozen):
        super().__init__()
        self.encoder, self.ends, self.frozen = Encoder(weights, 0.0 if frozen else 0.1), nn.Linear(WIDTH, 2), frozen
        self.encoder.requires_grad_(not frozen)

    def forward(self, packed):
        """Of every sequence, each token's logits of being the first and the last; those of the question count for nothing."""
        hidden = self.encoder(packed).float()
        logits = self.ends(hidden.detach() if self.frozen else hidden)
        last = packed.place == packed.lengths[packed.owner] - 1
        allowed = ((packed.kinds == 1) & ~last) | (packed.place == 0)
        wide = torch.full((packed.count, packed.longest, 2), -1e4, device=DEVICE)
        return wide.index_put((packed.owner, packed.place), torch.where(allowed[:, None], logits, -1e4)).unbind(-1)


class Questions:
    """Questions about paragraphs: tokens of both, and the answers by character and by token."""

    def __init__(self, path, tokens, articles, every=1):
        self.paragraphs, self.asked = [], []
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["data"]
        for article in articles:
            first = len(self.paragraphs)
            for paragraph in found[article]["paragraphs"]:
                self.paragraphs.append(paragraph["context"])
                for question in paragraph["qas"]:
                    answer = question["answers"][0]
                    span = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                    self.asked.append((question["question"], len(self.paragraphs) - 1, span, (first, first + len(found[article]["paragraphs"]))))
        self.asked = self.asked[::every]
        encoded = tokens.encode_batch(self.paragraphs, add_special_tokens=False)
        self.offsets = [one.offsets for one in encoded]
        self.tokens = Tokens.of(tokens, self.paragraphs, MOST_TOKENS)
        self.questions = Tokens.of(tokens, [asked[0] for asked in self.asked], 64)

    def span(self, at):
        """The first and the last token of an answer; nothing where the paragraph is cut before it."""
        begin, end = self.asked[at][2]
        inside = [place for place, (low, high) in enumerate(self.offsets[self.asked[at][1]]) if low < end and high > begin]
        return (inside[0], inside[-1]) if inside and inside[-1] < MOST_TOKENS - 70 else None


def training_batch(sets, rng, count):
    """Questions of one language, each beside its own paragraph and beside another of the article, which does not answer it."""
    chosen = rng.choice(sets)
    asked, paragraphs, ends = [], [], []
    while len(asked) < count:
        at = rng.randrange(len(chosen.asked))
        span, (_, own, _, near) = chosen.span(at), chosen.asked[at]
        if span is None:
            continue
        before = min(int(chosen.questions.lengths[at]), 64) + 2
        for paragraph, place in ((own, (before + span[0], before + span[1])), (rng.randrange(*near), (0, 0))):
            if place[0] or paragraph != own:
                asked.append(at), paragraphs.append(paragraph), ends.append(place)
    packed = pairs(chosen.questions, np.array(asked), chosen.tokens, np.array(paragraphs), MOST_TOKENS)
    return packed, torch.tensor(ends, device=DEVICE)


@torch.no_grad()
def read(reader, questions, which, passages, chosen):
    """Of each pair the best span's tokens in the passage, and by how much it beats no answer."""
    found = []
    for start in range(0, len(which), 64):
        asked, some = np.array(which[start:start + 64]), np.array(chosen[start:start + 64])
        first, last = reader(pairs(questions, asked, passages, some, MOST_TOKENS))
        none = (first[:, 0] + last[:, 0]).tolist()
        both = (first[:, 1:, None] + last[:, None, 1:]).triu().tril(MOST_SPAN)
        both = both.masked_fill(both == 0, -1e4)
        best = both.flatten(1).max(1)
        for row, (value, place) in enumerate(zip(best.values.tolist(), best.indices.tolist())):
            before = min(int(questions.lengths[asked[row]]), 64) + 1
            found.append((place // both.shape[2] - before, place % both.shape[2] - before, value - none[row]))
    return found


def sentences(text):
    return [(part.start(), part.end()) for part in SENTENCE.finditer(text) if part[0].strip()]


def likest(cross, tokens, questions, texts):
    """The place of the sentence that the reranker likes best, of each question's text."""
    parts = [sentences(text) for text in texts]
    flat = [text[low:high] for text, some in zip(texts, parts) for low, high in some]
    which = np.repeat(np.arange(len(texts)), [len(some) for some in parts])
    logits = score(cross, questions, which, Tokens.of(tokens, flat, 300), np.arange(len(flat)), 384)
    edges = np.searchsorted(which, np.arange(len(texts) + 1))
    return [some[int(logits[low:high].argmax())] for some, low, high in zip(parts, edges, edges[1:])]


def above(right, wrong):
    """How often a right one stands above a wrong one."""
    return float(np.mean(np.array(right)[:, None] > np.array(wrong)[None]))


def overlap(found, truth):
    found, truth = (re.findall(r"\w+", text.lower()) for text in (found, truth))
    shared = sum(min(found.count(word), truth.count(word)) for word in set(found))
    return 2 * shared / max(1, len(found) + len(truth))


def compare(cross, reader, tokens, held, rng, name):
    count = len(held.asked)
    own = [held.asked[at][1] for at in range(count)]
    others = [rng.choice([p for p in range(*held.asked[at][3]) if p != own[at]]) for at in range(count)]
    spans, wrong = (read(reader, held.questions, list(range(count)), held.tokens, chosen) for chosen in (own, others))
    picked = likest(cross, tokens, held.questions, [held.paragraphs[p] for p in own])
    by_score, by_span, exact = [], [], []
    for at, (first, last, _) in enumerate(spans):
        begin, end = held.asked[at][2]
        offsets, middle = held.offsets[own[at]], (begin + end) / 2
        low, high = offsets[min(first, len(offsets) - 1)][0], offsets[min(last, len(offsets) - 1)][1]
        sentence = next((s for s in sentences(held.paragraphs[own[at]]) if s[0] <= (low + high) / 2 < s[1]), (0, 0))
        by_score.append(picked[at][0] <= middle < picked[at][1])
        by_span.append(sentence[0] <= middle < sentence[1])
        exact.append(overlap(held.paragraphs[own[at]][low:high], held.paragraphs[own[at]][begin:end]))
    scores = [score(cross, held.questions, range(count), held.tokens, chosen, 384) for chosen in (own, others)]
    log(f"{name}: {count} questions; sentence holds the answer: by score {np.mean(by_score):.3f}, by span {np.mean(by_span):.3f}; "
        f"words of span and answer {np.mean(exact):.3f}; answered above unanswered: by score {above(*scores):.3f}, "
        f"by span {above([s[2] for s in spans], [s[2] for s in wrong]):.3f}")


def compare_handbook(cross, reader, tokens, judged, truths):
    pages = [[at for at, owner in enumerate(judged["owner"]) if str(owner) in relevant] for relevant in judged["relevant"]]
    texts = ["\n".join(judged["chunks"][at] for at in some) for some in pages]
    asked = Tokens.of(tokens, judged["queries"], 64)
    picked = likest(cross, tokens, asked, texts)
    which = np.repeat(np.arange(len(pages)), [len(some) for some in pages])
    chunks = [at for some in pages for at in some]
    spans = read(reader, asked, which, Tokens.of(tokens, judged["chunks"], MOST_TOKENS), chunks)
    by_score, by_span = [], []
    for at, (low, high) in enumerate(picked):
        by_score.append(overlap(texts[at][low:high], truths[at]))
        first, last, _, chunk = max((span + (chunks[row],) for row, span in enumerate(spans) if which[row] == at), key=lambda s: s[2])
        offsets = tokens.encode(judged["chunks"][chunk], add_special_tokens=False).offsets
        middle = (offsets[min(first, len(offsets) - 1)][0] + offsets[min(last, len(offsets) - 1)][1]) / 2
        text = judged["chunks"][chunk]
        low, high = next((s for s in sentences(text) if s[0] <= middle < s[1]), (0, 0))
        by_span.append(overlap(text[low:high], truths[at]))
    log(f"handbook: {len(by_score)} questions; words of sentence and truth: by score {np.mean(by_score):.3f}, by span {np.mean(by_span):.3f}")


def main():
    arguments = argparse.ArgumentParser()
    for name in ("work", "start", "cross", "xquad", "handbook"):
        arguments.add_argument(name)
    arguments.add_argument("--frozen", action="store_true")
    arguments.add_argument("--languages", nargs="+", default=["en", "zh", "ru", "el"], help="that are asked about")
    arguments.add_argument("--every", type=int, default=1, help="ask every Nth question")
    add_arguments(arguments, rate=5e-5, batch=48, length=2, seed=6)
    options = arguments.parse_args()
    torch.manual_seed(options.seed)
    rng, tokens = random.Random(options.seed), tokenizer(options.start)
    with open(f"{options.xquad}/xquad.en.json", encoding="utf-8") as file:
        articles = list(range(len(json.load(file)["data"])))
    rng.shuffle(articles)
    kept = len(articles) * 3 // 4
    sets = [Questions(f"{options.xquad}/xquad.{language}.json", tokens, articles[:kept]) for language in TRAINED]
    cross, reader = cross_encoder(options.cross), Reader(checkpoint(options.cross), options.frozen).to(DEVICE).train()

    def next_loss():
        packed, ends = training_batch(sets, rng, options.batch)
        found = reader(packed)
        return sum(F.cross_entropy(logits, ends[:, side]) for side, logits in enumerate(found)), lambda: ""

    descend(reader, options, next_loss)
    reader.eval()
    for language in options.languages:
        held = Questions(f"{options.xquad}/xquad.{language}.json", tokens, articles[kept:], options.every)
        compare(cross, reader, tokens, held, random.Random(1), language)
    judged = read_json(f"{options.work}/sets/handbook.json.gz")
    with open(f"{options.handbook}/questions.jsonl", encoding="utf-8") as file:
        truth = {line["question"]: re.sub(r"\[[^\]]*\]", "", line["truth"]) for line in map(json.loads, file)}
    compare_handbook(cross, reader, tokens, judged, [truth[query] for query in judged["queries"]])


if __name__ == "__main__":
    main()
