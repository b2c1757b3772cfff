"""Chooses how much the stages count for quire-embed-2, and fits its score, from the tables of gte_stages.py.

Usage: python training/gte_fit.py STAGES OUT
Writes OUT (JSON), which gte.py takes. Kinds of questions (plain, keywords, paragraphs, descriptions, piles) count the same, however
many sets there are of each, and what a stage takes from the one before it counts twice. Left out in turn, each domain is judged with
the weights that the others choose.
"""
import argparse
import json
import sys

import numpy as np

import calibrate
import fusion

KINDS = ("keywords", "asked", "described", "piled")
SEMANTIC = [(keyword, weight, spread) for keyword in (0.0, 10.0, 20.0) for weight in (0.35, 0.45, 0.55, 0.65) for spread in (0.3, 0.45)]
LATE = [(weight, spread) for weight in (0.3, 0.4, 0.5, 0.6, 0.7) for spread in (0.25, 0.4)]
CROSS = [(weight, 8.0) for weight in (0.1, 0.2, 0.3)]  # more would be what the cross-encoder remembers: it was trained on these domains


def kind(name):
    return next((one for one in KINDS if name.endswith(f"-{one}")), "plain")


def domain(name):
    return name.removesuffix(f"-{kind(name)}")


def by_kind(found):
    kinds = {}
    for name, value in found.items():
        kinds.setdefault(kind(name), []).append(value)
    return {one: float(np.mean(values)) for one, values in kinds.items()}


def scored(sets, order):
    return {name: float(np.mean([fusion.ndcg(asked, order(asked)) for asked in asking])) for name, asking in sets.items()}


def worth(found, before=None):
    """The mean of the kinds, less what kinds lose against the stage before."""
    now = by_kind(found)
    lost = sum(min(0.0, now[one] - value) for one, value in by_kind(before).items()) if before else 0.0
    return np.mean(list(now.values())) + lost / len(now)


def first(setting):
    keyword, weight, spread = setting
    fusion.KEYWORD_SPREAD, fusion.SEMANTIC_WEIGHT, fusion.SEMANTIC_SPREAD = keyword, weight, spread
    return lambda asked: fusion.first_stage(asked, "new")


class Grid:
    """What every setting comes to on every set, each stage on top of the best few of the one before."""

    def __init__(self, sets):
        self.hybrid = {setting: scored(sets, lambda asked, stage=first(setting): stage(asked)[0]) for setting in SEMANTIC}
        good = sorted(SEMANTIC, key=lambda setting: -worth(self.hybrid[setting]))[:6]
        self.late, self.cross = {}, {}
        for setting in good:
            stages = {id(asked): first(setting)(asked) for asking in sets.values() for asked in asking}
            for late in LATE:
                order = lambda asked: fusion.with_late(asked, *stages[id(asked)], "late_new", *late)
                self.late[setting, late] = scored(sets, order)
        good = sorted(self.late, key=lambda one: -worth(self.late[one], self.hybrid[one[0]]))[:6]
        for setting, late in good:
            stage = first(setting)
            everything = [asked for asking in sets.values() for asked in asking]
            weighed = {id(asked): fusion.with_late(asked, *stage(asked), "late_new", *late) for asked in everything}
            for cross in CROSS:
                order = lambda asked: fusion.with_cross(asked, weighed[id(asked)], *cross)
                self.cross[setting, late, cross] = scored(sets, order)

    def best(self, but=None):
        """The best setting by all domains but one."""
        some = lambda found: {name: value for name, value in found.items() if domain(name) != but}
        return max(self.cross, key=lambda one: worth(some(self.cross[one]), some(self.late[one[:2]])))


def show(title, found):
    kinds = by_kind(found)
    kinds["mean"] = np.mean(list(kinds.values()))
    print(f"{title:64}" + "  ".join(f"{one} {value:.2f}" for one, value in kinds.items()), flush=True)


def main():
    stages, out = sys.argv[1:3]
    sets = fusion.read(stages)
    show("words", scored(sets, lambda asked: asked["words"]))
    show("vectors", scored(sets, lambda asked: asked["new"]))
    show("late interaction of the candidates", scored(sets, lambda asked: np.where(asked.recalled("new"), asked["late_new"], -9)))
    grid = Grid(sets)
    for setting in sorted(SEMANTIC, key=lambda one: -worth(grid.hybrid[one]))[:8]:
        show(f"hybrid {setting}", grid.hybrid[setting])
    for one in sorted(grid.late, key=lambda one: -worth(grid.late[one], grid.hybrid[one[0]]))[:8]:
        show(f"late {one}", grid.late[one])
    for one in sorted(grid.cross, key=lambda one: -worth(grid.cross[one], grid.late[one[:2]]))[:8]:
        show(f"cross {one}", grid.cross[one])
    domains = sorted({domain(name) for name in sets})
    for left_out in domains if len(domains) > 1 else []:
        chosen = grid.best(left_out)
        there = {name: value for name, value in grid.cross[chosen].items() if domain(name) == left_out}
        show(f"without {left_out}, on it: {chosen}", there)
    (keyword, weight, spread), late, cross = grid.best()
    first((keyword, weight, spread))
    options = argparse.Namespace(late_weight=late[0], late_spread=late[1], cross_weight=cross[0], cross_spread=cross[1])
    weighing = {"semantic": {"weight": weight, "spread": spread}, "keyword_spread": keyword, "late": {"weight": late[0], "spread": late[1]},
                "cross": {"weight": cross[0], "spread": cross[1]}, "least_trust": 0.3}
    for stage in ("WITHOUT_LATE", "WITH_LATE", "WITH_CROSS"):
        answered, unanswered, tops = calibrate.gathered(sets, stage, options)
        beta = calibrate.fit(*(np.concatenate([a, u]) for a, u in zip(answered, unanswered)))
        print(stage, calibrate.quality(beta, answered, tops))
        weighing[stage.lower()] = {name: round(float(value), 2) for name, value in zip(calibrate.NAMES, beta)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"weighing": weighing}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
