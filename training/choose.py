"""Chooses one weight for late interaction and one for the cross-encoder, on domains that the models did not see.

Usage: python training/choose.py SCORES [--model new]
SCORES is what score.py wrote for the validation sets, with models that left them out of training.
"""
import argparse

import numpy as np

import fusion


def gains(sets, base, order):
    return {name: np.mean([fusion.ndcg(asked, order(asked)) for asked in asking]) - base[name] for name, asking in sets.items()}


def worth(gain):
    """The mean, less what sets lose: a set that falls behind counts twice."""
    values = np.array(list(gain.values()))
    return values.mean() + np.minimum(values, 0).mean()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("scores")
    arguments.add_argument("--model", default="new", choices=["old", "new"])
    arguments.add_argument("--late", help="the column of late interaction; that of the model otherwise")
    options = arguments.parse_args()
    column = options.late or f"late_{options.model}"
    sets = fusion.read(options.scores)
    base = {name: np.mean([fusion.ndcg(a, fusion.rank_fused(a)) for a in asking]) for name, asking in sets.items()}
    first = {name: [fusion.first_stage(a, options.model) for a in asking] for name, asking in sets.items()}
    stages = {id(a): stage for name, asking in sets.items() for a, stage in zip(asking, first[name])}
    show = lambda title, gain: print(f"{title:44} mean {np.mean(list(gain.values())):+.2f} worst {min(gain.values()):+.2f}", flush=True)
    show("hybrid", gains(sets, base, lambda a: stages[id(a)][0]))
    best = None
    for spread in (0.2, 0.35, 0.5):
        for weight in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
            gain = gains(sets, base, lambda a: fusion.with_late(a, *stages[id(a)], column, weight, spread))
            show(f"late {weight} over {spread}", gain)
            best = max(best or (-99,), (worth(gain), weight, spread))
    _, late_weight, late_spread = best
    print("late:", late_weight, "over", late_spread)
    for late_weight in sorted({late_weight, max(0.1, late_weight - 0.1)}):
        later = {id(a): fusion.with_late(a, *stages[id(a)], column, late_weight, late_spread) for asking in sets.values() for a in asking}
        for plain, spread in ((None, 4.0), (None, 8.0), (None, 12.0), (0.5, 0), (1.0, 0)):
            for weight in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
                gain = gains(sets, base, lambda a: fusion.with_cross(a, later[id(a)], weight, spread, plain=plain))
                form = f"stretched over {spread}" if plain is None else f"logistic {plain}"
                show(f"late {late_weight}, cross {weight} {form}", gain)
                best = max(best if len(best) > 3 else (-99,), (worth(gain), late_weight, weight, form))
    print("chosen:", best)


if __name__ == "__main__":
    main()
