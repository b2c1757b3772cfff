"""Embeds the texts that `quality texts` wrote, with a BERT-shaped sentence embedder of 384 dimensions.

Usage: python bench/index/embed.py FOLDER MODEL_FOLDER
For each *.jsonl writes a *.bin: for each text the number of tokens (u32), its vector (f32), the token ids (u32) and
the token vectors (f16), little-endian. Needs torch, safetensors and tokenizers.
"""
import glob
import json
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, SIZE, LONGEST = 6, 12, 384, 256


def load(folder):
    weights = {name.removeprefix("bert."): value for name, value in load_file(f"{folder}/model.safetensors").items()}
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return {name: value.float() for name, value in weights.items()}, tokenizer


def forward(w, ids):
    def linear(x, name):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    def norm(x, name):
        return F.layer_norm(x, (SIZE,), w[name + ".weight"], w[name + ".bias"], 1e-12)

    batch, length = ids.shape
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (linear(x, at + "attention.self." + part).view(batch, length, HEADS, -1).transpose(1, 2)
                   for part in ("query", "key", "value"))
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, SIZE)
        x = norm(x + linear(attended, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = F.gelu(linear(x, at + "intermediate.dense"))
        x = norm(x + linear(inner, at + "output.dense"), at + "output.LayerNorm")
    return x


def embed(weights, tokenizer, texts):
    """Texts of the same length go together, so that nothing is padded."""
    encoded = [e.ids if len(e.ids) <= LONGEST else e.ids[:LONGEST - 1] + e.ids[-1:] for e in tokenizer.encode_batch(texts)]
    by_length = {}
    for at, ids in enumerate(encoded):
        by_length.setdefault(len(ids), []).append(at)
    records = [b""] * len(texts)
    for length, places in sorted(by_length.items()):
        for start in range(0, len(places), 8):
            part = places[start:start + 8]
            ids = np.array([encoded[at] for at in part])
            with torch.no_grad():
                x = forward(weights, torch.tensor(ids))
            vectors = F.normalize(x.mean(1), dim=1).numpy().astype("<f4")
            tokens = F.normalize(x, dim=2).numpy().astype("<f2")
            for row, at in enumerate(part):
                records[at] = (struct.pack("<I", length) + vectors[row].tobytes() + ids[row].astype("<u4").tobytes()
                               + tokens[row].tobytes())
    return records


def main():
    folder, model = sys.argv[1:3]
    weights, tokenizer = load(model)
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        texts = [json.loads(line) for line in open(path, encoding="utf-8")]
        with open(path.removesuffix("jsonl") + "bin", "wb") as file:
            file.writelines(embed(weights, tokenizer, texts))
        print(f"{os.path.basename(path)}: {len(texts)} texts", flush=True)


if __name__ == "__main__":
    main()
