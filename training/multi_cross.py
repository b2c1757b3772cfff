"""A cross-encoder for many languages, from quire-multi-1: does it rank better than late interaction alone?

Usage: python training/multi_cross.py data SETS DATA WORK         on a processor: WORK/multi.json.xz
       python training/multi_cross.py train WORK START OUT [--steps N | --seconds N] …
SETS holds the original sets (README.md says which files) and XQuAD's own files, DATA the folder with training/. Trained on the English
domains of DATA, on Italian, Japanese, Arabic and Chinese sets with marked answers, and on questions in one language about a text in
another: every second article of XQuAD in English, Romanian, Turkish and Vietnamese. Judged by every second question of the other
articles, which quire-pick-multi-1 was asked in no language, so that --init may name it. Negatives are the nearest passages by START's
own vectors. START is the folder of quire-multi-1, OUT gets the model as it ships.
"""
import argparse
import glob
import json
import lzma
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import text
from common import checkpoint, log
from descent import add_arguments, descend
from export import whole
from model import DEVICE, CrossEncoder, Encoder, pooled
from tokens import Packed, Tokens, by_budget, pairs, tokenizer
from train_cross import list_loss
from train_pick import export

ENGLISH = ("medquad", "arxiv", "policyqa", "tatqa", "pubmedqa", "cuad", "covidqa", "qed")
PARALLEL = "en ro tr vi".split()
TIMES = {"japanese": 0.3, "medquad": 0.5, "arxiv": 0.6, "cuad": 0.7, "arabic": 3, "italian": 1.5}  # in an epoch; 1 otherwise
JUDGED = "en es de zh ar hi th ru el".split()
CROSSED = (("en", "es"), ("es", "en"), ("en", "zh"), ("zh", "en"), ("de", "es"))  # asked in, written in
PAIR_TOKENS = 288
NEAREST = 30  # passages that negatives are drawn from
CANDIDATES = 20  # passages that are read again
RECALLED = 100  # passages that scores are weighed among


class Gathered:
    def __init__(self):
        self.passages, self.places, self.queries = [], {}, []

    def passage(self, said):
        said = " ".join(said.split())[:2400]
        if said not in self.places:
            self.places[said] = len(self.passages)
            self.passages.append(said)
        return self.places[said]

    def ask(self, name, question, right, also=()):
        """`also`: passages that say the same, and are not wrong."""
        self.queries.append({"set": name, "query": " ".join(question.split()), "right": right, "also": list(also)})


def articles(path):
    """Those of any of the sets that look like SQuAD's: lists of paragraphs with their questions."""
    with open(path, encoding="utf-8") as file:
        return [article["paragraphs"] for article in json.load(file)["data"]]


def squad_style(path):
    return [paragraph for article in articles(path) for paragraph in article]


def crossed(gathered, sets, rng):
    """Every second article of XQuAD: each question in one language, of a paragraph in another."""
    versions = {language: articles(f"{sets}/xquad.{language}.json")[::2] for language in PARALLEL}
    for article in zip(*versions.values()):
        for paragraphs in zip(*article):
            places = [gathered.passage(paragraph["context"].strip("\ufeff \n")) for paragraph in paragraphs]
            for same in zip(*(paragraph["qas"] for paragraph in paragraphs)):
                for asked, written in rng.sample([(a, b) for a in range(len(same)) for b in range(len(same)) if a != b], 3):
                    gathered.ask("crossed", same[asked]["question"], [places[written]], places)


def gather(sets, data, work):
    gathered, judged = Gathered(), {}
    order = [qa["id"] for paragraph in squad_style(f"{sets}/xquad.en.json") for qa in paragraph["qas"]]
    held, unseen = set(order), set(order[1::2])
    for language in JUDGED:
        numbered = [(at % 2, paragraph) for at, article in enumerate(articles(f"{sets}/xquad.{language}.json")) for paragraph in article]
        judged[language] = {"passages": [paragraph["context"].strip("\ufeff \n") for _, paragraph in numbered],
                            "queries": [[qa["question"], at] for at, (odd, paragraph) in enumerate(numbered) if odd for qa in paragraph["qas"]
                                        if qa["id"] in unseen]}
    crossed(gathered, sets, random.Random(1))
    shared = {line["id"]: line["text"] for line in text.read_lines(f"{data}/training/passages.jsonl.gz")}
    for query in text.read_lines(f"{data}/training/queries.jsonl.gz"):
        if query["set"] in ENGLISH:
            gathered.ask(query["set"], query["query"], [gathered.passage(shared[at]) for at in query["positives"]])
    more = [("italian", f"{sets}/squad-it.json"), ("arabic", f"{sets}/arcd-train.json")]
    more += [("japanese", path) for path in sorted(glob.glob(f"{sets}/jaquad/*.json"))]
    more += [("chinese", f"{sets}/{name}.json") for name in ("drcd-dev", "drcd-test", "cmrc-dev")]
    more.append(("spanish", f"{sets}/squad-es.json"))
    for name, path in more:
        for paragraph in squad_style(path):
            if not any(qa["id"] in held for qa in paragraph["qas"]):
                place = gathered.passage(paragraph["context"])
                for qa in paragraph["qas"]:
                    gathered.ask(name, qa["question"], [place])
    log("passages", len(gathered.passages), "queries", len(gathered.queries))
    with lzma.open(f"{work}/multi.json.xz", "wt", encoding="utf-8", preset=1) as file:
        json.dump({"passages": gathered.passages, "queries": gathered.queries, "judged": judged}, file, ensure_ascii=False)


