"""Fine-tunes MiniLM-L6 on (text, question): does the passage contain the answer, does the answer address the question.

    python relevance.py train --data DIR --seconds 2300                      # rows and training; resumable
    python relevance.py train --data DIR --stage 2 --rate 8e-5 --seconds 480   # optional, not in the shipped file: goes on
    python relevance.py finish --data DIR     # int8 export, combiner, held-out figures
    python relevance.py test --data DIR       # the test rows, once, at the very end

The text comes first and its end is cut off; of a long question (a conversation) the last 96 tokens are kept.
"""

import argparse
import json
import pickle
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import entailment_features as ef
import entailment_pairs as ep
import minilm
import relevance_pairs as rp

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "models" / "relevance"
HEADS = ["context_relevance", "answer_relevance"]
QUESTION_TOKENS = 96


def row_of(tokens, question, text, target=None, weight=1.0):
    b = tokens.plain(question).ids[-QUESTION_TOKENS:]
    a = tokens.plain(text).ids[:tokens.limit - 3 - len(b)]
    return minilm.Row([minilm.CLS, *a, minilm.SEP, *b, minilm.SEP], [0] * (len(a) + 2) + [1] * (len(b) + 1), target, weight)


def rows_of(tokens, items):
    return [row_of(tokens, x.question, x.text, (x.head, x.label), x.weight) for x in items]


def loss(model, batch):
    out = model(batch)
    both = torch.cat([out[h] for h in HEADS], dim=1)
    heads = torch.tensor([r.target[0] for r in batch["rows"]], device=both.device)
    labels = torch.tensor([float(r.target[1]) for r in batch["rows"]], device=both.device)
    weights = torch.tensor([r.weight for r in batch["rows"]], device=both.device)
    chosen = both.gather(1, heads[:, None])[:, 0]
    return (F.binary_cross_entropy_with_logits(chosen, labels, reduction="none") * weights).sum() / weights.sum()


def report(items, logits):
    """AUROC of each kind; kinds of one label only are measured against the other label of their head."""
    out = {}
    for head in (0, 1):
        chosen = [(x, row[head]) for x, row in zip(items, logits) if x.head == head]
        if len({x.label for x, _ in chosen}) == 2:
            out[HEADS[head]] = round(minilm.auroc([x.label for x, _ in chosen], [v for _, v in chosen]), 4)
        for kind in sorted({x.kind for x, _ in chosen}):
            part = [(x.label, v) for x, v in chosen if x.kind == kind]
            if len({label for label, _ in part}) == 1:
                part += [(x.label, v) for x, v in chosen if x.label != part[0][0]]
            if len({label for label, _ in part}) == 2:
                out[kind] = round(minilm.auroc(*zip(*part)), 3)
    return out


def prepared(args):
    path = args.work / "relevance-pairs.pkl"
    if not path.exists():
        path.write_bytes(pickle.dumps(rp.build(args.data, made=args.made, seed=args.seed)))
    return pickle.loads(path.read_bytes())


def new_model():
    return minilm.Classifier({h: 1 for h in HEADS}, pooler=True)


def train(args):
    data, tokens, rng = prepared(args), minilm.Tokens(256), random.Random(args.seed)
    made, known = rows_of(tokens, data["made"]), rows_of(tokens, data["known"])
    rng.shuffle(made)
    half = len(made) // 2
    parts = [made[:half] + known, made[half:] + known]
    print(json.dumps({"made": Counter(x.kind for x in data["made"]), "known": Counter(x.kind for x in data["known"]),
                      "rows": sum(map(len, parts)), "tokens": sum(len(r.ids) for p in parts for r in p)}), flush=True)
    check = rng.sample(data["check"], min(700, len(data["check"])))
    check_rows, held_rows = rows_of(tokens, check), rows_of(tokens, data["held"])

    def validate(model, done):
        a = report(check, minilm.torch_logits(model, check_rows, half=True))
        b = report(data["held"], minilm.torch_logits(model, held_rows, half=True))
        print(f"after {done:.0%}: made {json.dumps(a)} known {json.dumps(b)}", flush=True)

    model, name = new_model(), args.name
    if args.stage == 2:  # goes on from the first stage with the second half and the labelled rows
        minilm.load(model, args.work / f"{args.name}.pt")
        name, parts = name + "2", [made[half:] + known]
    result = minilm.fit(model, lambda epoch: parts[epoch], loss, epochs=len(parts), rate=args.rate, head_rate=5e-4, budget=4096, seed=args.seed,
                        threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{name}.pt", validate=validate,
                        validate_every=300, label="relevance")
    validate(model, 1.0)
    print(result)


# ------------------------------------------------------------------------------------------------- as the product does it

