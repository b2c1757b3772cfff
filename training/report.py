"""The table of a model card: nDCG@10 of every stage on every set, against plain rank fusion.

Usage: python training/report.py SCORES [--late-weight …] [--late-spread …] [--cross-weight …] [--cross-spread …]
"""
import argparse

import numpy as np

import fusion


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("scores", nargs="+")
    for name, value in (("late-weight", 0.4), ("late-spread", 0.5), ("cross-weight", 0.3), ("cross-spread", 8.0)):
        arguments.add_argument(f"--{name}", type=float, default=value)
    arguments.add_argument("--read", type=int, default=fusion.READ)
    o = arguments.parse_args()
    late = lambda a, model, column: fusion.with_late(a, *fusion.first_stage(a, model), column, o.late_weight, o.late_spread)
    cross = lambda a, weighed: fusion.with_cross(a, weighed, o.cross_weight, o.cross_spread, o.read)
    ways = {
        "BM25": lambda a: a["words"], "old vectors": lambda a: a["old"], "new vectors": lambda a: a["new"],
        "RRF": fusion.rank_fused,
        "hybrid old": lambda a: fusion.first_stage(a, "old")[0], "hybrid new": lambda a: fusion.first_stage(a, "new")[0],
        "late old": lambda a: late(a, "old", "late_old"), "late new": lambda a: late(a, "new", "late_new"),
        "late 2 bits": lambda a: late(a, "new", "late_two"), "late whole": lambda a: late(a, "new", "late_whole"),
        "cross only": lambda a: fusion.with_cross(a, fusion.first_stage(a, "new")[0], 1.0, 1e-6, o.read),
        "old + cross": lambda a: cross(a, fusion.first_stage(a, "old")[0]),
        "late + cross": lambda a: cross(a, late(a, "new", "late_new")),
    }
    print("| set | " + " | ".join(ways) + " | gain | ± |\n|" + "---|" * (len(ways) + 3))
    means = []
    for folder in o.scores:
        for name, asking in fusion.read(folder).items():
            found = {way: np.array([fusion.ndcg(a, order(a)) for a in asking]) for way, order in ways.items()}
            difference = found["late + cross"] - found["RRF"]
            row = [found[way].mean() for way in ways] + [difference.mean()]
            means.append(row)
            error = 1.96 * difference.std() / len(difference) ** 0.5
            print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in row[:-1]) + f" | {row[-1]:+.1f} | {error:.1f} |")
    print("| mean | " + " | ".join(f"{value:.1f}" for value in np.mean(means, 0)[:-1]) + f" | {np.mean(means, 0)[-1]:+.2f} | |")


if __name__ == "__main__":
    main()
