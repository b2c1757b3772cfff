"""Fits how likely a hit is relevant, and draws how well that holds: docs/calibration.svg.

Usage: python bench/index/calibrate.py FOLDER
FOLDER holds the *.features.tsv that `quality features` wrote (bench/index/README.md). Needs numpy.
Prints the constants of crates/engine/src/search/calibrate.rs.
"""
import collections
import glob
import os
import sys

import numpy as np

# The same weighing as crates/engine/src/search/fuse.rs.
SEMANTIC_WEIGHT, LATE_WEIGHT, SEMANTIC_SPREAD, LATE_SPREAD, HALF_KEYWORD = 0.45, 0.2, 0.4, 0.5, 8.0
# Every query of the sets has an answer; people also ask what a box cannot answer. So each query also counts, for this
# much, with its relevant chunks taken away. It teaches the fit to look at more than how far a hit leads the others.
UNANSWERED = 0.15
SHOWN = 20  # hits of a query that count: what lies below is not shown, and would only teach the fit to say no


def stretched(values, spread):
    lowest, highest = np.nanmin(values), np.nanmax(values)
    return (values - lowest) / max(highest - lowest, spread)


def read(path):
    queries = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        query, _, _, _, cosine, keyword, late, relevant, trust = line.rstrip("\n").split("\t")
        queries[query].append([float(x) for x in (cosine, keyword, late, relevant, trust)])
    return [np.array(rows) for rows in queries.values()]


def features(rows, with_late):
    cosine, keyword, late, relevant, trust = np.nan_to_num(rows).T
    weight = SEMANTIC_WEIGHT * trust[0]
    weighed = weight * stretched(cosine, SEMANTIC_SPREAD) + (1 - weight) * keyword / max(keyword.max(), 1e-6)
    if with_late:
        weight = LATE_WEIGHT * trust[0]
        weighed = (1 - weight) * weighed + weight * stretched(late, LATE_SPREAD)
    order = np.argsort(-weighed)[:SHOWN]
    columns = [np.ones(len(rows)), cosine, keyword / (keyword + HALF_KEYWORD), late if with_late else 0 * late, weighed]
    return np.stack(columns, 1)[order], (relevant > 0)[order].astype(float)


def fit(x, y, weight, rounds=60, ridge=1e-3):
    """Newton's method for logistic regression."""
    beta = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (weight * (p - y)) + ridge * beta
        hessian = (x * (weight * p * (1 - p) + 1e-9)[:, None]).T @ x + ridge * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, gradient)
    return beta


def bins(p, y, weight, count=10):
    edges = np.linspace(0, 1, count + 1)
    for low, high in zip(edges, edges[1:]):
        inside = (p >= low) & (p < high + (high == 1))
        if inside.sum() >= 20:
            yield np.average(p[inside], weights=weight[inside]), np.average(y[inside], weights=weight[inside]), inside.sum()


def draw(path, points):
    def place(x, y):
        return 50 + 300 * x, 350 - 300 * y

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" font-family="sans-serif" font-size="12">',
             '<rect width="400" height="400" fill="white"/>',
             '<path d="M50 350 L350 50" stroke="#bbb" stroke-dasharray="4"/>',
             '<path d="M50 50 V350 H350" stroke="#333" fill="none"/>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(tick, tick)
        parts.append(f'<text x="{x:.0f}" y="368" text-anchor="middle">{tick}</text>')
        parts.append(f'<text x="42" y="{y + 4:.0f}" text-anchor="end">{tick}</text>')
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(p, y) for p, y, _ in points))
    parts.append(f'<polyline points="{corners}" stroke="#1565c0" fill="none" stroke-width="2"/>')
    for p, y, count in points:
        x, y = place(p, y)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#1565c0"><title>{count} hits</title></circle>')
    parts.append('<text x="200" y="390" text-anchor="middle">score</text>')
    parts.append('<text x="14" y="200" text-anchor="middle" transform="rotate(-90 14 200)">share relevant</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def main():
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "*.features.tsv"))) if len(sys.argv) > 1 else []
    if not paths:
        print("no features found; nothing fitted")
        return
    for name, with_late in (("WITHOUT_LATE", False), ("WITH_LATE", True)):
        answered, unanswered = ([], [], []), ([], [], [])
        for path in paths:
            queries = read(path)
            without = [rows[rows[:, 3] <= 0] for rows in queries]
            for kept, rows, share in ((answered, queries, 1), (unanswered, [r for r in without if len(r)], UNANSWERED)):
                found = [features(of_query, with_late) for of_query in rows]
                x, y = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
                # Each set counts the same, however many queries it has.
                for part, value in zip(kept, (x, y, np.full(len(y), share * 1000 / len(y)))):
                    part.append(value)
        x, y, weight = (np.concatenate(part) for part in answered)
        beta = fit(*(np.concatenate([*a, *u]) for a, u in zip(answered, unanswered)))
        p = 1 / (1 + np.exp(-x @ beta))
        names = ("constant", "cosine", "keyword", "late", "weighed")
        print(f"const {name}: Fit = Fit {{ " + ", ".join(f"{n}: {b:.2f}" for n, b in zip(names, beta)) + " };")
        points = list(bins(p, y, weight))
        error = np.average([abs(a - b) for a, b, _ in points], weights=[c for *_, c in points])
        print(f"// mean calibration error {error:.3f}; Brier {np.average((p - y) ** 2, weights=weight):.3f}")
        tops = np.concatenate([features(r, with_late)[0][:1] for path in paths for r in (q[q[:, 3] <= 0] for q in read(path)) if len(r)])
        tops = 1 / (1 + np.exp(-tops @ beta))
        print(f"// the best hit of a query without an answer: median {np.median(tops):.2f}, below 0.5 in {np.mean(tops < 0.5):.0%}")
        for p_, y_, c in points:
            print(f"//   {p_:.2f} -> {y_:.2f} ({c})")
    draw(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "calibration.svg"), points)


if __name__ == "__main__":
    main()
