"""What the scripts here share: the model's texts and tokens, our program as a process, ONNX Runtime on the same weights."""
import json, os, pathlib, subprocess, sys, time

import numpy as np
from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("QUIRE_DATA", ROOT / "../shared/data"))
FETCHED = ROOT / "models/fetched"
MINILM = FETCHED / "all-minilm-l6-v2"
ARCTIC = FETCHED / "snowflake-arctic-embed-s"
MEASURE = ROOT / "target/release/examples/measure"
WORK = ROOT / "target/bench-models"
WORK.mkdir(parents=True, exist_ok=True)


def need(path):
    if not pathlib.Path(path).exists():
        print(f"skipped: {path} is not there")
        sys.exit(0)


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def tokenizer(folder=MINILM, limit=512):
    found = Tokenizer.from_file(str(folder / "tokenizer.json"))
    found.no_padding()
    found.enable_truncation(limit)
    return found


def passages(count, tokens=200):
    """Texts of about `tokens` tokens, special ones included, cut from real abstracts."""
    need(DATA / "quality/cranfield/corpus.jsonl")
    words, texts, encode = [], [], tokenizer(limit=4096)
    for entry in lines(DATA / "quality/cranfield/corpus.jsonl"):
        words += entry["text"].split()
    at = 0
    while len(texts) < count:
        size = int(tokens * 0.8)
        while len(encode.encode(" ".join(words[at : at + size])).ids) < tokens:
            size += 1
        texts.append(" ".join(words[at : at + size]))
        at += size
    return texts


class Ours:
    """Our program with one loaded model."""

    def __init__(self, kind="embedder", folder=MINILM, path="best", threads=1, cores="0"):
        need(MEASURE)
        command = ["taskset", "-c", cores, MEASURE, kind, folder, path, str(threads)]
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.loaded = json.loads(self.process.stdout.readline())

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def weights():
    from safetensors.numpy import load_file

    need(MINILM / "model.safetensors")
    return load_file(str(MINILM / "model.safetensors"))


