"""Writes trained checkpoints as they ship: 8-bit layers with one scale an output, and the tables of both models once.

Usage: python training/export.py START EMBEDDER CROSS MODELS [GENERATION [TABLES]]
Writes MODELS/quire-tables-1.safetensors, MODELS/quire-embed-1/ and MODELS/quire-rerank-1/, each with config.json,
tokenizer.json, quire.json and model.safetensors; another GENERATION is another number. Vectors (biases, norms) stay f32. EMBEDDER
and CROSS may be folders that were written so before: they stay as they are. With `-` for EMBEDDER the cross-encoder alone is written, and
its tables where MODELS has none of that number; TABLES is their number where it is another.
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

SETTINGS = {"quire-embed": {"pooling": "mean", "max_tokens": 256}, "quire-rerank": {"max_tokens": 512}}


def config(weights):
    return {"model_type": "bert", "hidden_size": models.WIDTH, "num_hidden_layers": models.layers(weights),
            "num_attention_heads": models.HEADS, "intermediate_size": models.INNER, "max_position_embeddings": 512,
            "vocab_size": 30522, "type_vocab_size": 2, "layer_norm_eps": models.EPSILON, "hidden_act": "gelu"}


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
    generation = sys.argv[5] if len(sys.argv) > 5 else "1"
    os.makedirs(target, exist_ok=True)
    trained = {kind: checkpoint(path) for kind, path in (("quire-embed", embedder), ("quire-rerank", cross)) if path != "-"}
    shared = f"quire-tables-{sys.argv[6] if len(sys.argv) > 6 else generation}.safetensors"
    if "quire-embed" in trained or not os.path.exists(f"{target}/{shared}"):
        write(f"{target}/{shared}", {name: value if value.dtype == torch.int8 else value.float()
                                     for name, value in next(iter(trained.values())).items() if name.startswith("embeddings.")})
    tables = models.load(f"{target}/{shared}")
    for kind, weights in trained.items():
        name = f"{kind}-{generation}"
        for table, value in tables.items():
            assert torch.equal(weights[table].float(), value.float()), f"{name} has another {table}"
        os.makedirs(f"{target}/{name}", exist_ok=True)
        write(f"{target}/{name}/model.safetensors", shipped(weights))
        settings = {"id": name, **SETTINGS[kind], "tables": f"../{shared}"}
        for file, content in (("config.json", config(weights)), ("quire.json", settings)):
            with open(f"{target}/{name}/{file}", "w", encoding="utf-8") as written:
                json.dump(content, written, indent=2)
                written.write("\n")
        shutil.copyfile(f"{start}/tokenizer.json", f"{target}/{name}/tokenizer.json")


if __name__ == "__main__":
    main()
