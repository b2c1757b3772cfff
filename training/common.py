"""What the steps share: the work folder's files, BM25 on the device, embedding, and a log with the time."""
import gzip
import json
import math
import os
import time

import numpy as np
import torch

import text
from model import DEVICE, CrossEncoder, Encoder, load, pooled
from tokens import QUERY_TOKENS, Tokens, by_budget, singles, tokenizer

STARTED = time.time()
PASSAGE_TOKENS = 208  # special ones included: a chunk of 200 and a few more


def log(*words):
    print(f"[{time.time() - STARTED:6.1f}]", *words, flush=True)


def read_json(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def corpus(work, model_folder):
    """Queries, and the tokens of passages and queries. Passages' texts are only read where their tokens are not known."""
    queries = text.read_lines(f"{work}/queries.jsonl.gz")
    made = lambda texts, most: (lambda: Tokens.of(tokenizer(model_folder), texts(), most))
    passage_texts = lambda: [passage["text"] for passage in text.read_lines(f"{work}/passages.jsonl.gz")]
    passage_tokens = Tokens.cached(f"{work}/passages.npz", made(passage_texts, 300))
    query_tokens = Tokens.cached(f"{work}/queries.npz", made(lambda: [query["query"] for query in queries], QUERY_TOKENS))
    return queries, passage_tokens, query_tokens


def checkpoint(path):
    """Weights by name: of a file, or of a folder that ships, with its tables where they are."""
    if not os.path.isdir(path):
        return load(path)
    tables = settings(path).get("tables")
    shared = load(f"{path}/{tables}") if tables else {}
    return {**{name: value for name, value in shared.items() if name.startswith("embeddings.")}, **load(f"{path}/model.safetensors")}


def settings(folder):
    with open(f"{folder}/quire.json", encoding="utf-8") as file:
        return json.load(file)


def encoder(path):
    return Encoder(checkpoint(path)).to(DEVICE).eval()


def cross_encoder(path):
    return CrossEncoder(checkpoint(path)).to(DEVICE).eval()


@torch.no_grad()
def vectors(model, tokens, most=PASSAGE_TOKENS):
    found = torch.zeros(len(tokens.lengths), 384, device=DEVICE)
    for group in by_budget(np.minimum(tokens.lengths, most)):
        packed = singles(tokens, group, most)
        found[torch.as_tensor(group).to(DEVICE)] = model.centred(pooled(model(packed), packed))
    return found


class Bm25:
    """BM25 (k1 1.2, b 0.75) as one product: queries by terms times terms by passages."""

    def __init__(self, texts, stems, language="en"):
        self.stems, self.language = stems, language
        terms, counts, lengths = {}, [], []
        for at, one in enumerate(texts):
            held = {}
            for word in text.words(one, language):
                term = terms.setdefault(stems.get(word, word), len(terms))
                held[term] = held.get(term, 0) + 1
            counts.append(held)
            lengths.append(sum(held.values()))
        self.terms, mean = terms, max(1, sum(lengths) / max(1, len(lengths)))
        frequency = np.zeros(len(terms))
        for held in counts:
            frequency[list(held)] += 1
        idf = np.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        rows = np.repeat(np.arange(len(texts)), [len(held) for held in counts])
        columns = np.fromiter((term for held in counts for term in held), dtype=np.int64, count=len(rows))
        times = np.fromiter((count for held in counts for count in held.values()), dtype=np.float64, count=len(rows))
        norm = 1.2 * (0.25 + 0.75 * np.array(lengths)[rows] / mean)
        values = idf[columns] * times * 2.2 / (times + norm)
        self.weights = torch.zeros(len(terms), len(texts), device=DEVICE)
        self.weights[torch.as_tensor(columns).to(DEVICE), torch.as_tensor(rows).to(DEVICE)] = \
            torch.as_tensor(values).float().to(DEVICE)

    def scores(self, queries):
        places = []
        for at, query in enumerate(queries):
            terms = (self.terms.get(self.stems.get(word, word)) for word in text.words(query, self.language))
            places += [(at, term) for term in terms if term is not None]
        asked = torch.zeros(len(queries), len(self.terms), device=DEVICE)
        if places:
            rows, columns = torch.as_tensor(places).to(DEVICE).T
            asked.index_put_((rows, columns), torch.ones(len(places), device=DEVICE), accumulate=True)
        return asked @ self.weights


def chosen_queries(queries, lists, leave_out, rng):
    """One epoch's queries, shuffled; domains with many dull queries count less."""
    share = {"medquad": 0.8, "man": 0.8, "sentence": 0.8, "keywords": 0.9, "qed": 2.0, "pubmedqa": 1.3}
    kept = []
    for at, query in enumerate(queries):
        if query["domain"] in leave_out or lists["mined"][at] is None:
            continue
        times = share.get(query["domain"], 1.0) * share.get(query["kind"], 1.0)
        kept += [at] * (int(times) + (rng.random() < math.modf(times)[0]))
    rng.shuffle(kept)
    return kept
