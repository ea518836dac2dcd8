"""A probe that tells sentences that refuse from sentences that answer: logistic regression on the sentence encoder's vector
and on words and pairs of words.

    python refusal.py --data DIR      # writes models/relevance/refusal.json; figures on families that it has not seen
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import entailment_features as ef
import entailment_pairs as ep
import minilm
import refusal_sentences

OUTPUT = Path(__file__).parent.parent / "models" / "relevance" / "refusal.json"
VECTOR_SCALE, STRENGTH, LEAST_LINES, LEAST_FAMILIES, FOLDS, DIGITS, LIMIT = 6.0, 0.1, 5, 4, 10, 4, 6.0
READ = 5  # sentences of an answer


def grams(text):
    """The words of a sentence and the pairs of neighbours."""
    found = ef.words(text)
    return set(found) | {f"{a} {b}" for a, b in zip(found, found[1:])}


def pieces():
    """(sentence, label, family) of the self-written replies."""
    return [(s, label, family) for text, label, family in refusal_sentences.replies() for s in (ef.sentences(text) or [text])]


def plain_sentences(data, count=500, seed=7):
    """Sentences that nobody wrote as a refusal: answers to questions, and turns of conversations, of dev rows."""
    rng = random.Random(f"plain-{seed}")
    rows = [r["passage"] for r in ep.load_rows(data, "context_relevance/selqa_sentence") if r["label"] and not ep.held_out(r["group"])]
    turns = [ep.tidy(r["question"]) for r in ep.load_rows(data, "groundedness/begin") if r["question"] and not ep.held_out(r["group"])]
    return [(s, 0, "plain") for s in sorted({*rng.sample(sorted(set(rows)), count // 2), *rng.sample(sorted(set(turns)), count // 2)})]


class Probe:
    """The stored form."""

    def __init__(self, stored):
        self.vector, self.words, self.bias = np.array(stored["vector"]), stored["words"], stored["bias"]

    def __call__(self, text, vector):
        return float(np.clip(self.vector @ vector + sum(self.words.get(g, 0.0) for g in grams(text)) + self.bias, -LIMIT, LIMIT))


def fit(rows, vectors):
    from sklearn.linear_model import LogisticRegression
    lines, families = Counter(), defaultdict(set)
    for text, _, family in rows:
        for g in grams(text):
            lines[g] += 1
            families[g].add(family)
    names = sorted(g for g in lines if lines[g] >= LEAST_LINES and len(families[g]) >= LEAST_FAMILIES)
    index = {g: i for i, g in enumerate(names)}
    x = np.zeros((len(rows), len(names) + vectors.shape[1]))
    x[:, len(names):] = vectors * VECTOR_SCALE
    for i, (text, _, _) in enumerate(rows):
        x[i, [index[g] for g in grams(text) if g in index]] = 1
    weights = np.array([0.4 if family == "plain" else 1.0 for _, _, family in rows])
    labels = np.array([label for _, label, _ in rows])
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(x, labels, sample_weight=weights)
    found = [round(float(w), DIGITS) for w in model.coef_[0]]
    return {"words": {g: w for g, w in zip(names, found) if abs(w) >= 0.02}, "bias": round(float(model.intercept_[0]), DIGITS),
            "vector": [round(w * VECTOR_SCALE, DIGITS) for w in found[len(names):]]}


def out_of_fold(rows, vectors):
    """The probe's value of each row by a probe that did not see the row's family."""
    families = sorted({f for _, _, f in rows})
    folds = np.array([families.index(f) * 7 % FOLDS for _, _, f in rows])
    values = np.zeros(len(rows))
    for fold in range(FOLDS):
        seen = folds != fold
        probe = Probe(fit([r for r, s in zip(rows, seen) if s], vectors[seen]))
        for i in np.where(~seen)[0]:
            values[i] = probe(rows[i][0], vectors[i])
    return values


def prepared(data, vec):
    rows = pieces() + plain_sentences(data)
    vec.add({r[0] for r in rows}, "refusals")
    return rows, np.stack([vec([r[0]])[0] for r in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    args = parser.parse_args()
    rows, vectors = prepared(args.data, ef.Vectors(args.work / "relevance-vectors.npz"))
    values = out_of_fold(rows, vectors)
    labels = np.array([r[1] for r in rows])
    own = np.array([r[2] != "plain" for r in rows])
    missed = {f: round(float(np.mean([(v > 0) != label for (_, label, g), v in zip(rows, values) if g == f])), 2) for f in sorted({r[2] for r in rows})}
    measured = {"sentences": int(own.sum()), "families": len(missed) - 1, "auroc": round(minilm.auroc(labels[own], values[own]), 4),
                "balanced_accuracy": round(float(((values > 0) == labels)[own & (labels == 1)].mean() / 2 + ((values > 0) == labels)[own & (labels == 0)].mean() / 2), 4),
                "false_alarms_plain": missed["plain"], "missed_most": dict(sorted(missed.items(), key=lambda p: -p[1])[:6])}
    print(json.dumps(measured, indent=1))
    stored = fit(rows, vectors)
    OUTPUT.write_text(json.dumps({**stored, "sentences": READ, "limit": LIMIT}) + "\n")
    path = OUTPUT.parent / "measured.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "refusal_probe": measured}, indent=1) + "\n")
    print(f"{OUTPUT}: {OUTPUT.stat().st_size} bytes, {len(stored['words'])} words")


if __name__ == "__main__":
    main()
