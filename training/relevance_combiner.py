"""The combiner of the relevance features: a product of logistic regressions, because a relevant answer addresses the question,
does not refuse and does not stray; all of that is needed.

Signs are fixed: similarity, coverage and the reading never speak against a text, refusals and echoes never for it. The
cross-encoder has seen rows like those of most held-out sets, so it looks better there than it is elsewhere; and SelQA's
questions were written with the sentence in view, so they share its words. Therefore such sets count in copies in which the reading,
or the coverage, says nothing.
"""

import hashlib
from collections import Counter

import numpy as np
from scipy.optimize import minimize

FACTORS = {"context_relevance": {"answers": {"reading": 1, "cosine": 1, "coverage": 1}},
           "answer_relevance": {"addresses": {"reading": 1, "cosine": 1, "cosine_text": 1, "new_words": 1, "echo": -1},
                                "no_refusal": {"refusal": -1, "refusal_logit": -1},
                                "keeps_to_it": {"cosine_low": 1, "cosine_mean": 1}}}
# The penalty on squared weights. It is low where a single feature must be able to outweigh all others.
STRENGTH = {"no_refusal": 0.001}
USUAL_STRENGTH, FOLDS = 0.01, 5
# Thresholds whose balanced accuracy is less than this below the best are as good on so few rows; 0.5, or the nearest to it, is taken of them.
FLAT = 0.01


def copies(sets, weights, silenced, unlike):
    """Rows, labels and weights: each label of a set counts alike. In the sets that are not `unlike` the training, a part of the
    weight goes to copies in which a silenced feature has its mean."""
    rows, labels, shares = [], [], []
    for name, items in sets.items():
        counts = Counter(label for label, _ in items)
        parts = [({}, 1.0)]
        if name not in unlike:
            mean = {f: float(np.mean([np.mean([x[f] for label, x in items if label == k]) for k in counts])) for f in silenced}
            parts = [({}, 1.0 - sum(silenced.values())), *(({f: mean[f]}, share) for f, share in silenced.items())]
        for change, share in parts:
            for label, x in items:
                rows.append({**x, **change})
                labels.append(label)
                shares.append(weights[name] * share * 0.5 / counts[label])
    shares = np.array(shares)
    return rows, np.array(labels), shares / shares.sum()


def sigmoid(z):
    return 1 / (1 + np.exp(-np.clip(z, -40, 40)))


def fit(factors, sets, weights, silenced, unlike):
    rows, y, w = copies(sets, weights, silenced, unlike)
    inputs, means, scales = [], [], []
    for signs in factors.values():
        x = np.array([[r[n] for n in signs] for r in rows])
        mean = w @ x
        scale = np.sqrt(w @ (x - mean) ** 2) + 1e-6
        inputs.append((x - mean) / scale)
        means.append(mean)
        scales.append(scale)
    strengths = [STRENGTH.get(name, USUAL_STRENGTH) for name in factors]
    ends = np.cumsum([0, *(len(signs) + 1 for signs in factors.values())])

    def objective(p):
        parts = [p[a:b] for a, b in zip(ends, ends[1:])]
        z = [x @ q[:-1] + q[-1] for x, q in zip(inputs, parts)]
        log_p = -sum(np.logaddexp(0, -v) for v in z)
        chance = np.clip(np.exp(log_p), 1e-9, 1 - 1e-9)
        loss, slope = -(w * (y * log_p + (1 - y) * np.log(1 - chance))).sum(), -w * (y - (1 - y) * chance / (1 - chance))
        gradient = []
        for x, q, v, strength in zip(inputs, parts, z, strengths):
            d = slope * (1 - sigmoid(v))
            loss += strength * (q[:-1] ** 2).sum() / 2 + strength * q[-1] ** 2 / 20
            gradient += [x.T @ d + strength * q[:-1], [d.sum() + strength * q[-1] / 10]]
        return loss, np.concatenate(gradient)

    start = np.concatenate([[*(0.3 * s for s in signs.values()), 1.0] for signs in factors.values()])
    bounds = [b for signs in factors.values() for b in [*((0, None) if s > 0 else (None, 0) for s in signs.values()), (None, None)]]
    found = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 5000}).x
    return [{"name": name, "features": list(signs), "means": means[i].tolist(), "scales": scales[i].tolist(),
             "weights": found[ends[i]:ends[i + 1] - 1].tolist(), "bias": float(found[ends[i + 1] - 1]), "threshold": 0.5}
            for i, (name, signs) in enumerate(factors.items())]