class Embedder:
    """quire-multi-1 as it embeds, or a model like it: its words before the text, its marks around it."""

    def __init__(self, start, made):
        self.model = start if isinstance(start, Encoder) else Encoder(start).to(DEVICE).eval()
        self.marks = made.first, made.separator
        self.before = {role: np.array(made.encode(f"{role}:"), dtype=np.int32) for role in ("query", "passage")}

    def packed(self, tokens, which, role, most=256):
        """These texts with what goes before and around them; `inside` are their own tokens."""
        which, before = np.asarray(which), torch.as_tensor(self.before[role]).to(DEVICE)
        packed = Packed(np.minimum(tokens.lengths[which], most - 2 - len(before)) + 2 + len(before))
        place, last = packed.place, packed.lengths[packed.owner] - 1
        at = torch.as_tensor(tokens.starts[which]).to(DEVICE)[packed.owner] + place - 1 - len(before)
        ids = tokens.ids[at.clamp(0, len(tokens.ids) - 1)].long()
        ids = torch.where(place <= len(before), before.long()[(place - 1).clamp(0, len(before) - 1)], ids)
        packed.ids = torch.where(place == 0, self.marks[0], torch.where(place == last, self.marks[1], ids))
        packed.kinds = torch.zeros_like(packed.ids)
        packed.inside, packed.before = (place > len(before)) & (place < last), len(before)
        return packed

    @torch.no_grad()
    def of(self, tokens, role, most=256, token_vectors=False):
        """Unit vectors of all texts; with `token_vectors`, those of each text's own tokens, too."""
        vectors, each = torch.zeros(len(tokens.lengths), 384, device=DEVICE), [None] * len(tokens.lengths)
        for group in by_budget(np.minimum(tokens.lengths, most)):
            packed = self.packed(tokens, group, role, most)
            hidden = self.model(packed)
            vectors[torch.as_tensor(group).to(DEVICE)] = self.model.centred(pooled(hidden, packed))
            if token_vectors:
                unit = self.model.centred(F.normalize(hidden.float(), dim=1), "tokens")
                own = (packed.lengths - 2 - packed.before).tolist()
                for number, vector in zip(group, unit[packed.inside].split(own)):
                    each[number] = vector
        return (vectors, each) if token_vectors else vectors


def nearest(embedder, queries, asked, passages):
    """For each query, the nearest passages of its own set that do not answer it."""
    owned = {}
    for query in queries:
        owned.setdefault(query["set"], set()).update(query["right"], query["also"])
    there, found = embedder.of(passages, "passage"), [None] * len(queries)
    here = embedder.of(asked, "query", 96)
    for name, own in owned.items():
        own = torch.as_tensor(sorted(own)).to(DEVICE)
        mine = [at for at, query in enumerate(queries) if query["set"] == name]
        for start in range(0, len(mine), 2048):
            part = mine[start:start + 2048]
            near = (here[torch.as_tensor(part).to(DEVICE)] @ there[own].T).topk(min(NEAREST + 8, len(own)), 1).indices
            for at, row in zip(part, own[near].cpu().numpy()):
                found[at] = [int(place) for place in row if place not in queries[at]["right"] + queries[at]["also"]][:NEAREST]
    return found


def ndcg(ranks):
    return 100 * float(np.mean([1 / np.log2(rank + 2) if rank < 10 else 0.0 for rank in ranks]))


def stretched(values, least):
    """From 0 to 1 within the best of each row, but over no smaller range than this: as crates/engine/src/search/fuse.rs has it."""
    best = np.sort(values, 1)[:, -RECALLED:]
    low, high = best[:, :1], best[:, -1:]
    return 1 - (high - values) / np.maximum(high - low, least)


