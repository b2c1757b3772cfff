"""Fits the score of boxes that a multilingual model fills, for the weights that its quire.json has, with the runtime that ships.

Usage: python training/multi_score.py MEASURE MODEL RERANKER DATA OUT [TABLES]
As multi_fit.py; RERANKER is the folder of the cross-encoder that reads the best twenty. Writes OUT (JSON): quire.json with the three fits.
Each set is left out once, and judged by fits over the others; what is written is fitted over all.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

import calibrate
import fusion
import multi_fit


def read_by(measure, reranker, data, tables, late_weight, late_spread):
    """Adds what the cross-encoder says of the best candidates of each query to the tables."""
    process = subprocess.Popen([measure, "reranker", reranker, "best", str(os.cpu_count())], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    print(process.stdout.readline().strip(), flush=True)
    known = fusion.read(tables)
    for name, texts, queries, *_ in multi_fit.sets(data):
        held = dict(np.load(f"{tables}/{name}.npz"))
        edges = np.searchsorted(held["table"][:, 0], np.arange(len(queries) + 1))
        for asked, query, start in zip(known[name], queries, edges):
            # With its answer left out of the box, another one comes among the best.
            weighed = fusion.with_late(asked, *fusion.first_stage(asked, "new"), "late_new", late_weight, late_spread)
            best = np.argsort(-weighed, kind="stable")[:fusion.READ + int((asked["grade"] > 0).sum())]
            passages = [texts[int(asked["chunk"][at])] for at in best]
            process.stdin.write(json.dumps({"query": query, "passages": passages}) + "\n")
            process.stdin.flush()
            held["table"][start + best, fusion.AT["logit"]] = json.loads(process.stdout.readline())["scores"]
        np.savez_compressed(f"{tables}/{name}.npz", **held)
        print(name, "read", flush=True)
    process.stdin.close()


def main():
    measure, model, reranker, data, out = sys.argv[1:6]
    tables = sys.argv[6] if len(sys.argv) > 6 else out + ".tables"
    with open(f"{model}/quire.json", encoding="utf-8") as file:
        said = json.load(file)
    weighing = said["weighing"]
    fusion.SEMANTIC_WEIGHT, fusion.SEMANTIC_SPREAD = weighing["semantic"]["weight"], weighing["semantic"]["spread"]
    fusion.KEYWORD_SPREAD = weighing["keyword_spread"]
    late, cross = weighing["late"], weighing["cross"]
    if not os.path.isdir(tables):
        multi_fit.gather(measure, model, data, tables)
        read_by(measure, reranker, data, tables, late["weight"], late["spread"])
    options = argparse.Namespace(late_weight=late["weight"], late_spread=late["spread"], cross_weight=cross["weight"],
                                 cross_spread=cross["spread"])
    held = fusion.read(tables)
    both = lambda answered, unanswered: (np.concatenate([a, u]) for a, u in zip(answered, unanswered))
    as_text = lambda beta: ", ".join(f"{name} {value:.2f}" for name, value in zip(calibrate.NAMES, beta))
    for stage in ("WITHOUT_LATE", "WITH_LATE", "WITH_CROSS"):
        answered, unanswered, tops = calibrate.gathered(held, stage, options)
        before = np.array([weighing[stage.lower()][name] for name in calibrate.NAMES])
        beta = calibrate.fit(*both(answered, unanswered))
        print(f"{stage}\n  before: {as_text(before)}: {calibrate.quality(before, answered, tops)}")
        print(f"  fitted: {as_text(beta)}: {calibrate.quality(beta, answered, tops)}")
        for name in held:
            others = {other: asking for other, asking in held.items() if other != name}
            without = calibrate.fit(*both(*calibrate.gathered(others, stage, options)[:2]))
            alone, _, best = calibrate.gathered({name: held[name]}, stage, options)
            print(f"    {name}, left out: {calibrate.quality(without, alone, best)}; before: {calibrate.quality(before, alone, best)}")
        weighing[stage.lower()] = {name: round(float(value), 2) for name, value in zip(calibrate.NAMES, beta)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(said, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
