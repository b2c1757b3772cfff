"""The mean of models that train_multi.py made of the same layers, as it ships.

Usage: python training/average.py WORK START OUT MODEL…        WORK holds multi.json.xz, to judge by
"""
import json
import lzma
import sys

import torch

from common import checkpoint
from export import whole
from model import DEVICE, Encoder, dense
from tokens import tokenizer
from train_multi import export, judge


def layers_of(folder):
    """Layers and centres in f32; tables are those of START."""
    held = checkpoint(folder)
    own = [name for name in held if not name.startswith("embeddings.") and not name.endswith(".scale")]
    return {name: dense(held, name) if held[name].dtype == torch.int8 else held[name].float() for name in own}


def main():
    work, start, out, *models = sys.argv[1:]
    found = [layers_of(folder) for folder in models]
    mean = {name: sum(one[name] for one in found) / len(found) for name in found[0]}
    weights = {name: value for name, value in checkpoint(start).items() if name.startswith("embeddings.")} | mean
    export(start, out, weights)
    with lzma.open(f"{work}/multi.json.xz", "rt", encoding="utf-8") as file:
        held = json.load(file)["judged"]
    judge(Encoder(whole(weights)).to(DEVICE), tokenizer(start), held)


if __name__ == "__main__":
    main()
