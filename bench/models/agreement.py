"""Cosine of our vectors with float32 on 200 texts, path by path, and of ONNX Runtime int8 beside them."""
from common import *

need(DATA / "quality/xquad-en/corpus.jsonl")
# Longer texts are averaged over windows by us and cut by the reference: compare what both see whole.
whole = lambda e: len(tokenizer(limit=4096).encode(e["text"]).ids) <= 510
texts = [e["text"] for e in filter(whole, lines(DATA / "quality/xquad-en/corpus.jsonl"))][:150] + [e["text"] for e in lines(DATA / "quality/xquad-en/queries.jsonl")][:50]
encoded = tokenizer().encode_batch(texts)
floats, ints = export()
expected = Runtime(floats, 2).embed(encoded, 1)
some = list(range(0, 200, 20))
exact = reference([encoded[i] for i in some])
print(f"numpy float32 against ONNX Runtime float32, {len(some)} texts: least {np.min((exact * expected[some]).sum(1)):.7f}")
rows = [("onnxruntime int8", Runtime(ints, 2).embed(encoded, 1))]
for path in tuple(sys.argv[1].split(",")) if len(sys.argv) > 1 else ("amx", "vnni", "avxvnni", "avx2", "portable"):
    ours = Ours(path=path, threads=2, cores="0,1")
    if ours.loaded["path"] == path:
        rows.append((f"ours {path}", np.array(ours.ask(texts=texts, vectors=True)["vectors"])))
    ours.close()
for name, vectors in rows:
    cosines = (vectors * expected).sum(1) / np.linalg.norm(expected, axis=1)
    print(f"{name:20} least {cosines.min():.6f}  mean {cosines.mean():.6f}")
