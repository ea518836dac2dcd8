"""Fine-tunes MiniLM-L6 to tell whether a premise entails a hypothesis, and writes models/entailment.

    python entailment.py train --data DIR                                    # pairs and training; resumable
    python entailment.py train --data DIR --stage 2 --rate 1e-4 --seconds 900  # optional, not in the shipped file: harder pairs
    python entailment.py finish --data DIR     # int8 export, combiner, held-out figures
    python entailment.py test --data DIR       # the test rows, once, at the very end
"""

import argparse
import hashlib
import json
import pickle
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import entailment_features as ef
import entailment_pairs as ep
import minilm

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "models" / "entailment"
TOKEN_WEIGHT = 0.5


def new_model():
    model = minilm.Classifier({"entailment": 3}, pooler=True)
    model.token = nn.Linear(minilm.DIM, 1)  # which words are not supported; only helps the training
    nn.init.normal_(model.token.weight, std=0.02)
    nn.init.zeros_(model.token.bias)
    return model


def row_of(tokens, pair):
    """The token ids of a pair; `target` is (label, marks per token: 1 changed, 0 supported, -1 unknown)."""
    b = tokens.plain(pair.hypothesis)
    ids, types = tokens.pair(pair.premise, pair.hypothesis)
    first = types.index(1) if 1 in types else len(types) - 1
    marks = [-1] * len(ids)
    if pair.marks is not None:
        for i, (start, end) in enumerate(b.offsets[:tokens.second_limit]):
            marks[first + i] = int(any(start < y and end > x for x, y in pair.marks))
    return minilm.Row(ids, types, (pair.label, marks), pair.weight)


def loss(model, batch):
    out = model(batch)
    device = out["entailment"].device
    labels = torch.tensor([r.target[0] for r in batch["rows"]], device=device)
    weights = torch.tensor([r.weight for r in batch["rows"]], device=device)
    logs = F.log_softmax(out["entailment"], dim=1)
    unsupported = torch.logsumexp(logs[:, 1:], dim=1)
    exact = logs.gather(1, labels.clamp(max=2)[:, None])[:, 0]
    main = -(torch.where(labels == ep.UNSUPPORTED, unsupported, exact) * weights).sum() / weights.sum()
    width = batch["input_ids"].shape[1]
    marks = torch.tensor([r.target[1] + [-1] * (width - len(r.ids)) for r in batch["rows"]], device=device)
    known = marks >= 0
    if not known.any():
        return main
    logits = model.token(out["hidden"])[..., 0].float()[known]
    positive = torch.tensor(3.0, device=device)
    return main + TOKEN_WEIGHT * F.binary_cross_entropy_with_logits(logits, marks[known].float(), pos_weight=positive)


