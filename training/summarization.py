"""Learns the histogram weights of `summarization` (faithfulness_conv) from the rows that the entailment model's training held out.

As the program does it: for each sentence of a summary, the entailment by the twelve most similar sentences of the
source (each with the one before it), in ten bins; the mean over the sentences of ln(1 + count) is a feature. Needs models/entailment/model.onnx
(share_words.py --join makes it) beside twelve.onnx, and the intermediate files of entailment_read.py.

Usage: python summarization.py --data DIR [--work DIR] [--rows N]
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

import entailment as base
import entailment_combiner as ec
import entailment_features as ef
import entailment_verdict as verdict
import minilm

BINS, NEAREST, STRENGTH = 10, 12, 0.003
OUTPUT = Path(__file__).parent.parent / "models" / "entailment" / "summarization.json"


def features(args, rows):
    tokens, vectors = minilm.Tokens(256), ef.Vectors(args.work / "summary-vectors.npz")
    sources = [ef.context_sentences(r[0]) for r in rows]
    vectors.add({t for source, r in zip(sources, rows) for t in (*source, *r[1])}, "vectors")
    pairs, places = [], []
    for number, (source, row) in enumerate(zip(sources, rows)):
        known = vectors(source)
        for at, sentence in enumerate(row[1]):
            near = np.argsort(-(known @ vectors([sentence])[0]), kind="stable")[:NEAREST]
            for i in near:
                pairs.append(minilm.Row(*tokens.pair(" ".join(source[max(0, i - 1):i + 1]), sentence)))
                places.append((number, at))
    counts = {}
    for place, logits in zip(places, base.shipped(args.threads)(pairs)):
        p = ef.softmax(np.asarray(logits, np.float64))[0]
        counts.setdefault(place, np.zeros(BINS))[min(int(p * BINS), BINS - 1)] += 1
    out = np.zeros((len(rows), BINS))
    for (number, _), values in counts.items():
        out[number] += np.log1p(values) / len(rows[number][1])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path)
    parser.add_argument("--pairs", default="public-pairs.pkl", help="file of pairs in the work folder")
    parser.add_argument("--rows", type=int, default=40, help="of each held-out set, at most")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.question = False
    rng, sets, held = random.Random(args.seed), {}, {}
    for name, rows in verdict.answer_sets(args, verdict.load(args)).items():
        sets[name] = rng.sample(rows, min(len(rows), args.rows))
        values = features(args, sets[name])
        held[name] = [[{f"bin_{b}": float(v[b]) for b in range(BINS)}] for v in values]
    names = [f"bin_{b}" for b in range(BINS)]
    p = ec.cross_checked(sets, held, STRENGTH, names)
    model = ec.fit(sets, held, STRENGTH, names)
    grid = np.linspace(0.05, 0.95, 181)
    figure = lambda n, rows, t: ec.measure([r[2] for r in rows], p[n], t)["balanced_accuracy"]
    scores = [np.mean([figure(n, rows, t) for n, rows in sets.items()]) for t in grid]
    model["threshold"] = round(float(grid[int(np.argmax(np.convolve(scores, np.ones(9) / 9, "same")))]), 3)
    model["held_out"] = {n: {"n": len(rows), "auroc": round(minilm.auroc([r[2] for r in rows], 1 - p[n]), 4)}
                         for n, rows in sets.items()}
    OUTPUT.write_text(json.dumps(model, indent=1) + "\n")
    print(json.dumps(model["held_out"], indent=1), model["threshold"])


if __name__ == "__main__":
    main()
