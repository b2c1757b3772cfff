"""quire-multi-2: agreement with float32, load time, memory, and speed beside quire-embed-1, path by path.

    python bench/models/multi.py [MEASURE]   needs numpy, safetensors, tokenizers; MEASURE is target/release/examples/measure
    python bench/models/multi.py --ndcg      nDCG@10 of XQuAD by vectors alone, path by path
    python bench/models/multi.py --record    writes crates/models/src/reference_multi.json for the unit test

Float32 is a forward pass in plain numpy (training/forward.py) over the shipped, unpacked weights."""

import json
import pathlib
import subprocess
import sys

import numpy as np
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "training")]
import vocabulary  # noqa: E402
from e5 import unpacked  # noqa: E402
from forward import Encoder  # noqa: E402

MODEL, ENGLISH = ROOT / "models" / "quire-multi-2", ROOT / "models" / "quire-embed-1"
QUALITY = ROOT.parent / "shared" / "data" / "quality"
RECORDED = ["How long is the notice period during the trial?", "¿Cuánto dura el plazo de preaviso durante la prueba?", "试用期内的通知期限是多久？",
            "Wie lang ist die Kündigungsfrist in der Probezeit?", "ما هي مدة الإشعار خلال فترة التجربة؟", "Каков срок уведомления?", "परीक्षण अवधि", ""]


def unit(row):
    return row / np.linalg.norm(row)


class Float32:
    def __init__(self):
        said, sizes = (json.loads((MODEL / name).read_text()) for name in ("quire.json", "config.json"))
        tables = load_file(str(MODEL / said["tables"]))
        held = {name: value for name, value in tables.items() if name.startswith("embeddings.")} | load_file(str(MODEL / "model.safetensors"))

        def rows(name, at=slice(None)):
            steps, scales = held[name][at], held[name + ".scale"][at]
            return unpacked(steps, scales) if steps.dtype == np.uint8 else steps.astype(np.float32) * scales[:, None]
        values = lambda name: rows(name) if name + ".scale" in held else held[name]
        layers, heads = sizes["num_hidden_layers"], sizes["num_attention_heads"]
        self.model = Encoder(values, layers, heads, words=lambda ids: rows("embeddings.word_embeddings.weight", ids))
        self.tokens, self.centre = vocabulary.Original(MODEL / said["vocabulary"]), held["centre.vector"]

    def vector(self, text, prefix="passage: "):
        ids = [self.tokens.first, *self.tokens.encode(prefix), *self.tokens.encode(text), self.tokens.separator]
        return unit(unit(self.model.hidden(ids).mean(0)) - self.centre)


class Running:
    def __init__(self, measure, folder, path, threads=1):
        command = [str(measure), "embedder", str(folder), path, str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.loaded = json.loads(self.process.stdout.readline() or "{}")

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def record():
    model = Float32()
    texts = [{"text": text, "vector": [round(float(x), 6) for x in model.vector(text)[:48]]} for text in RECORDED]
    path = ROOT / "crates" / "models" / "src" / "reference_multi.json"
    about = {"model": MODEL.name, "made_by": "bench/models/multi.py --record: numpy float32", "numbers": "the first 48 of 384"}
    path.write_text(json.dumps({**about, "texts": texts}, ensure_ascii=False, indent=0) + "\n")


def main(measure):
    model = Float32()
    short = lambda text: len(model.tokens.encode(text)) < 500
    texts = [entry["text"] for language in ("en", "es", "de", "zh") for entry in lines(QUALITY / f"xquad-{language}" / "corpus.jsonl")[:13]
             if short(entry["text"])][:50]
    expected = np.array([model.vector(text) for text in texts])
    # The same passages in English for both models, so that each cuts them as it does.
    english = [entry["text"] for entry in lines(QUALITY / "xquad-en" / "corpus.jsonl")[:48]]
    for path in ("amx", "vnni", "avx2", "portable"):
        running = {folder.name: Running(measure, folder, path) for folder in (MODEL, ENGLISH)}
        if running[MODEL.name].loaded.get("path") != path:
            print(path, "cannot run here")
            continue
        found = np.array(running[MODEL.name].ask(texts=texts, vectors=True)["vectors"])
        cosines = (found * expected).sum(1)
        times = {name: min(one.ask(texts=english)["cpu"] for _ in range(4)) for name, one in running.items()}
        loaded, memory = running[MODEL.name].loaded, running[MODEL.name].ask(memory=True)
        print(f"{path}: cosine least {cosines.min():.5f} mean {cosines.mean():.5f}; loaded in {loaded['load_ms']:.0f} ms "
              f"({loaded['load_cpu_ms']:.0f} of processor), {loaded['resident_mb']:.0f} MB after it, {memory['resident_mb']:.0f} at work; "
              f"{len(english) / times[MODEL.name]:.1f} passages a second and core, {times[ENGLISH.name] / times[MODEL.name]:.2f} of {ENGLISH.name}")
        for one in running.values():
            one.close()
    count = Running(measure, MODEL, "best")
    answer = count.ask(texts=english, count=20)
    print(f"counting tokens: {20 * sum(len(text.encode()) for text in english) / 1e6 / answer['cpu']:.0f} MB a second")
    count.close()


def ndcg(measure):
    """What the paths' numbers cost: all questions of a language over its paragraphs. `portable` is float32."""
    before = {}
    for path in ("portable", "amx", "vnni", "avx2"):
        running = Running(measure, MODEL, path, threads=2)
        if running.loaded.get("path") != path:
            print(path, "cannot run here")
            continue
        for language in ("es", "de", "zh"):
            folder = QUALITY / f"xquad-{language}"
            corpus, queries = lines(folder / "corpus.jsonl"), lines(folder / "queries.jsonl")
            right = dict(line.split("\t")[:2] for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:])
            vectors = lambda texts, role: np.array(running.ask(texts=texts, role=role, vectors=True)["vectors"])
            scores = vectors([one["text"] for one in queries], "query") @ vectors([one["text"] for one in corpus], "passage").T
            wanted = scores[np.arange(len(queries)), [[one["_id"] for one in corpus].index(right[one["_id"]]) for one in queries]]
            ranks = (scores > wanted[:, None]).sum(1)
            found = 100 * float(np.mean(np.where(ranks < 10, 1 / np.log2(ranks + 2), 0)))
            before.setdefault(language, found)
            print(f"{path:8} {language} {found:.2f} ({found - before[language]:+.2f})", flush=True)
        running.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    elif sys.argv[1:2] == ["--ndcg"]:
        ndcg(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target/release/examples/measure")
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/examples/measure")
