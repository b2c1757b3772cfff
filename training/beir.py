"""Writes a judged set of build_data.py in the BEIR layout, so that bench/search/quality.py can ask it through the service.

    python training/beir.py W FOLDER [SET…]          every test set by default

Queries that only make sense inside one document name the documents they are asked among."""

import gzip
import json
import pathlib
import sys

work, folder, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
for path in sorted((work / "sets").glob("*.json.gz")):
    judged = json.load(gzip.open(path, "rt", encoding="utf-8"))
    if judged["name"] not in names if names else judged["purpose"] != "test":
        continue
    documents = {}
    for owner, chunk in zip(judged["owner"], judged["chunks"]):
        documents.setdefault(owner, []).append(chunk)
    to = folder / judged["name"]
    (to / "qrels").mkdir(parents=True, exist_ok=True)
    with open(to / "corpus.jsonl", "w", encoding="utf-8") as file:
        for owner, chunks in documents.items():
            print(json.dumps({"_id": str(owner), "text": "\n\n".join(chunks)}, ensure_ascii=False), file=file)
    with open(to / "queries.jsonl", "w", encoding="utf-8") as queries, open(to / "qrels" / "test.tsv", "w") as grades:
        print("query-id\tcorpus-id\tscore", file=grades)
        for at, (query, relevant) in enumerate(zip(judged["queries"], judged["relevant"])):
            line = {"_id": str(at), "text": query}
            if judged["boxes"]:
                first, last = judged["boxes"][at]
                line["among"] = [str(owner) for owner in documents if first <= owner < last]
            print(json.dumps(line, ensure_ascii=False), file=queries)
            for owner, grade in relevant.items():
                print(f"{at}\t{owner}\t{grade}", file=grades)
    print(f"{judged['name']}: {len(documents)} documents, {len(judged['queries'])} queries")
