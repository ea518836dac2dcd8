"""Fine-tunes MiniLM-L6 to tell whether a premise entails a hypothesis, and writes models/entailment.

    python entailment.py train --data DIR                                    # pairs and training; resumable
    python entailment.py train --data DIR --stage 2 --epochs 3 --rate 1e-4 --seconds 3000   # goes on, with the written claims
    python entailment.py finish --data DIR --stage 2     # int8 export, combiner, held-out figures
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

import entailment_combiner as ec
import entailment_features as ef
import entailment_pairs as ep
import entailment_written as ew
import minilm
from entailment_everyday import CASES as EVERYDAY

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "models" / "entailment"
NETWORKS = (OUTPUT / "model.onnx", OUTPUT / "twelve.onnx")  # weights.bin and twelve.bin, each with its words: share_words.py --join
SHARES = (0.35, 0.65)  # what the logits of each count; the program has the same in src/eval/model/assets.rs
TOKEN_WEIGHT = 0.5
STAGE_2 = 5000  # self-made pairs of each of the two kinds in the second stage


def new_model(source=None):
    """Begins at all-MiniLM-L6-v2, or at a published pair encoder (`minilm.published_pair_encoder`), whose pooler it takes over too."""
    model = minilm.Classifier({"entailment": 3}, pooler=True, source=source)
    if "pooler.dense.weight" in model.encoder.original:
        with torch.no_grad():
            for kind in ("weight", "bias"):
                getattr(model.poolers["entailment"], kind).copy_(torch.from_numpy(np.array(model.encoder.original[f"pooler.dense.{kind}"], np.float32)))
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


def shipped(threads=1, paths=NETWORKS):
    """Rows to logits as the program has them: the mean over its networks, by share; a single file alone."""
    runs = [minilm.open_onnx(path, threads) for path in paths]
    shares = SHARES if len(runs) == len(SHARES) else None
    return lambda rows: np.average([minilm.onnx_logits(run, rows) for run in runs], axis=0, weights=shares)


def everyday_rows(tokens):
    return [minilm.Row(*tokens.pair(c, s)) for c, s, _ in EVERYDAY]


def everyday(logits, rows=None):
    """How many of the plain sentences are judged rightly, and those that are not."""
    p = probabilities(np.array(logits(rows or everyday_rows(minilm.Tokens(256)))))[:, 0]
    wrong = [f"{v:.2f} {s}" for (_, s, label), v in zip(EVERYDAY, p) if (v > 0.5) != bool(label)]
    return f"{len(EVERYDAY) - len(wrong)} of {len(EVERYDAY)}; wrong: {wrong}"


def train(args):
    data, tokens = prepared(args), minilm.Tokens(256)
    rng = random.Random(args.seed)
    if args.stage == 2:
        path = args.work / "entailment-pairs2.pkl"
        if not path.exists():
            path.write_bytes(pickle.dumps(ep.harder_pairs(args.data)))
        written = ew.pairs(tokens, ef.Vectors(args.work / "vectors.npz"))
        data["rows"] += [p for p in written if not ep.held_out(p.group)]
        data["held"] = [p for p in data["held"] if not p.kind.startswith("wice-tokens")] + [p for p in written if ep.held_out(p.group)]
        data["pairs"] = rng.sample(pickle.loads(path.read_bytes()), STAGE_2) + rng.sample(data["pairs"], STAGE_2)
    made = [row_of(tokens, p) for p in data["pairs"]]
    rng.shuffle(made)
    made = made[:args.use]
    variants = defaultdict(list)
    for p in data["rows"]:
        variants[p.row, p.label == 0].append(row_of(tokens, p))
    known = lambda: [rng.choice(v) for _, v in sorted(variants.items())]  # each labelled row once, in one of its windows
    count = args.epochs
    parts = [made[i * len(made) // count:(i + 1) * len(made) // count] + known() for i in range(count)]
    if args.stage == 1:
        parts[-1] += known()
    print(json.dumps({"made": Counter(p.kind for p in data["pairs"]), "labelled": Counter(p.kind for p in data["rows"]),
                      "labels": Counter(p.label for p in data["pairs"]), "check": len(data["check"]), "held": len(data["held"]),
                      "rows": sum(map(len, parts)), "tokens": sum(len(r.ids) for part in parts for r in part)}), flush=True)
    check = rng.sample(data["check"], 500)
    shown = rng.sample(data["held"], min(1200, len(data["held"])))
    check_rows, held_rows = ([row_of(tokens, p) for p in part] for part in (check, shown))

    def validate(model, done):
        a = report(check, minilm.torch_logits(model, check_rows, half=True))
        b = report(shown, minilm.torch_logits(model, held_rows, half=True))
        print(f"everyday: {everyday(lambda rows: minilm.torch_logits(model, rows))}", flush=True)
        print(f"after {done:.0%}: made {json.dumps(a)} labelled {json.dumps(b)}", flush=True)

    model = new_model()
    name = args.name
    if args.stage == 2:  # goes on from the first stage
        minilm.load(model, args.work / f"{args.name}.pt")
        name += "2"
    result = minilm.fit(model, lambda epoch: parts[epoch], loss, epochs=len(parts), rate=args.rate, head_rate=5e-4, budget=4096, seed=args.seed,
                        threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{name}.pt", validate=validate,
                        validate_every=900, label="entailment")
    validate(model, 1.0)
    print(result)


# ------------------------------------------------------------------------------------------------- as the product does it

class Scorer:
    """Contexts and answers to features, with the shipped files."""

    def __init__(self, args, logits=None, limit=ef.WINDOW_TOKENS):
        self.limit = limit
        self.tokens = minilm.Tokens(256)
        self.logits = logits or shipped(args.threads)
        self.lengths = {}

    def context(self, context):
        parts = ef.context_sentences(context)
        for s in parts:
            if s not in self.lengths:
                self.lengths[s] = len(self.tokens.plain(s).ids)
        return ef.Context(parts, [self.lengths[s] for s in parts], passages=ef.passage_numbers(context))

    def details(self, items, label="rows"):
        """For each (context, answer sentences[, question that is read with them[, question]]): [(sentence, (window, best sentence), logits)].

        The question chooses passages even where it is not read.
        """
        found, rows, places = [], [], []
        for number, (c, answer, *question) in enumerate(items):
            context = self.context(c)
            read, asked = question[:1], (question or [""])[-1]
            read = [text for text in read if text]
            found.append((context, []))
            for sentence in answer:
                window = ef.window(context, sentence, self.limit, asked)
                places.append((number, sentence, window))
                rows.append(self.row(context.text(window[0]), " ".join([*read, sentence])))
        for (number, sentence, window), values in zip(places, self.logits(rows)):
            found[number][1].append((sentence, window, [float(v) for v in values]))
        return found

    def row(self, premise, hypothesis):
        ids, types = self.tokens.pair(premise, hypothesis)
        return minilm.Row(ids, types)

    def features(self, items, label="rows"):
        """The features of each sentence, for each item."""
        return [[ef.features(context, *part) for part in parts] for context, parts in self.details(items, label)]


def answers(row):
    """What is judged of an answer: all of it at once if it is short, else its sentences."""
    said = ef.without_courtesy(row["answer"])
    if len(ef.words(said)) <= ef.SHORT_WORDS:
        return [said or row["answer"]]
    return ef.claims(ef.sentences(row["answer"])) or [row["answer"]]


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
    return {**out, **ew.answers(args.seed)}


def finish(args):
    data, tokens = prepared(args), minilm.Tokens(256)
    model = minilm.load(new_model(), args.work / f"{args.name}{args.stage if args.stage > 1 else ''}.pt")
    rng = random.Random(args.seed)
    written = ew.pairs(tokens, ef.Vectors(args.work / "vectors.npz"))
    calibration = [row_of(tokens, p) for p in rng.sample(data["pairs"], 200) + rng.sample(data["rows"], 150) + rng.sample(written, 150)]
    calibration += [minilm.Row(*tokens.pair(t, u)) for t in ("", "Yes.", "a " * 300, "1, 2, 3, " * 60) for u in ("No.", "x", "42 is the answer.")]
    minilm.export(model, calibration, OUTPUT / "model.onnx")
    data["held"] += rng.sample([p for p in written if ep.held_out(p.group)], 1500)
    held = data["held"] + data["check"]
    rows = [row_of(tokens, p) for p in held]
    exact, small = minilm.torch_logits(model, rows), minilm.onnx_logits(OUTPUT / "model.onnx", rows)
    n = len(data["held"])
    measured = {"held_out_pairs": {"f32": {"labelled": report(held[:n], exact[:n]), "made": report(held[n:], exact[n:])},
                                   "int8": {"labelled": report(held[:n], small[:n]), "made": report(held[n:], small[n:])},
                                   "probability_moved_mean": float(np.abs(probabilities(exact) - probabilities(small)).mean())}}
    print(json.dumps(measured, indent=1), flush=True)
    print(f"everyday: {everyday(lambda rows: minilm.onnx_logits(OUTPUT / 'model.onnx', rows))}", flush=True)
    (OUTPUT / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    measure(args)


def measure(args):
    """The features of the held-out rows with the exported file, and the combiner."""
    scorer, sets = Scorer(args), held_rows(args)
    features = {name: scorer.features([r[:2] for r in rows], name) for name, rows in sets.items()}
    (args.work / "entailment-held.pkl").write_bytes(pickle.dumps((sets, features)))
    choose(args)


def choose(args):
    """The combiner from the stored features of the held-out rows."""
    sets, features = pickle.loads((args.work / "entailment-held.pkl").read_bytes())
    path = OUTPUT / "measured.json"
    measured = json.loads(path.read_text())
    best = None
    for strength in (0.0003, 0.001, 0.003, 0.01, 0.03):
        p = ec.cross_checked(sets, features, strength)
        figures = {n: ec.measure([r[2] for r in rows], p[n], ec.THRESHOLD) for n, rows in sets.items()}
        mean = np.mean([f["auroc"] for f in figures.values()])
        print(strength, round(float(mean), 4), {n: f["auroc"] for n, f in figures.items()})
        if best is None or mean > best[0] + 0.001:
            best = mean, strength, figures
    _, strength, figures = best
    model = ec.fit(sets, features, strength)
    model["threshold"] = ec.THRESHOLD
    model["calibration"] = {"target": "P(supported) of a sentence, where each label counts alike", "strength": strength,
                            "rows": {n: len(rows) for n, rows in sets.items()}, "share": ec.SHARE}
    (OUTPUT / "combiner.json").write_text(json.dumps(model, indent=1) + "\n")
    for n, rows in sets.items():
        worst = [-min(x["entail_logit"] for x in f) for f in features[n]]
        figures[n]["auroc_entailment_alone"] = round(minilm.auroc([r[2] for r in rows], worst), 4)
    measured["held_out_answers"] = figures
    path.write_text(json.dumps(measured, indent=1) + "\n")
    print(json.dumps(figures, indent=1), dict(zip(model["features"], np.round(model["weights"], 2))))


TESTS = ["mtrag_human", "wice_claim", "summedits", "fever_symmetric", "begin", "faithdial_audit", "q2_wow", "factcheckgpt_stance", "fib"]


def test(args):
    """Scores the test rows with the shipped files and writes the figures to measured.json."""
    scorer, model = Scorer(args), json.loads((OUTPUT / "combiner.json").read_text())
    out = {}
    for name in TESTS:
        start = time.time()
        rows = ep.load_rows(args.data, f"groundedness/{name}", ("test",))
        features = scorer.features([(r["context"], answers(r)) for r in rows], name)
        labels, p = [r["label"] for r in rows], [ec.supported(model, f) for f in features]
        out[name] = {**ec.measure(labels, p, model["threshold"]),
                     "auroc_entailment_alone": round(minilm.auroc(labels, [-min(x["entail_logit"] for x in f) for f in features]), 4),
                     "auroc_containment_alone": round(minilm.auroc(labels, [-np.mean([x["containment"] for x in f]) for f in features]), 4),
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
    cases = [(*case, "")[:3] for case in CASES]
    items = [(c, answers({"answer": a}), "", question) for c, a, question in cases]
    rounded = lambda values: {k: round(float(v), 5) for k, v in values.items()}
    for (c, a, question), (context, parts), each in zip(cases, scorer.details(items), scorer.features(items)):
        out.append({"context": c, "question": question, "answer": a, "passages": context.passages, "context_sentences": context.sentences, "context_tokens": context.lengths,
                    "answer_sentences": [
                        {"text": s, "window": window, "best_sentence": best,
                         "logits": [round(v, 4) for v in logits], "features": rounded(f)}
                        for (s, (window, best), logits), f in zip(parts, each)],
                    "probability": round(ec.supported(model, each), 5)})
        print(round(out[-1]["probability"], 3), a)
    path = HERE.parent / "tests" / "fixtures" / "entailment.json"
    path.write_text(json.dumps({"about": "training/entailment.py fixture; logits are entailment, neutral, contradiction, the mean of both int8 files by share in ONNX Runtime",
                                "cases": out}, indent=1, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["train", "finish", "measure", "choose", "fixture", "test"])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--name", default="entailment")
    parser.add_argument("--stage", type=int, default=1, choices=[1, 2])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--made", type=int, default=46000)
    parser.add_argument("--use", type=int, default=42000, help="of the made pairs, as many as time allows")
    parser.add_argument("--facts", type=int, default=13000)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    {"train": train, "finish": finish, "measure": measure, "choose": choose, "fixture": fixture, "test": test}[args.step](args)


if __name__ == "__main__":
    main()