class Judged:
    """One set of XQuAD: which passages a search without the cross-encoder would have it read, and how it scores them."""

    def __init__(self, embedder, made, written, asked):
        self.right = np.array([at for _, at in asked["queries"]])
        self.passages = Tokens.of(made, written["passages"], 300)
        self.asked = Tokens.of(made, [query for query, _ in asked["queries"]], 96)
        there, tokens = embedder.of(self.passages, "passage", token_vectors=True)
        here, asking = embedder.of(self.asked, "query", 96, token_vectors=True)
        self.vector = (here @ there.T).cpu().numpy()
        self.late = np.zeros_like(self.vector)
        whole_text = torch.cat(tokens)
        owner = torch.repeat_interleave(torch.arange(len(tokens), device=DEVICE), torch.tensor([len(one) for one in tokens], device=DEVICE))
        for at, one in enumerate(asking):
            best = torch.full((len(one), len(tokens)), -1.0, device=DEVICE)
            best.scatter_reduce_(1, owner.expand(len(one), -1), one @ whole_text.T, "amax")
            self.late[at] = best.mean(0).cpu().numpy()
        both = 0.4 * stretched(self.vector, 0.3) + 0.6 * stretched(self.late, 0.25)
        self.candidates = np.argsort(-both, axis=1)[:, :CANDIDATES]
        self.before = np.take_along_axis(both, self.candidates, 1)

    def rank(self, scores):
        order = np.argsort(-scores, axis=1)
        found = np.take_along_axis(self.candidates, order, 1) == self.right[:, None]
        return np.where(found.any(1), found.argmax(1), 99)

    @torch.no_grad()
    def read(self, network, marks):
        which = np.repeat(np.arange(len(self.right)), self.candidates.shape[1])
        flat, scores = self.candidates.ravel(), np.zeros(self.candidates.size, np.float32)
        for group in by_budget(self.passages.lengths[flat] + self.asked.lengths[which], 100_000):
            packed = pairs(self.asked, which[group], self.passages, flat[group], PAIR_TOKENS, marks)
            scores[group] = network(packed).float().cpu().numpy()
        return scores.reshape(self.candidates.shape)


def judge(network, judged, marks):
    network.eval()
    shares = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
    means = []
    for name, one in judged.items():
        logits = one.read(network, marks)
        row = [ndcg(one.rank((1 - share) * one.before + share * stretched(logits, 8))) for share in shares]
        means.append(row)
        log(f"{name:6} vectors {ndcg(one.rank(np.take_along_axis(one.vector, one.candidates, 1))):.2f}  "
            + "  ".join(f"{share} {value:.2f}" for share, value in zip(shares, row)))
    log("mean    " + "  ".join(f"{share} {value:.2f}" for share, value in zip(shares, np.mean(means, 0))))
    network.train()


def train(options):
    torch.manual_seed(options.seed)
    with lzma.open(f"{options.work}/multi.json.xz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    start, made, rng = checkpoint(options.start), tokenizer(options.start), random.Random(options.seed)
    queries, marks = [query for query in found["queries"] if query["set"] != "spanish"], (made.first, made.separator)
    passages = Tokens.of(made, found["passages"], 300)
    asked = Tokens.of(made, [query["query"] for query in queries], 96)
    log("tokens", int(passages.lengths.sum()), "queries", len(queries))
    embedder = Embedder(start, made)
    near = nearest(embedder, queries, asked, passages)
    log("negatives found")
    held = found["judged"]
    judged = {language: Judged(embedder, made, one, one) for language, one in held.items()}
    judged |= {f"{one}-{other}": Judged(embedder, made, held[other], held[one]) for one, other in CROSSED if one in held and other in held}
    log("candidates found")
    network, waiting = CrossEncoder(checkpoint(options.init or options.start)).to(DEVICE).train(), []
    if options.init:
        log("as it starts:")
        judge(network, judged, marks)

    def epoch():
        kept = []
        for at, query in enumerate(queries):
            times = TIMES.get(query["set"], 1)
            kept += [at] * (int(times) + (rng.random() < times - int(times)))
        rng.shuffle(kept)
        return kept

    def drawn(at):
        room = options.list - 1
        wrong = rng.sample(near[at], min(len(near[at]), room))
        while len(wrong) < room:
            wrong.append(rng.randrange(len(passages.lengths)))
        return [rng.choice(queries[at]["right"]), *wrong]

    def next_loss():
        while len(waiting) < options.batch:
            waiting.extend(epoch())
        batch = waiting[:options.batch]
        del waiting[:options.batch]
        lists = np.array([drawn(at) for at in batch])
        packed = pairs(asked, np.repeat(batch, options.list), passages, lists.ravel(), PAIR_TOKENS, marks)
        scores = network(packed).view(len(batch), options.list)
        return list_loss(scores), lambda: f"right {(scores.argmax(1) == 0).float().mean().item():.2f}"

    descend(network, options, next_loss)
    tables = {name: value for name, value in start.items() if name.startswith("embeddings.")}
    trained = {**tables, **{name: value.cpu() for name, value in network.named().items()}}
    export(options.start, options.out, trained)
    log("as it ships:")
    judge(CrossEncoder(whole(trained)).to(DEVICE), judged, marks)


def main():
    if sys.argv[1] == "data":
        return gather(*sys.argv[2:])
    arguments = argparse.ArgumentParser()
    for name in ("step", "work", "start", "out"):
        arguments.add_argument(name)
    add_arguments(arguments, rate=1e-4, batch=48, length=8, seed=1)
    train(arguments.parse_args())


if __name__ == "__main__":
    main()
