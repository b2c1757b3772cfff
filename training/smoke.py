"""Runs every step on a handful of passages, on the processor: does the loss fall, does the export load and agree?

Usage: python training/smoke.py FOLDER
Starts from the shipped embedder and takes headings and sections of the repository's own documentation as data, so that nothing
has to be fetched.
"""
import glob
import json
import lzma
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
from build_data import write_json
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
    os.makedirs(f"{folder}/sets", exist_ok=True)
    judged = {"name": "docs", "purpose": "validation", "language": "en", "chunks": [passage["text"] for passage in passages[:40]],
              "owner": list(range(40)), "queries": [query["query"] for query in queries[:6]],
              "relevant": [{at: 1} for at in range(6)], "boxes": None}
    write_json(f"{folder}/sets/docs.json.gz", judged)
    return len(passages[:80])


def picks(work):
    """Sections as documents whose first sentence is asked for."""
    documents, questions = [], []
    for passage, query in zip(text.read_lines(f"{work}/passages.jsonl.gz"), text.read_lines(f"{work}/queries.jsonl.gz")):
        parts = text.sentences(passage["text"])[:5]
        documents.append(["", [[part, "", ""] for part in parts]])
        at = len(documents) - 1
        asked = text.keywords(parts[0], random.Random(1)) or query["query"]
        questions.append({"set": "docs", "question": asked, "own": at, "right": [[at, 0]], "doubtful": [],
                          "wrong": [[max(0, at - 1), 0]] if at else [], "group": str(at)})
    with lzma.open(f"{work}/picks.json.xz", "wt", encoding="utf-8") as file:
        json.dump({"documents": documents, "questions": questions}, file)


def many(work):
    """A few sections and their headings in the form of multi_cross.py."""
    passages = [passage["text"] for passage in text.read_lines(f"{work}/passages.jsonl.gz")][:12]
    asked = [query["query"] for query in text.read_lines(f"{work}/queries.jsonl.gz")][:12]
    queries = [{"set": "docs", "query": query, "right": [at], "also": []} for at, query in enumerate(asked)]
    judged = {"en": {"passages": passages, "queries": [[query, at] for at, query in enumerate(asked[:3])]}}
    with lzma.open(f"{work}/multi.json.xz", "wt", encoding="utf-8") as file:
        json.dump({"passages": passages, "queries": queries, "judged": judged}, file)


def teacher(path, width=48, layers=2):
    """Random weights in the teacher's form."""
    torch.manual_seed(1)
    drawn = lambda *shape: torch.randn(shape) * 0.05
    weights = {"embeddings.word_embeddings.weight": drawn(30_522, width), "embeddings.position_embeddings.weight": drawn(512, width),
               "embeddings.token_type_embeddings.weight": torch.zeros(2, width), "encoder.relative": drawn(32, models.HEADS)}
    for norm in ["embeddings.LayerNorm"] + [f"encoder.layer.{at}.{name}" for at in range(layers) for name in models.NORMS]:
        weights |= {f"{norm}.weight": torch.ones(width), f"{norm}.bias": torch.zeros(width)}
    shapes = {"intermediate.dense": (2 * width, width), "output.dense": (width, 2 * width)}
    for name in (f"encoder.layer.{at}.{name}" for at in range(layers) for name in models.LINEAR):
        shape = shapes.get(name.split(".", 3)[3], (width, width))
        weights |= {f"{name}.weight": drawn(*shape), f"{name}.bias": torch.zeros(shape[0])}
    models.save_file(weights, path)


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
    step("vary", work)
    step("lengthen", work)
    step("mine", work, start)
    teacher(f"{work}/teacher.st")
    few = "--batch", 6, "--list", 4
    step("train_cross", work, f"{work}/teacher.st", f"{work}/taught_teacher.st", "--steps", 6, *few)
    step("teach", work, start, f"{work}/taught_teacher.st", f"{work}/taught.npz", "--list", 4, "--most", 20)
    falls("cross-encoder", step("train_cross", work, start, f"{work}/cross.st", "--taught", f"{work}/taught.npz", "--versions", start,
                                "--steps", 21, *few, "--rate", 3e-4))
    falls("late interaction", step("train_late", work, start, f"{work}/taught.npz", f"{work}/late.st", "--steps", 9, "--batch", 6,
                                   "--list", 4, "--rate", 3e-5))
    picks(work)
    cross = f"{ROOT}/models/quire-rerank-1"
    step("train_pick", work, cross, f"{work}/pick_teacher.st", "--teacher", f"{work}/teacher.st", "--steps", 3, *few)
    step("teach_pick", work, cross, f"{work}/pick_teacher.st", f"{work}/picks_taught.npz")
    step("train_pick", work, cross, f"{folder}/models/quire-pick-2", "--taught", f"{work}/picks_taught.npz", "--all", "--steps", 3, *few)
    falls("picker", step("train_pick", work, cross, f"{folder}/models/quire-pick-1", "--steps", 30, *few, "--rate", 2e-4))
    # A new head learns little in so few steps: does it run, and export?
    step("train_pick", work, f"{ROOT}/models/quire-multi-1", f"{folder}/models/quire-pick-multi-1", "--many", "--share", 1, "--steps", 3, *few)
    many(work)
    step("multi_cross", "train", work, f"{ROOT}/models/quire-multi-1", f"{folder}/models/quire-rerank-multi-1", "--steps", 2, *few)
    with lzma.open(f"{work}/parallel.json.xz", "wt", encoding="utf-8") as file:
        json.dump([{"en-US": "How files are kept.", "de": "Wie Dateien aufbewahrt werden."}, {"en-US": "What search weighs.", "es": "Lo que pesa la búsqueda."}], file)
    multi = f"{ROOT}/models/quire-multi-1"
    os.symlink(multi, f"{folder}/models/quire-multi-1")
    step("train_multi", work, multi, f"{folder}/models/quire-multi-2", "--keep", 11, "--steps", 2, *few)
    step("average", work, multi, f"{folder}/models/quire-multi-3", f"{folder}/models/quire-multi-2", f"{folder}/models/quire-multi-2")
    step("export", start, f"{work}/late.st", f"{work}/cross.st", f"{folder}/models")
    agrees(f"{work}/late.st", f"{folder}/models", start)
    step("score", work, start, f"{folder}/models/quire-embed-1", f"{work}/staged")
    step("read", work, start, f"{folder}/models/quire-rerank-1", f"{work}/staged", f"{work}/scores")
    step("report", f"{work}/scores")
    step("calibrate", f"{work}/scores")
    step("longer", work, "docs")
    step("gte_fit", f"{work}/scores", f"{work}/weighing.json")
    print("all steps run")


if __name__ == "__main__":
    main()