def raw(factors, x):
    """The logit of the product."""
    log_p = 0.0
    for f in factors:
        log_p -= np.logaddexp(0, -(f["bias"] + sum(w * (x[n] - m) / s for n, m, s, w in zip(f["features"], f["means"], f["scales"], f["weights"]))))
    return float(log_p - np.log(-np.expm1(min(log_p, -1e-9))))


def probability(model, x):
    return float(sigmoid(model["slope"] * raw(model["factors"], x) + model["offset"]))


def folds(groups):
    return np.array([int(hashlib.md5(str(g).encode()).hexdigest(), 16) % FOLDS for g in groups])


def calibrated(values, sets, weights):
    """Slope and offset of the logit, so that probabilities are right where each set has its weight and each label counts alike."""
    z, y, w = [], [], []
    for name, items in sets.items():
        counts = Counter(label for label, _ in items)
        z.extend(values[name])
        y.extend(label for label, _ in items)
        w.extend(weights[name] * 0.5 / counts[label] for label, _ in items)
    z, y, w = np.array(z), np.array(y), np.array(w)
    found = minimize(lambda p: float((w * np.logaddexp(0, -(2 * y - 1) * (p[0] * z + p[1]))).sum()), [1.0, 0.0], bounds=[(0.1, 3), (-3, 3)])
    return float(found.x[0]), float(found.x[1])


def balanced(labels, positive):
    labels, positive = np.asarray(labels), np.asarray(positive)
    return (positive[labels == 1].mean() + (~positive[labels == 0]).mean()) / 2


def calibration_error(labels, chances, shares, bins=10):
    """Expected calibration error: the weighted mean distance of probability and frequency over bins of equal width."""
    labels, chances, shares = np.asarray(labels, float), np.asarray(chances), np.asarray(shares) / np.sum(shares)
    at = np.minimum((chances * bins).astype(int), bins - 1)
    return float(sum(abs((shares * (labels - chances))[at == b].sum()) for b in range(bins)))


def learn(name, sets, groups, weights, silenced, unlike):
    """The model, and its probability of each row by a model that did not see the row's group."""
    values = {k: np.zeros(len(v)) for k, v in sets.items()}
    places = {k: folds(groups[k]) for k in sets}
    for fold in range(FOLDS):
        part = fit(FACTORS[name], {k: [r for r, f in zip(v, places[k]) if f != fold] for k, v in sets.items()}, weights, silenced, unlike)
        for k, v in sets.items():
            for i in np.where(places[k] == fold)[0]:
                values[k][i] = raw(part, v[i][1])
    slope, offset = calibrated(values, sets, weights)
    chances = {k: sigmoid(slope * v + offset) for k, v in values.items()}
    grid = np.linspace(0.2, 0.8, 121)
    score = [sum(weights[k] * balanced([r[0] for r in v], chances[k] >= t) for k, v in sets.items()) / sum(weights[k] for k in sets) for t in grid]
    smooth = np.convolve(np.pad(score, 6, mode="edge"), np.ones(13) / 13, "valid")
    flat = grid[smooth >= smooth.max() - FLAT]
    threshold = round(float(flat[np.argmin(np.abs(flat - 0.5))]), 3)
    model = {"factors": fit(FACTORS[name], sets, weights, silenced, unlike), "slope": slope, "offset": offset, "threshold": threshold}
    return model, chances
