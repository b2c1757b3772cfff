"""Makes the starting point of all training: MiniLM with its tables in 8 bits, the rest in half precision.

Usage: python training/prepare.py MODEL_FOLDER START
A model that ships can be a starting point too; it stays in its 8 bits.
"""
import os
import shutil
import sys

from safetensors.torch import load_file, save_file

from common import checkpoint
from model import compact


def main():
    model, start = sys.argv[1:3]
    os.makedirs(start, exist_ok=True)
    ships = os.path.exists(f"{model}/quire.json")
    small = checkpoint(model) if ships else compact(load_file(f"{model}/model.safetensors"))
    save_file({name: value.contiguous() for name, value in small.items()}, f"{start}/start.safetensors")
    shutil.copy(f"{model}/tokenizer.json", start)


if __name__ == "__main__":
    main()
