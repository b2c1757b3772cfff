"""nDCG@10 of brute-force search with our vectors and with float32's, in points of a hundred."""
import csv
from common import *

floats, _ = export()
for name in ("cranfield", "xquad-en"):
    base = DATA / "quality" / name
    need(base / "corpus.jsonl")
    documents, queries = lines(base / "corpus.jsonl"), lines(base / "queries.jsonl")
    judged = {}
    for path in sorted((base / "qrels").iterdir()):
        for row in list(csv.reader(open(path), delimiter="\t"))[1:]:
            judged.setdefault(row[0], {})[row[1]] = int(row[2])
    queries = [q for q in queries if any(grade > 0 for grade in judged.get(q["_id"], {}).values())]
    texts, asked = [d["text"] or d.get("title", "") for d in documents], [q["text"] for q in queries]

    def score(document_vectors, query_vectors):
        total, ids = 0, [d["_id"] for d in documents]
        ranked = np.argsort(-(query_vectors @ document_vectors.T), axis=1, kind="stable")[:, :10]
        for query, best in zip(queries, ranked):
            grades = {i: g for i, g in judged[query["_id"]].items() if g > 0}
            gains = [grades.get(ids[i], 0) / np.log2(place + 2) for place, i in enumerate(best)]
            ideal = [g / np.log2(place + 2) for place, g in enumerate(sorted(grades.values(), reverse=True)[:10])]
            total += sum(gains) / sum(ideal)
        return 100 * total / len(queries)

    # Longer texts are averaged over windows by us and cut by the reference: compare what both see whole.
    encode = tokenizer()
    texts = [encode.decode(encode.encode(t).ids[1:500]) if len(encode.encode(t).ids) > 500 else t for t in texts]
    runtime = Runtime(floats, 2)
    expected = score(runtime.embed(encode.encode_batch(texts), 1), runtime.embed(encode.encode_batch(asked), 1))
    print(f"{name:10} float32 {expected:.2f}")
    for path in ("amx", "vnni"):
        ours = Ours(path=path, threads=2, cores="0,1")
        if ours.loaded["path"] == path:
            embed = lambda t, role: np.array(ours.ask(texts=t, role=role, vectors=True)["vectors"])
            found = score(embed(texts, "passage"), embed(asked, "query"))
            print(f"{name:10} ours {path:5} {found:.2f}  difference {found - expected:+.2f}")
        ours.close()
