"""Fits how likely a hit is relevant, from what the stages say of it: the constants of crates/engine/src/search/calibrate.rs.

Usage: python training/calibrate.py FIT_SCORES [CHECK_SCORES] [--draw SVG] [--late-weight …] …
Every query of the sets has an answer; people also ask what a box cannot answer. So each query also counts, for 0.15, with its
relevant chunks taken away.
"""
import argparse

import numpy as np

import fusion

UNANSWERED, SHOWN, HALF_KEYWORD = 0.15, 20, 8.0
NAMES = ("constant", "cosine", "keyword", "late", "weighed", "cross")


def features(asked, stage, o):
    """What is known of the hits shown, best first, and whether each is relevant."""
    fused, keep = fusion.first_stage(asked, "new")
    weighed = fused if stage == "WITHOUT_LATE" else fusion.with_late(asked, fused, keep, "late_new", o.late_weight, o.late_spread)
    order = weighed
    if stage == "WITH_CROSS":
        order = fusion.with_cross(asked, weighed, o.cross_weight, o.cross_spread)
    shown = np.argsort(-order, kind="stable")[:SHOWN]
    late, logit = asked["late_new"], np.nan_to_num(asked["logit"])
    words = asked["words"]
    columns = [np.ones(len(words)), asked["new"], words / (words + HALF_KEYWORD), late * (stage != "WITHOUT_LATE"), weighed,
               logit * (stage == "WITH_CROSS")]
    return np.stack(columns, 1)[shown], (asked["grade"] > 0)[shown].astype(float)


def without_answer(asked):
    """The same query over a box that lacks what answers it."""
    other = fusion.Asked.__new__(fusion.Asked)
    other.rows, other.trust, other.best = asked.rows[asked["grade"] <= 0], asked.trust, asked.best
    return other if len(other.rows) else None


def fit(x, y, weight, rounds=60, ridge=1e-2):
    """Newton's method for logistic regression."""
    beta = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (p - y)) + ridge * beta
        hessian = (x * (weight * p * (1 - p) + 1e-9)[:, None]).T @ x + ridge * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, gradient)
    return beta


def gathered(sets, stage, o):
    answered, unanswered, tops = ([], [], []), ([], [], []), []
    for asking in sets.values():
        others = [other for other in map(without_answer, asking) if other is not None]
        for kept, some, share in ((answered, asking, 1), (unanswered, others, UNANSWERED)):
            found = [features(asked, stage, o) for asked in some]
            x, y = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
            for part, value in zip(kept, (x, y, np.full(len(y), share * 1000 / len(y)))):  # each set counts the same
                part.append(value)
            if share != 1:
                tops += [f[0][0] for f in found]
    return [np.concatenate(part) for part in answered], [np.concatenate(part) for part in unanswered], np.array(tops)


def bins(p, y, weight):
    """Tenths of the score: the mean score, the share that is relevant, how many hits, and what they weigh."""
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.sum() >= 20:
            mean = lambda values: np.average(values[inside], weights=weight[inside])
            yield mean(p), mean(y), inside.sum(), weight[inside].sum()


def quality(beta, answered, tops):
    x, y, weight = answered
    p = 1 / (1 + np.exp(-x @ beta))
    found = list(bins(p, y, weight))
    error = np.average([abs(score - share) for score, share, *_ in found], weights=[weighs for *_, weighs in found])
    best = 1 / (1 + np.exp(-tops @ beta))
    return (f"calibration error {error:.3f}, Brier {np.average((p - y) ** 2, weights=weight):.3f}, "
            f"best hit without an answer below 0.5 in {np.mean(best < 0.5):.0%}")


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
    arguments = argparse.ArgumentParser()
    arguments.add_argument("fit")
    arguments.add_argument("check", nargs="?")
    for name, value in (("late-weight", 0.4), ("late-spread", 0.5), ("cross-weight", 0.3), ("cross-spread", 8.0)):
        arguments.add_argument(f"--{name}", type=float, default=value)
    arguments.add_argument("--draw", help="where to draw how well the last fit holds: docs/calibration.svg")
    o = arguments.parse_args()
    sets = fusion.read(o.fit)
    check = fusion.read(o.check) if o.check else {}
    for stage in ("WITHOUT_LATE", "WITH_LATE", "WITH_CROSS"):
        answered, unanswered, tops = gathered(sets, stage, o)
        beta = fit(*(np.concatenate([a, u]) for a, u in zip(answered, unanswered)))
        print(f"const {stage}: Fit = Fit {{ " + ", ".join(f"{n}: {b:.2f}" for n, b in zip(NAMES, beta)) + " };")
        print("//   fitted:", quality(beta, answered, tops))
        if o.draw:
            x, y, weight = answered
            draw(o.draw, [(score, share, count) for score, share, count, _ in bins(1 / (1 + np.exp(-x @ beta)), y, weight)])
        if check:
            answered, _, tops = gathered(check, stage, o)
            print("//   on other sets:", quality(beta, answered, tops))


if __name__ == "__main__":
    main()
