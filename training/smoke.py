"""Runs every step on a handful of passages, on the processor: does the loss fall, does the export load and agree?

Usage: python training/smoke.py FOLDER
Starts from the shipped embedder and takes headings and sections of the repository's own documentation as data, so that nothing
has to be fetched.
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

import torch

import model as models
import sources
import text
from export import whole
from tokens import Tokens, singles, tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def start_folder(folder):
    """The shipped embedder in one file."""
    os.makedirs(folder, exist_ok=True)
    layers = models.load(f"{ROOT}/models/quire-embed-1/model.safetensors")
    tables = models.load(f"{ROOT}/models/quire-tables-1.safetensors")
    models.save_file({**tables, **layers}, f"{folder}/start.safetensors")
    shutil.copyfile(f"{ROOT}/models/quire-embed-1/tokenizer.json", f"{folder}/tokenizer.json")


def data(folder):
    os.makedirs(folder, exist_ok=True)
    passages, queries = [], []
    for path in sorted(glob.glob(f"{ROOT}/*.md") + glob.glob(f"{ROOT}/docs/*.md") + glob.glob(f"{ROOT}/bench/*/*.md")):
        for heading, body in sources.markdown_sections(sources.read(path)):
            for at, part in enumerate(re.findall(r"(?s).{200,320}?(?:\s|$)", sources.tidy(body))[:6]):
                words = text.keywords(part, random.Random(at))
                if words:
                    queries.append({"domain": "docs", "kind": "head", "query": f"{heading} {words}", "positives": [len(passages)],
                                    "negatives": [], "scoped": False})
                    passages.append({"domain": "docs", "text": part})
    text.write_lines(f"{folder}/passages.jsonl.gz", passages[:80])
    text.write_lines(f"{folder}/queries.jsonl.gz", queries[:80])
    text.write_lines(f"{folder}/stems.json.gz", [{"en": {}}])
    return len(passages[:80])


def step(name, *arguments):
    """Runs a step as its command, and gives what it printed."""
    command = [sys.executable, f"{HERE}/{name}.py", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def falls(name, printed):
    losses = [float(value) for value in re.findall(r"loss ([\d.]+)", printed)]
    third = len(losses) // 3
    first, last = sum(losses[:third]) / third, sum(losses[-third:]) / third
    print(f"{name}: loss {first:.3f} -> {last:.3f} over {len(losses)} steps")
    if not last < first:
        sys.exit(f"{name}: the loss does not fall")


@torch.no_grad()
def agrees(checkpoint, folder, start):
    """The exported embedder gives the vectors of the checkpoint it was made of."""
    layers = models.load(f"{folder}/quire-embed-1/model.safetensors")
    tables = models.load(f"{folder}/{json.load(open(f'{folder}/quire-embed-1/quire.json'))['tables'][3:]}")
    trained = models.load(checkpoint)
    packed = singles(Tokens.of(tokenizer(start), ["how are files kept", "what search weighs"], 60), [0, 1], 64)
    found = [models.pooled(models.Encoder(weights).eval()(packed), packed) for weights in ({**tables, **layers}, whole(trained), trained)]
    near = [float((found[0] * other).sum(1).min()) for other in found[1:]]
    print(f"export: cosine {near[0]:.5f} with what was rounded, {near[1]:.5f} with what was trained")
    if near[0] < 0.99999 or near[1] < 0.99:
        sys.exit("the exported model is another one")


def main():
    folder = sys.argv[1]
    start, work = f"{folder}/start", f"{folder}/work"
    start_folder(start)
    print(data(work), "passages")
    step("mine", work, start)
    falls("cross-encoder", step("train_cross", work, start, f"{work}/cross.st", "--steps", 21, "--batch", 6, "--list", 4, "--rate", 3e-4))
    step("teach", work, start, f"{work}/cross.st", f"{work}/taught.npz", "--list", 4, "--most", 6)
    falls("late interaction", step("train_late", work, start, f"{work}/taught.npz", f"{work}/late.st", "--steps", 9, "--batch", 6,
                                   "--list", 4, "--rate", 3e-5))
    step("export", start, f"{work}/late.st", f"{work}/cross.st", f"{folder}/models")
    agrees(f"{work}/late.st", f"{folder}/models", start)
    print("all steps run")


if __name__ == "__main__":
    main()