def probabilities(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def report(pairs, logits):
    p = probabilities(np.array(logits))[:, 0]
    kinds, out = defaultdict(list), {}
    for pair, value in zip(pairs, p):
        kinds[pair.kind].append((int(pair.label != 0), 1 - value))
    for kind, rows in sorted(kinds.items()):
        labels = [r[0] for r in rows]
        if len(set(labels)) == 2:
            out[kind] = round(minilm.auroc(labels, [r[1] for r in rows]), 3)
        else:
            out[kind] = f"{np.mean([(r[1] > 0.5) == r[0] for r in rows]):.3f} acc ({'not ' if labels[0] else ''}entailed, n={len(rows)})"
    labels = [int(x.label != 0) for x in pairs]
    out["all"] = round(minilm.auroc(labels, 1 - p), 4)
    return out


def prepared(args):
    path = args.work / "entailment-pairs.pkl"
    if not path.exists():
        vectors, tokens = ef.Vectors(args.work / "vectors.npz"), minilm.Tokens(256)
        texts = set()
        for name in ("fever_symmetric", "begin", "wice_claim", "wice_tokens"):
            for r in ep.load_rows(args.data, f"groundedness/{name}"):
                texts |= {*ef.context_sentences(r["context"]), *ef.sentences(r["answer"]), r["answer"]}
        vectors.add(texts)
        start = time.time()
        data = ep.build(args.data, vectors, tokens, made=args.made, facts_count=args.facts)
        print(f"pairs made in {time.time() - start:.0f} s", flush=True)
        path.write_bytes(pickle.dumps(data))
    return pickle.loads(path.read_bytes())


def train(args):
    data, tokens = prepared(args), minilm.Tokens(256)
    rng = random.Random(args.seed)
    if args.stage == 2:
        path = args.work / "entailment-pairs2.pkl"
        if not path.exists():
            path.write_bytes(pickle.dumps(ep.harder_pairs(args.data)))
        data["pairs"] = pickle.loads(path.read_bytes())
    made = [row_of(tokens, p) for p in data["pairs"]]
    rng.shuffle(made)
    made = made[:args.use]
    variants = defaultdict(list)
    for p in data["rows"]:
        variants[p.row, p.label == 0].append(row_of(tokens, p))
    known = lambda: [rng.choice(v) for _, v in sorted(variants.items())]  # each labelled row once, in one of its windows
    half = len(made) // 2
    parts = [made[:half] + known(), made[half:] + known() + (known() if args.stage == 1 else [])]
    print(json.dumps({"made": Counter(p.kind for p in data["pairs"]), "labelled": Counter(p.kind for p in data["rows"]),
                      "labels": Counter(p.label for p in data["pairs"]), "check": len(data["check"]), "held": len(data["held"]),
                      "rows": sum(map(len, parts)), "tokens": sum(len(r.ids) for part in parts for r in part)}), flush=True)
    check = rng.sample(data["check"], 500)
    check_rows, held_rows = ([row_of(tokens, p) for p in part] for part in (check, data["held"]))

    def validate(model, done):
        a = report(check, minilm.torch_logits(model, check_rows, half=True))
        b = report(data["held"], minilm.torch_logits(model, held_rows, half=True))
        print(f"after {done:.0%}: made {json.dumps(a)} labelled {json.dumps(b)}", flush=True)

    model = new_model()
    name = args.name
    if args.stage == 2:  # goes on from the first stage
        minilm.load(model, args.work / f"{args.name}.pt")
        name += "2"
    result = minilm.fit(model, lambda epoch: parts[epoch], loss, epochs=2, rate=args.rate, head_rate=5e-4, budget=4096, seed=args.seed,
                        threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{name}.pt", validate=validate,
                        validate_every=420, label="entailment")
    validate(model, 1.0)
    print(result)


# ------------------------------------------------------------------------------------------------- as the product does it

class Scorer:
    """Contexts and answers to features, with the exported file."""

    def __init__(self, args, logits=None):
        self.tokens, self.vectors = minilm.Tokens(256), ef.Vectors(args.work / "vectors.npz")
        self.logits = logits or (lambda rows: minilm.onnx_logits(OUTPUT / "model.onnx", rows, threads=args.threads))
        self.lengths = {}

    def context(self, context):
        parts = ef.context_sentences(context)
        for s in parts:
            if s not in self.lengths:
                self.lengths[s] = len(self.tokens.plain(s).ids)
        return ef.Context(parts, [self.lengths[s] for s in parts], self.vectors(parts))

    def details(self, items, label="rows"):
        """For each (context, answer sentences): [(sentence, windows, best sentence, cosine, logits of each window)]."""
        self.vectors.add({t for c, a in items for t in (*ef.context_sentences(c), *a)}, label)
        found, rows, places = [], [], []
        for number, (c, answer) in enumerate(items):
            context = self.context(c)
            found.append((context, []))
            for sentence in answer:
                windows, best, cosine = ef.windows(context, sentence, self.vectors([sentence])[0])
                found[-1][1].append([sentence, windows, best, cosine, [None] * len(windows)])
                for w, indices in enumerate(windows):
                    places.append((number, len(found[-1][1]) - 1, w))
                    rows.append(self.row(" ".join(context.sentences[i] for i in indices), sentence))
        for (number, sentence, w), values in zip(places, self.logits(rows)):
            found[number][1][sentence][4][w] = [float(v) for v in values]
        return found

    def row(self, premise, hypothesis):
        ids, types = self.tokens.pair(premise, hypothesis)
        return minilm.Row(ids, types)

    def features(self, items, label="rows"):
        """(features of the answer, features of each sentence) for each item."""
        out = []
        for context, parts in self.details(items, label):
            rows = [ef.features(context, s, None, logits, (windows, best, cosine)) for s, windows, best, cosine, logits in parts]
            out.append((ef.response_features(rows), rows))
        return out


def combine(model, features):
    """P(consistent) by combiner.json."""
    total = model["bias"]
    for name, mean, scale, weight in zip(model["features"], model["means"], model["scales"], model["weights"]):
        total += weight * (features[name] - mean) / scale
    return 1 / (1 + np.exp(-total))


def balanced(labels, positive):
    labels, positive = np.asarray(labels), np.asarray(positive)
    return (positive[labels == 1].mean() + (~positive[labels == 0]).mean()) / 2


def answers(row):
    return ef.claims(ef.sentences(row["answer"]) or [row["answer"]])


def long_made(data, count, seed):
    """(context, answer sentences, label, group) from held-out documents: an answer of one to four sentences, of which one may be wrong."""
    rng = random.Random(f"long-{seed}")
    docs = [d for d in ep.documents(data) if ep.held_out(d.group) and len(d.good) >= 4]
    everywhere, out = ep.Everywhere(docs, rng), []
    while len(out) < count:
        d = rng.choice(docs)
        chosen = sorted(rng.sample(d.good, min(len(d.good), rng.choice([1, 2, 2, 3, 4]))))
        if rng.random() < 0.5:  # a short context
            low = max(0, chosen[0] - rng.randrange(4))
            chosen = [i for i in chosen if i - low < 12]
            context = d.sentences[low:max(chosen) + rng.randrange(1, 5)]
        else:
            context = d.sentences
        parts, label = [ep.reworded(rng, d.sentences[i], rng.choice([0, 1, 2, 3])) for i in chosen], 0
        if rng.random() < 0.5:
            k = rng.randrange(len(parts))
            name, change, _, _ = rng.choices(ep.FACTS, [f[3] for f in ep.FACTS])[0]
            new = change(rng, parts[k], d.pool, *((everywhere,) if name == "entity" else ()))
            if not new or new == parts[k]:
                continue
            parts[k], label = new, 1
        out.append((context, parts, label, d.group))
    return out


def held_rows(args):
    """{set: [(context, answer sentences, label)]} of the held-out groups."""
    out = {}
    for name in ("fever_symmetric", "begin", "wice_claim"):
        out[name] = [(r["context"], answers(r), r["label"]) for r in ep.load_rows(args.data, f"groundedness/{name}") if ep.held_out(r["group"])]
    pairs = prepared(args)["held"]
    rows = {r["id"]: r for r in ep.load_rows(args.data, "groundedness/wice_tokens")}
    for p in pairs:  # the claim, and what is left of it without its marked words
        if p.kind == "wice-kept":
            out["wice_claim"] += [(rows[p.row]["context"], [p.hypothesis], 0), (rows[p.row]["context"], answers(rows[p.row]), 1)]
    out["made"] = [x[:3] for x in long_made(args.data, 500, args.seed)]
    return out


COMBINED = ["worst_entail_logit", "mean_entail_logit", "worst_contradiction", "worst_containment", "mean_containment", "worst_window_containment",
            "worst_bigrams", "worst_missing_numbers", "worst_missing_names", "mean_missing_names", "worst_cosine", "worst_negation",
            "mean_log_words", "log_sentences"]


def fit_combiner(sets, features, names, strength):
    from sklearn.linear_model import LogisticRegression
    x, y, w = [], [], []
    for name, rows in sets.items():
        labels = np.array([r[2] for r in rows])
        for r, f in zip(rows, features[name]):
            x.append([f[0][n] for n in names])
            y.append(1 - r[2])
            w.append(0.5 / (labels == r[2]).sum())  # each set and each label counts alike
    x, y, w = np.array(x), np.array(y), np.array(w)
    w *= len(w) / w.sum()
    means, scales = np.average(x, axis=0, weights=w), np.sqrt(np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w)) + 1e-6
    model = LogisticRegression(C=strength, max_iter=2000).fit((x - means) / scales, y, sample_weight=w)
    return {"features": names, "means": means.tolist(), "scales": scales.tolist(), "weights": model.coef_[0].tolist(), "bias": float(model.intercept_[0])}