WINDOW_TOKENS, WINDOWS, TAIL = 160, 8, 3
FEATURES = {"context_relevance": ["logit", "cosine", "coverage"], "answer_relevance": ["logit", "cosine", "coverage", "log_words"]}


def cut(tokens, text):
    """Windows of whole sentences, in order, of at most WINDOW_TOKENS each; the first WINDOWS of them."""
    out, now, total = [], [], 0
    for s in ef.sentences(text) or [text]:
        n = len(tokens.plain(s).ids)
        if now and total + n > WINDOW_TOKENS:
            out.append(" ".join(now))
            now, total = [], 0
        now.append(s)
        total += n
    return [*out, " ".join(now)][:WINDOWS]


def tail(question):
    """The end of a conversation: its last sentences. A plain question stays whole."""
    parts = ef.sentences(question)
    return " ".join(parts[-TAIL:]) if len(parts) > TAIL else question


class Scorer:
    """(question, text) to features. A passage is read in windows, of which the best counts; an answer once, cut to fit."""

    def __init__(self, args):
        self.tokens, self.vectors = minilm.Tokens(256), ef.Vectors(args.work / "relevance-vectors.npz")
        self.run = minilm.open_onnx(OUTPUT / "model.onnx", args.threads)

    def features(self, items, head, label="rows"):
        rows, places = [], []
        for i, (question, text) in enumerate(items):
            for part in (cut(self.tokens, text) if head == 0 else [text]):
                rows.append(row_of(self.tokens, question, part))
                places.append(i)
        self.vectors.add({t for q, a in items for t in (tail(q), *(ef.sentences(a) or [a]))}, label)
        best = [-np.inf] * len(items)
        for i, logits in zip(places, minilm.onnx_logits(self.run, rows, label=label)):
            best[i] = max(best[i], float(logits[head]))
        out = []
        for (question, text), logit in zip(items, best):
            cosine = float((self.vectors(ef.sentences(text) or [text]) @ self.vectors([tail(question)])[0]).max())
            out.append({"logit": logit, "cosine": max(cosine, 0.0), "coverage": ef.containment(ef.content(tail(question)), ef.content(text)),
                        "log_words": float(np.log(1 + len(ef.words(text))))})
        return out


def combine(model, features):
    total = model["bias"]
    for name, mean, scale, weight in zip(model["features"], model["means"], model["scales"], model["weights"]):
        total += weight * (features[name] - mean) / scale
    return 1 / (1 + np.exp(-total))


def fit_combiner(head, sets, names, strength):
    """Logistic regression; each set and each label in it counts alike."""
    from sklearn.linear_model import LogisticRegression
    x, y, w = [], [], []
    for rows in sets.values():
        counts = Counter(label for label, _ in rows)
        for label, f in rows:
            x.append([f[n] for n in names])
            y.append(label)
            w.append(0.5 / counts[label])
    x, y, w = np.array(x), np.array(y), np.array(w)
    w *= len(w) / w.sum()
    means = np.average(x, axis=0, weights=w)
    scales = np.sqrt(np.average((x - means) ** 2, axis=0, weights=w)) + 1e-6
    model = LogisticRegression(C=strength, max_iter=2000).fit((x - means) / scales, y, sample_weight=w)
    return {"features": names, "means": means.tolist(), "scales": scales.tolist(), "weights": model.coef_[0].tolist(), "bias": float(model.intercept_[0])}


def balanced(labels, positive):
    labels, positive = np.asarray(labels), np.asarray(positive)
    return (positive[labels == 1].mean() + (~positive[labels == 0]).mean()) / 2


SETS = {0: {"selqa": ("selqa",), "selqa_passages": ("selqa-passage", "selqa-far"), "made": ("made", "made-near", "made-gap", "made-cut", "made-far")},
        1: {"selqa": ("selqa-answer", "cut-off", "echo"), "dialogue": ("dialogue", "dialogue-empty"), "requests": ("refusal", "helpful", "other-task"),
            "made": ("made-answer", "answer-near", "answer-far", "refusal-fact", "echo", "digression")}}


