"""Two programs on the same rows: each set's figures, and the difference with its paired interval.

    groundline evalbench --data DIR --rows old.jsonl    # the old program
    groundline evalbench --data DIR --rows new.jsonl    # the new one
    python paired.py old.jsonl new.jsonl                # a Markdown table; exit code 1 if a set fell by more than its interval

Groups are drawn with replacement, the same ones for both (Efron and Tibshirani 1993, chapter 8), because rows of one article or
conversation are not independent.
"""

import json
import sys
from collections import defaultdict

import numpy as np

DRAWS, SEED = 1000, 7


def read(path):
    """{(task, dataset, metric): {row id: row}}."""
    sets = defaultdict(dict)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            r = json.loads(line)
            sets[r["task"], r["dataset"], r["metric"]][r["id"]] = r
    return sets


def auroc(labels, scores, times):
    """The weighted area under the ROC curve, ties half; NaN without both classes."""
    order = np.argsort(scores, kind="stable")
    labels, scores, times = labels[order], scores[order], times[order]
    ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    positive, negative = np.cumsum(times * labels)[ends], np.cumsum(times * (1 - labels))[ends]
    if positive[-1] == 0 or negative[-1] == 0:
        return float("nan")
    gained, below = np.diff(positive, prepend=0), np.append(0, negative[:-1])
    return float((gained * (below + np.diff(negative, prepend=0) / 2)).sum() / (positive[-1] * negative[-1]))


def balanced(labels, predicted, times):
    """The mean of both classes' recalls."""
    found = (times * labels * predicted).sum() / max(1e-12, (times * labels).sum())
    kept = (times * (1 - labels) * (1 - predicted)).sum() / max(1e-12, (times * (1 - labels)).sum())
    return float((found + kept) / 2)


def compared(old, new):
    """(rows, old and new AUROC and balanced accuracy, differences with bounds) of one set."""
    ids = sorted(set(old) & set(new))
    column = lambda rows, name: np.array([rows[i][name] for i in ids], float)
    labels = column(old, "label")
    groups = {g: n for n, g in enumerate(sorted({old[i]["group"] for i in ids}))}
    of = np.array([groups[old[i]["group"]] for i in ids])
    ones, rng = np.ones(len(ids)), np.random.default_rng(SEED)
    figures = lambda times: np.array([[auroc(labels, column(r, "score"), times), balanced(labels, column(r, "predicted"), times)] for r in (old, new)])
    whole = figures(ones)
    draws = []
    for _ in range(DRAWS):
        times = np.bincount(rng.integers(0, len(groups), len(groups)), minlength=len(groups))[of].astype(float)
        drawn = figures(times)
        draws.append(drawn[1] - drawn[0])
    low, high = np.nanquantile(np.array(draws), [0.025, 0.975], axis=0)
    return len(ids), whole, whole[1] - whole[0], low, high


def main():
    old, new = read(sys.argv[1]), read(sys.argv[2])
    print("| set | metric | rows | AUROC | difference | balanced accuracy | difference |\n|---|---|---|---|---|---|---|")
    fell = []
    for key in sorted(set(old) & set(new)):
        n, whole, gain, low, high = compared(old[key], new[key])
        cells = []
        for i in range(2):
            cells.append(f"{whole[0][i]:.3f} → {whole[1][i]:.3f} | {gain[i]:+.3f} [{low[i]:+.3f}, {high[i]:+.3f}]")
            if high[i] < 0:
                fell.append((key[1], key[2], ("AUROC", "balanced accuracy")[i], round(float(gain[i]), 3)))
        print(f"| {key[1]} | {key[2]} | {n} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"\nFell by more than the interval: {fell or 'none'}")
    sys.exit(1 if fell else 0)


if __name__ == "__main__":
    main()
