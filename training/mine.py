"""Finds hard negatives with BM25 and the embedder, and drops those that are likely to be right.

Usage: python training/mine.py WORK START
START holds tokenizer.json and start.safetensors (`prepare.py`). Writes WORK/lists.pkl: for each query its positives and
negatives; and WORK/vectors.pt: the embedder's own vectors of all texts, which the late interaction stays near to.
"""
import pickle
import sys

import numpy as np
import torch

import text
from common import Bm25, corpus, encoder, log, read_json, vectors
from model import DEVICE

KEPT = 16
# A negative likelier than this share of the positive's cosine is dropped; some domains have one right passage by design.
DOUBTFUL = {"squad": 9.0, "xq-de": 9.0, "xq-es": 9.0, "xq-ro": 9.0, "xq-tr": 9.0, "xq-vi": 9.0, "arxiv": 1.05, "pubmedqa": 1.1,
            "medquad": 0.97, "man": 0.97, "man-other": 1.0}


def main():
    work, start = sys.argv[1:3]
    queries, passage_tokens, query_tokens = corpus(work, start)
    passages = text.read_lines(f"{work}/passages.jsonl.gz")
    log("tokens", len(passages), len(queries))
    stems = read_json(f"{work}/stems.json.gz")["en"]
    model = encoder(f"{start}/start.safetensors")
    passage_vectors, query_vectors = vectors(model, passage_tokens), vectors(model, query_tokens)
    torch.save({"passages": passage_vectors.half().cpu(), "queries": query_vectors.half().cpu()}, f"{work}/vectors.pt")
    log("embedded")
    by_domain, asked = {}, {}
    for at, passage in enumerate(passages):
        by_domain.setdefault(passage["domain"], []).append(at)
    for at, query in enumerate(queries):
        asked.setdefault(query["domain"], []).append(at)
    mined, dropped, seen = [None] * len(queries), 0, 0
    for domain, places in asked.items():
        members = np.array(by_domain[domain])
        index = Bm25([passages[at]["text"] for at in members], stems)
        domain_vectors = passage_vectors[torch.as_tensor(members).to(DEVICE)]
        for start_at in range(0, len(places), 512):
            part = places[start_at:start_at + 512]
            cosines = query_vectors[torch.as_tensor(part).to(DEVICE)] @ domain_vectors.T
            most = min(40, len(members))
            by_words = index.scores([queries[at]["query"] for at in part]).topk(most, 1).indices
            by_vector = cosines.topk(most, 1).indices
            cosines = cosines.cpu().numpy()
            for row, at in enumerate(part):
                query = queries[at]
                if query["scoped"]:
                    mined[at] = {"positives": query["positives"], "given": query["negatives"], "words": [], "vector": []}
                    continue
                right = set(query["positives"]) | {query.get("but_not", -1)}
                best = max(cosines[row][np.searchsorted(members, p)] for p in query["positives"])
                most_allowed = DOUBTFUL.get(domain, 1.0) * best
                sides = []
                for side in (by_words[row].tolist(), by_vector[row].tolist()):
                    others = [place for place in side if members[place] not in right]
                    kept = [int(members[place]) for place in others if cosines[row][place] < most_allowed
                            and passages[members[place]].get("taken_from", -2) not in right]
                    seen, dropped = seen + len(others), dropped + len(others) - len(kept)
                    sides.append(kept[:KEPT])
                mined[at] = {"positives": query["positives"], "given": query["negatives"], "words": sides[0], "vector": sides[1]}
        log(domain, len(members), "passages", len(places), "queries")
    for at, found in enumerate(mined):
        if found and not (found["given"] or found["words"] or found["vector"]):
            mined[at] = None
    log(f"{dropped / max(1, seen):.1%} dropped as doubtful;", sum(found is None for found in mined), "queries without negatives")
    with open(f"{work}/lists.pkl", "wb") as file:
        pickle.dump({"mined": mined, "by_domain": {domain: np.array(places) for domain, places in by_domain.items()}}, file)


if __name__ == "__main__":
    main()