def measure(model, sets, features, threshold=None):
    out = {}
    for name, rows in sets.items():
        labels, p = np.array([r[2] for r in rows]), np.array([combine(model, f[0]) for f in features[name]])
        out[name] = {"n": len(rows), "auroc": round(minilm.auroc(labels, 1 - p), 4),
                     "auroc_entail_only": round(minilm.auroc(labels, [-f[0]["worst_entail_logit"] for f in features[name]]), 4)}
        if threshold is not None:
            out[name]["balanced_accuracy"] = round(float(balanced(labels, p < threshold)), 4)
    return out


def cross_checked(sets, features, names, strength, folds=5):
    """The combiner's figures where each row is judged by a combiner that did not see it (folds by context)."""
    where = {name: [int(hashlib.sha256(str(r[0])[:300].encode()).hexdigest(), 16) % folds for r in rows] for name, rows in sets.items()}
    out = {name: np.zeros(len(rows)) for name, rows in sets.items()}
    for fold in range(folds):
        pick = lambda keep: ({n: [r for r, f in zip(rows, where[n]) if (f != fold) == keep] for n, rows in sets.items()},
                             {n: [x for x, f in zip(features[n], where[n]) if (f != fold) == keep] for n in sets})
        model = fit_combiner(*pick(True), names, strength)
        for n in sets:
            for i, f in enumerate(where[n]):
                if f == fold:
                    out[n][i] = combine(model, features[n][i][0])
    return out


