"""Writes trained checkpoints as they ship: 8-bit layers with one scale an output, and the tables of both models once.

Usage: python training/export.py START EMBEDDER CROSS MODELS
Writes MODELS/quire-tables-1.safetensors, MODELS/quire-embed-1/ and MODELS/quire-rerank-1/, each with config.json,
tokenizer.json, quire.json and model.safetensors. Vectors (biases, norms) stay f32. EMBEDDER and CROSS may be folders that were
written so before: they stay as they are.
"""
import hashlib
import json
import os
import shutil
import sys

import torch
from safetensors.torch import save_file

import model as models
from common import checkpoint

CONFIG = {"model_type": "bert", "hidden_size": models.WIDTH, "num_hidden_layers": models.LAYERS,
          "num_attention_heads": models.HEADS, "intermediate_size": models.INNER, "max_position_embeddings": 512,
          "vocab_size": 30522, "type_vocab_size": 2, "layer_norm_eps": models.EPSILON, "hidden_act": "gelu"}
TABLES = "quire-tables-1.safetensors"
SETTINGS = {
    "quire-embed-1": {"id": "quire-embed-1", "pooling": "mean", "max_tokens": 256, "tables": f"../{TABLES}"},
    "quire-rerank-1": {"id": "quire-rerank-1", "max_tokens": 512, "tables": f"../{TABLES}"},
}


def shipped(weights):
    """Layers and head in 8 bits."""
    small = {}
    for name, value in weights.items():
        if name.startswith("embeddings."):
            continue
        if value.ndim == 2 and value.dtype != torch.int8:
            small[name], small[name + ".scale"] = models.quantized(value.float())
        else:
            small[name] = value if value.ndim == 2 else value.float()
    return small


def whole(weights):
    """What the runtime makes of the shipped files: the same numbers, in one checkpoint."""
    tables = {name: value for name, value in weights.items() if name.startswith("embeddings.")}
    return {**tables, **shipped(weights)}


def write(path, tensors):
    save_file({name: value.contiguous() for name, value in sorted(tensors.items())}, path)
    os.chmod(path, 0o644)
    digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
    print(f"{path} {os.path.getsize(path)} bytes sha256 {digest}")


def main():
    start, embedder, cross, target = sys.argv[1:5]
    os.makedirs(target, exist_ok=True)
    trained = {"quire-embed-1": checkpoint(embedder), "quire-rerank-1": checkpoint(cross)}
    tables = {name: value if value.dtype == torch.int8 else value.float()
              for name, value in trained["quire-embed-1"].items() if name.startswith("embeddings.")}
    write(f"{target}/{TABLES}", tables)
    for name, weights in trained.items():
        for table, value in tables.items():
            assert torch.equal(weights[table].float(), value.float()), f"{name} has another {table}"
        os.makedirs(f"{target}/{name}", exist_ok=True)
        write(f"{target}/{name}/model.safetensors", shipped(weights))
        for file, content in (("config.json", CONFIG), ("quire.json", SETTINGS[name])):
            with open(f"{target}/{name}/{file}", "w", encoding="utf-8") as written:
                json.dump(content, written, indent=2)
                written.write("\n")
        shutil.copyfile(f"{start}/tokenizer.json", f"{target}/{name}/tokenizer.json")


if __name__ == "__main__":
    main()