def finish(args):
    data, tokens, rng = prepared(args), minilm.Tokens(256), random.Random(args.seed)
    model = minilm.load(new_model(), args.work / f"{args.name}{args.stage if args.stage > 1 else ''}.pt")
    calibration = rows_of(tokens, rng.sample(data["made"], 300) + rng.sample(data["known"], 200))
    calibration += [row_of(tokens, q, t) for q in ("Why?", "x") for t in ("", "Yes.", "a " * 300, "1, 2, 3, " * 60, "1. A. 2. B. 3. C.")]
    minilm.export(model, calibration, OUTPUT / "model.onnx")
    held = data["held"] + data["check"]
    rows, n = rows_of(tokens, held), len(data["held"])
    exact, small = minilm.torch_logits(model, rows), minilm.onnx_logits(OUTPUT / "model.onnx", rows)
    measured = {"held_out": {"f32": {"known": report(held[:n], exact[:n]), "made": report(held[n:], exact[n:])},
                             "int8": {"known": report(held[:n], small[:n]), "made": report(held[n:], small[n:])},
                             "logit_moved_mean": round(float(np.abs(exact - small).mean()), 4)}}
    print(json.dumps(measured, indent=1), flush=True)
    scorer, combined = Scorer(args), {}
    for head, name in enumerate(HEADS):
        sets = {}
        for label, kinds in SETS[head].items():
            part = [x for x in held if x.head == head and x.kind in kinds]
            sets[label] = [(x.label, f) for x, f in zip(part, scorer.features([(x.question, x.text) for x in part], head, label))]
        names = FEATURES[name]
        folds = {k: [i % 5 for i in range(len(v))] for k, v in sets.items()}  # 5 folds: measured on rows that the weights did not see
        p = {k: np.zeros(len(v)) for k, v in sets.items()}
        for fold in range(5):
            m = fit_combiner(head, {k: [r for r, f in zip(v, folds[k]) if f != fold] for k, v in sets.items()}, names, 0.1)
            for k, v in sets.items():
                for i, (r, f) in enumerate(zip(v, folds[k])):
                    if f == fold:
                        p[k][i] = combine(m, r[1])
        model_ = fit_combiner(head, sets, names, 0.1)
        grid = np.linspace(0.05, 0.95, 181)
        scores = [np.mean([balanced([r[0] for r in v], p[k] >= t) for k, v in sets.items()]) for t in grid]
        model_["threshold"] = round(float(grid[int(np.argmax(np.convolve(scores, np.ones(9) / 9, "same")))]), 3)
        combined[name] = model_
        measured[f"held_out_{name}"] = {k: {"n": len(v), "auroc": round(minilm.auroc([r[0] for r in v], p[k]), 4),
                                            "auroc_logit_alone": round(minilm.auroc([r[0] for r in v], [r[1]["logit"] for r in v]), 4),
                                            "auroc_cosine_alone": round(minilm.auroc([r[0] for r in v], [r[1]["cosine"] for r in v]), 4),
                                            "balanced_accuracy": round(float(balanced([r[0] for r in v], p[k] >= model_["threshold"])), 4)} for k, v in sets.items()}
        print(name, json.dumps(measured[f"held_out_{name}"]), model_["threshold"], dict(zip(names, np.round(model_["weights"], 2))), flush=True)
    (OUTPUT / "combiner.json").write_text(json.dumps(combined, indent=1) + "\n")
    (OUTPUT / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")


TESTS = [(0, "context_relevance/clapnq"), (0, "context_relevance/selqa_sentence"), (0, "context_relevance/xquad_en_constructed"),
         (0, "context_relevance/pubmedqa_constructed"), (1, "answer_relevance/haluquestqa"), (1, "answer_relevance/usr_dialogue"),
         (1, "answer_relevance/xstest_refusals"), (1, "answer_relevance/mtrag_human"), (1, "answer_relevance/pubmedqa_constructed")]


def test(args):
    """Scores the test rows with the shipped files and writes the figures to measured.json."""
    scorer, combined, out = Scorer(args), json.loads((OUTPUT / "combiner.json").read_text()), {}
    for head, name in TESTS:
        rows = ep.load_rows(args.data, name, ("test",))
        features = scorer.features([(r["question"], r["passage" if head == 0 else "answer"]) for r in rows], head, name)
        model, labels = combined[HEADS[head]], np.array([r["label"] for r in rows])
        p = np.array([combine(model, f) for f in features])
        out[name] = {"n": len(rows), "auroc": round(minilm.auroc(labels, p), 4), "balanced_accuracy": round(float(balanced(labels, p >= model["threshold"])), 4),
                     "auroc_logit_alone": round(minilm.auroc(labels, [f["logit"] for f in features]), 4),
                     "auroc_cosine_alone": round(minilm.auroc(labels, [f["cosine"] for f in features]), 4)}
        print(name, out[name], flush=True)
    path = OUTPUT / "measured.json"
    measured = json.loads(path.read_text())
    measured["test"] = out
    path.write_text(json.dumps(measured, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["train", "finish", "test"])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--name", default="relevance")
    parser.add_argument("--stage", type=int, default=1, choices=[1, 2])
    parser.add_argument("--made", type=int, default=15000)
    parser.add_argument("--rate", type=float, default=1.2e-4)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    {"train": train, "finish": finish, "test": test}[args.step](args)


if __name__ == "__main__":
    main()
