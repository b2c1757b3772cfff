"""Pairs of 220 tokens on two cores beside ONNX Runtime int8, with MiniLM's layers under a random head: rerank.py [ROUNDS [PAIRS]]."""
import shutil, sys
from common import *
from safetensors.numpy import save_file

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
folder = WORK / "reranker"
folder.mkdir(exist_ok=True)
random = np.random.default_rng(1)
tensors = {name: value for name, value in weights().items() if value.dtype == np.float32}
tensors["pooler.dense.weight"] = random.normal(0, 0.05, (384, 384)).astype(np.float32)
tensors["pooler.dense.bias"] = np.zeros(384, np.float32)
tensors["classifier.weight"] = random.normal(0, 0.05, (1, 384)).astype(np.float32)
tensors["classifier.bias"] = np.zeros(1, np.float32)
save_file(tensors, str(folder / "model.safetensors"))
for name in ("config.json", "tokenizer.json"):
    shutil.copy(MINILM / name, folder / name)

query = "how long is the notice period during the trial"
texts = passages(count, 208)
encoded = tokenizer().encode_batch([(query, text) for text in texts])
print(f"{count} pairs of {np.mean([len(e.ids) for e in encoded]):.0f} tokens, two threads; {rounds} rounds, turn by turn")
_, ints = export()
theirs, ours = Runtime(ints, 2), Ours("reranker", folder, threads=2, cores="0,1")
taken = {}
for turn in range(rounds + 1):
    for batch in (1, 5):
        wall, cpu = time.perf_counter(), processor()
        for at in range(0, count, batch):
            theirs.hidden(encoded[at : at + batch])
        if turn:
            taken.setdefault(f"onnxruntime int8, batch {batch}", []).append((time.perf_counter() - wall, processor() - cpu))
    answer = ours.ask(query=query, passages=texts)
    if turn:
        taken.setdefault("ours", []).append((answer["wall"], answer["cpu"]))
for name, pairs in taken.items():
    walls, cpus = zip(*pairs)
    print(f"{name:28} wall median {1e3 * median(walls):6.0f} ms, best {1e3 * min(walls):6.0f} ms; processor {1e3 * median(cpus):6.0f} ms")
best = lambda index: min(median([p[index] for p in pairs]) for name, pairs in taken.items() if name != "ours")
print(f"ours / onnxruntime: wall {median([p[0] for p in taken['ours']]) / best(0):.2f}, processor {median([p[1] for p in taken['ours']]) / best(1):.2f}")
ours.close()