def finish(args):
    data, tokens = prepared(args), minilm.Tokens(256)
    model = minilm.load(new_model(), args.work / f"{args.name}{args.stage if args.stage > 1 else ''}.pt")
    rng = random.Random(args.seed)
    calibration = [row_of(tokens, p) for p in rng.sample(data["pairs"], 350) + rng.sample(data["rows"], 150)]
    calibration += [minilm.Row(*tokens.pair(t, u)) for t in ("", "Yes.", "a " * 300, "1, 2, 3, " * 60) for u in ("No.", "x", "42 is the answer.")]
    minilm.export(model, calibration, OUTPUT / "model.onnx")
    held = data["held"] + data["check"]
    rows = [row_of(tokens, p) for p in held]
    exact, small = minilm.torch_logits(model, rows), minilm.onnx_logits(OUTPUT / "model.onnx", rows)
    n = len(data["held"])
    measured = {"held_out_pairs": {"f32": {"labelled": report(held[:n], exact[:n]), "made": report(held[n:], exact[n:])},
                                   "int8": {"labelled": report(held[:n], small[:n]), "made": report(held[n:], small[n:])},
                                   "probability_moved_mean": float(np.abs(probabilities(exact) - probabilities(small)).mean())}}
    print(json.dumps(measured, indent=1), flush=True)
    scorer, sets = Scorer(args), held_rows(args)
    features = {name: scorer.features([r[:2] for r in rows], name) for name, rows in sets.items()}
    (args.work / "entailment-held.pkl").write_bytes(pickle.dumps((sets, features)))
    choose(args, measured)


def choose(args, measured=None):
    """The combiner from the stored features of the held-out rows."""
    sets, features = pickle.loads((args.work / "entailment-held.pkl").read_bytes())
    path = OUTPUT / "measured.json"
    measured = measured or json.loads(path.read_text())
    best = None
    for strength in (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3):
        p = cross_checked(sets, features, COMBINED, strength)
        mean = np.mean([minilm.auroc([r[2] for r in rows], 1 - p[n]) for n, rows in sets.items()])
        print(strength, round(float(mean), 4), {n: round(minilm.auroc([r[2] for r in rows], 1 - p[n]), 3) for n, rows in sets.items()})
        if best is None or mean > best[0] + 0.001:
            best = mean, strength, p
    _, strength, p = best
    model = fit_combiner(sets, features, COMBINED, strength)
    # Platt scaling on the cross-checked scores undoes the shrinking; it is folded into weights and bias.
    z = {n: np.log(v / (1 - v)) for n, v in p.items()}
    platt = fit_combiner(sets, {n: [({"z": x},) for x in v] for n, v in z.items()}, ["z"], 1000.0)
    slope = platt["weights"][0] / platt["scales"][0]
    shift = platt["bias"] - slope * platt["means"][0]
    model["weights"] = [slope * w for w in model["weights"]]
    model["bias"] = slope * model["bias"] + shift
    p = {n: 1 / (1 + np.exp(-(slope * v + shift))) for n, v in z.items()}
    grid = np.linspace(0.05, 0.95, 181)
    scores = [np.mean([balanced([r[2] for r in rows], p[n] < t) for n, rows in sets.items()]) for t in grid]
    model["threshold"] = round(float(grid[int(np.argmax(np.convolve(scores, np.ones(9) / 9, "same")))]), 3)
    model["calibration"] = {"target": "P(consistent) where each held-out set and each label counts alike", "strength": strength,
                            "rows": {n: len(rows) for n, rows in sets.items()}}
    (OUTPUT / "combiner.json").write_text(json.dumps(model, indent=1) + "\n")
    measured["held_out_answers"] = {n: {"n": len(rows), "positive": sum(r[2] for r in rows), "auroc": round(minilm.auroc([r[2] for r in rows], 1 - p[n]), 4),
                                        "auroc_entailment_alone": round(minilm.auroc([r[2] for r in rows], [-f[0]["worst_entail_logit"] for f in features[n]]), 4),
                                        "balanced_accuracy": round(float(balanced([r[2] for r in rows], p[n] < model["threshold"])), 4)} for n, rows in sets.items()}
    path.write_text(json.dumps(measured, indent=1) + "\n")
    print(json.dumps(measured["held_out_answers"], indent=1), model["threshold"], dict(zip(model["features"], np.round(model["weights"], 2))))