def export():
    """MiniLM as ONNX with ONNX Runtime's own fused operators: float32, and int8 quantised per channel."""
    import onnx
    from onnx import TensorProto as T, helper as h, numpy_helper as n
    from onnxruntime.quantization import QuantType, quantize_dynamic

    floats, ints = WORK / "minilm-f32.onnx", WORK / "minilm-int8.onnx"
    if ints.exists():
        return floats, ints
    w, nodes, initial = weights(), [], []

    def const(name, value):
        initial.append(n.from_array(np.ascontiguousarray(value), name))
        return name

    def node(kind, inputs, domain="", **attributes):
        out = f"t{len(nodes)}"
        nodes.append(h.make_node(kind, inputs, [out], name=f"{kind}_{len(nodes)}", domain=domain, **attributes))
        return out

    def norm(x, name, skip=None):
        gain, bias = const(f"{name}.g", w[f"{name}.weight"]), const(f"{name}.b", w[f"{name}.bias"])
        if skip:
            return node("SkipLayerNormalization", [x, skip, gain, bias], "com.microsoft", epsilon=1e-12)
        return node("LayerNormalization", [x, gain, bias], axis=-1, epsilon=1e-12)

    def linear(x, name):
        weight, bias = const(f"{name}.w", w[f"{name}.weight"].T), const(f"{name}.bias", w[f"{name}.bias"])
        return node("Add", [node("MatMul", [x, weight]), bias])

    words = node("Gather", [const("words", w["embeddings.word_embeddings.weight"]), "ids"])
    places = node("Gather", [const("places", w["embeddings.position_embeddings.weight"]), "positions"])
    kinds = node("Gather", [const("kinds", w["embeddings.token_type_embeddings.weight"]), "types"])
    x = norm(node("Add", [node("Add", [words, kinds]), places]), "embeddings.LayerNorm")
    for i in range(6):
        p = f"encoder.layer.{i}"
        parts = [f"{p}.attention.self.{part}" for part in ("query", "key", "value")]
        joined = const(f"{p}.qkv", np.concatenate([w[f"{part}.weight"].T for part in parts], 1))
        bias = const(f"{p}.qkvb", np.concatenate([w[f"{part}.bias"] for part in parts]))
        attended = node("Attention", [x, joined, bias, "mask"], "com.microsoft", num_heads=12)
        x = norm(linear(attended, f"{p}.attention.output.dense"), f"{p}.attention.output.LayerNorm", x)
        inner = node("Gelu", [linear(x, f"{p}.intermediate.dense")], "com.microsoft")
        x = norm(linear(inner, f"{p}.output.dense"), f"{p}.output.LayerNorm", x)
    nodes.append(h.make_node("Identity", [x], ["hidden"]))
    inputs = [h.make_tensor_value_info(name, T.INT64, ["b", "s"]) for name in ("ids", "types", "positions")]
    inputs.append(h.make_tensor_value_info("mask", T.INT32, ["b", "s"]))
    graph = h.make_graph(nodes, "minilm", inputs, [h.make_tensor_value_info("hidden", T.FLOAT, ["b", "s", 384])], initial)
    opsets = [h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)]
    onnx.save(h.make_model(graph, opset_imports=opsets, ir_version=8), str(floats))
    quantize_dynamic(str(floats), str(ints), per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Attention"], extra_options={"MatMulConstBOnly": True, "DefaultTensorType": T.FLOAT})
    return floats, ints


class Runtime:
    """ONNX Runtime with one thread a core it may use."""

    def __init__(self, model, threads=1):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def hidden(self, encoded):
        longest = max(len(e.ids) for e in encoded)
        ids, types, mask = (np.zeros((len(encoded), longest), kind) for kind in (np.int64, np.int64, np.int32))
        for row, e in enumerate(encoded):
            ids[row, : len(e.ids)], types[row, : len(e.ids)], mask[row, : len(e.ids)] = e.ids, e.type_ids, 1
        positions = np.broadcast_to(np.arange(longest), ids.shape).copy()
        return self.session.run(None, {"ids": ids, "types": types, "positions": positions, "mask": mask})[0], mask

    def embed(self, encoded, batch):
        order, vectors = np.argsort([len(e.ids) for e in encoded]), [None] * len(encoded)
        for at in range(0, len(order), batch):
            some = order[at : at + batch]
            hidden, mask = self.hidden([encoded[i] for i in some])
            pooled = (hidden * mask[..., None]).sum(1)
            for i, vector in zip(some, pooled / np.linalg.norm(pooled, axis=1, keepdims=True)):
                vectors[i] = vector
        return np.array(vectors)


def reference(encoded):
    """The forward pass in float32 with nothing but numpy, one text at a time."""
    from math import erf

    w, error = weights(), np.vectorize(erf, otypes=[np.float32])
    linear = lambda x, name: x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    vectors = []
    for e in encoded:
        x = w["embeddings.word_embeddings.weight"][e.ids] + w["embeddings.position_embeddings.weight"][: len(e.ids)]
        x = norm(x + w["embeddings.token_type_embeddings.weight"][e.type_ids], "embeddings.LayerNorm")
        for i in range(6):
            p = f"encoder.layer.{i}"
            q, k, v = (linear(x, f"{p}.attention.self.{part}").reshape(-1, 12, 32).swapaxes(0, 1) for part in ("query", "key", "value"))
            scores = q @ k.swapaxes(1, 2) / np.sqrt(np.float32(32))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            context = (scores / scores.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(-1, 384)
            x = norm(x + linear(context, f"{p}.attention.output.dense"), f"{p}.attention.output.LayerNorm")
            inner = linear(x, f"{p}.intermediate.dense")
            inner = inner * 0.5 * (1 + error(inner / np.sqrt(np.float32(2))))
            x = norm(x + linear(inner, f"{p}.output.dense"), f"{p}.output.LayerNorm")
        mean = x.mean(0)
        vectors.append(mean / np.linalg.norm(mean))
    return np.array(vectors)


def median(values):
    return float(np.median(values))


def processor():
    return time.process_time()
