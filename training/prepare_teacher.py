"""Makes the teacher's starting point: all-mpnet-base-v2 under the names and word numbers of BERT, in 8 bits.

Usage: python training/prepare_teacher.py MPNET_FOLDER OUT
Its words are BERT's, four places later, so that both models read the same tokens. Matrices become 8-bit steps with one scale a
row: a quarter of the file, and less noise than the first steps of training make.
"""
import sys

import torch
from safetensors.torch import load_file, save_file

from model import quantized

NAMES = {"attention.attn.q": "attention.self.query", "attention.attn.k": "attention.self.key",
         "attention.attn.v": "attention.self.value", "attention.attn.o": "attention.output.dense",
         "attention.LayerNorm": "attention.output.LayerNorm"}
SPECIAL = {100: 3, 101: 0, 102: 2}  # unknown, first and separator
FIRST_WORD, FIRST_POSITION = 4, 2


def renamed(weights):
    """MPNet's tensors under BERT's names."""
    words = weights["embeddings.word_embeddings.weight"][FIRST_WORD:-1].clone()
    for ours, theirs in SPECIAL.items():
        words[ours] = weights["embeddings.word_embeddings.weight"][theirs]
    found = {"embeddings.word_embeddings.weight": words,
             "embeddings.position_embeddings.weight": weights["embeddings.position_embeddings.weight"][FIRST_POSITION:],
             "embeddings.token_type_embeddings.weight": torch.zeros(2, words.shape[1]),
             "encoder.relative": weights["encoder.relative_attention_bias.weight"]}
    for name, value in weights.items():
        if name.startswith("encoder.layer.") or name.startswith("embeddings.LayerNorm"):
            for theirs, ours in NAMES.items():
                name = name.replace(theirs, ours)
            found[name] = value
    return found


def main():
    folder, out = sys.argv[1:3]
    small = {}
    for name, value in renamed(load_file(f"{folder}/model.safetensors")).items():
        if value.ndim == 2 and name != "encoder.relative":
            small[name], small[name + ".scale"] = quantized(value.float())
        else:
            small[name] = value.float()
    save_file({name: value.contiguous() for name, value in small.items()}, out)


if __name__ == "__main__":
    main()