TESTS = ["mtrag_human", "wice_claim", "summedits", "fever_symmetric", "begin", "faithdial_audit", "q2_wow", "factcheckgpt_stance", "fib"]


def test(args):
    """Scores the test rows with the shipped files and writes the figures to measured.json."""
    scorer, model = Scorer(args), json.loads((OUTPUT / "combiner.json").read_text())
    out = {}
    for name in TESTS:
        start = time.time()
        rows = ep.load_rows(args.data, f"groundedness/{name}", ("test",))
        features = scorer.features([(r["context"], answers(r)) for r in rows], name)
        labels, p = np.array([r["label"] for r in rows]), np.array([combine(model, f[0]) for f in features])
        grid = np.unique(p)
        out[name] = {"n": len(rows), "auroc": round(minilm.auroc(labels, 1 - p), 4), "balanced_accuracy": round(float(balanced(labels, p < model["threshold"])), 4),
                     "best_possible_balanced_accuracy": round(float(max(balanced(labels, p < t) for t in grid[::max(1, len(grid) // 400)])), 4),
                     "auroc_entailment_alone": round(minilm.auroc(labels, [-f[0]["worst_entail_logit"] for f in features]), 4),
                     "auroc_containment_alone": round(minilm.auroc(labels, [-f[0]["mean_containment"] for f in features]), 4),
                     "seconds": round(time.time() - start)}
        print(name, out[name], flush=True)
    path = OUTPUT / "measured.json"
    measured = json.loads(path.read_text())
    measured["test"] = out
    path.write_text(json.dumps(measured, indent=1) + "\n")


def fixture(args):
    """tests/fixtures/entailment.json, for the program's own implementation."""
    from entailment_fixture import CASES
    scorer, model, out = Scorer(args), json.loads((OUTPUT / "combiner.json").read_text()), []
    items = [(c, answers({"answer": a})) for c, a in CASES]
    rounded = lambda values: {k: round(float(v), 5) for k, v in values.items()}
    for (c, a), (context, parts), (whole, each) in zip(CASES, scorer.details(items), scorer.features(items)):
        out.append({"context": c, "answer": a, "context_sentences": context.sentences, "context_tokens": context.lengths,
                    "answer_sentences": [
                        {"text": s, "windows": windows, "best_sentence": best, "cosine": round(cosine, 4), "chosen_window": ef.best_window(logits)[0],
                         "logits": [[round(v, 4) for v in row] for row in logits], "features": rounded(f)}
                        for (s, windows, best, cosine, logits), f in zip(parts, each)],
                    "features": rounded(whole), "probability": round(float(combine(model, whole)), 5)})
        print(round(out[-1]["probability"], 3), a)
    path = HERE.parent / "tests" / "fixtures" / "entailment.json"
    path.write_text(json.dumps({"about": "training/entailment.py fixture; logits are entailment, neutral, contradiction of the int8 file in ONNX Runtime",
                                "cases": out}, indent=1, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["train", "finish", "choose", "fixture", "test"])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--name", default="entailment")
    parser.add_argument("--stage", type=int, default=1, choices=[1, 2])
    parser.add_argument("--made", type=int, default=46000)
    parser.add_argument("--use", type=int, default=42000, help="of the made pairs, as many as time allows")
    parser.add_argument("--facts", type=int, default=13000)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    {"train": train, "finish": finish, "choose": choose, "fixture": fixture, "test": test}[args.step](args)


if __name__ == "__main__":
    main()
