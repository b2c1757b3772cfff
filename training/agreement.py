"""Do the runtime's paths and PyTorch give the same vectors and scores for the shipped models?

Usage: python training/agreement.py WORK MODELS
Needs `cargo build -p models --release --example measure`. Fifty chunks and queries of the judged sets.
"""
import argparse
import os
import sys

import numpy as np
import torch

from common import cross_encoder, encoder, read_json, vectors
from score_runtime import Running
from teach import score
from tokens import Tokens, tokenizer


def main():
    work, folder = sys.argv[1:3]
    judged = read_json(f"{work}/sets/{'covidqa' if os.path.exists(f'{work}/sets/covidqa.json.gz') else 'cranfield'}.json.gz")
    texts, query = judged["chunks"][:50], judged["queries"][0]
    tokens = tokenizer(f"{folder}/quire-embed-1")
    passages, asked = Tokens.of(tokens, texts, 254), Tokens.of(tokens, [query], 64)
    expected = vectors(encoder(f"{folder}/quire-embed-1"), passages, 256).cpu().numpy()
    logits = score(cross_encoder(f"{folder}/quire-rerank-1"), asked, np.zeros(50, int), passages, np.arange(50), 320)
    for path in ("amx", "vnni", "avxvnni", "avx2", "i8mm", "dotprod", "portable"):
        options = argparse.Namespace(path=path, threads=2)
        try:
            found = np.array(Running("embedder", f"{folder}/quire-embed-1", options).ask(texts=texts, vectors=True)["vectors"])
            scores = np.array(Running("reranker", f"{folder}/quire-rerank-1", options).ask(query=query, passages=texts)["scores"])
        except ValueError:
            print(path, "cannot run here")
            continue
        print(f"{path}: least cosine {(found * expected).sum(1).min():.5f}, largest score difference {np.abs(scores - logits).max():.3f} "
              f"of a spread of {logits.max() - logits.min():.1f}, rank correlation "
              f"{np.corrcoef(np.argsort(np.argsort(scores)), np.argsort(np.argsort(logits)))[0, 1]:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
