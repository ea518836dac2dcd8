"""The third stage's file and combiner: int8 export, features as in the program, calibration, and the report on held-out groups.

    python entailment_verdict.py export --traindata DIR --data DIR     # model.onnx from the checkpoint, and how it agrees
    python entailment_verdict.py compare --traindata DIR --data DIR    # windows, question and forms of judging, on choosing groups
    python entailment_verdict.py choose --traindata DIR --data DIR     # combiner.json; reads no held-out everyday group
    python entailment_verdict.py glance --traindata DIR --data DIR     # plain sentences and choosing groups, before anything is kept
    python entailment_verdict.py test --traindata DIR --data DIR --question --rows FILE     # test rows, for paired.py
    python entailment_verdict.py report --traindata DIR --data DIR     # the held-out everyday groups, with any model and combiner
    python entailment_verdict.py networks --traindata DIR --data DIR --network 1:A.pt --network 1:B.onnx     # each alone and together
"""

import argparse
import hashlib
import json
import pickle
import random
from pathlib import Path

import numpy as np
import torch

import entailment as base
import entailment_combiner as ec
import entailment_features as ef
import entailment_groups as eg
import entailment_pairs as ep
import entailment_public as public
import entailment_read as read
import entailment_written as ew
import minilm

OUTPUT = base.OUTPUT
QUESTION_WORDS, SNIPPET_WORDS = 40, 60
EVERYDAY_SHARE = 10.0
LONG_SHARE = 4.0


def asked(row, on):
    """(the question if it is read with the answer, the question): read is a single one that is short, asks about a text, and speaks to nobody.

    In conversations over a snippet it made answers that only fit the question look supported (BEGIN .936 without, .871 with).
    """
    q, context = row.get("question") or "", row["context"]
    found = ef.words(q)
    fits = on and q.rstrip().endswith("?") and len(found) <= QUESTION_WORDS and not {"you", "your"} & set(found)
    fits = fits and len(ef.words(context if isinstance(context, str) else " ".join(context))) > SNIPPET_WORDS
    return q.strip() if fits else "", q.strip()


def load(args):
    return pickle.loads((args.work / args.pairs).read_bytes())


def export(args):
    data, tokens = load(args), minilm.Tokens(256)
    model = minilm.load(base.new_model(args.base), args.work / f"{args.name}.pt")
    rng = random.Random(args.seed)
    mixed = public.parts(data["pairs"], data["train"], 600, 1, args.seed + 1)[0]
    calibration = [base.row_of(tokens, p) for p in rng.sample(mixed, 500)]
    calibration += [minilm.Row(*tokens.pair(t, u)) for t in ("", "Yes.", "a " * 300, "1, 2, 3, " * 60) for u in ("No.", "x", "42 is the answer.")]
    minilm.export(model, calibration, args.model)
    kept = rng.sample(data["kept"], min(1500, len(data["kept"])))
    rows = [base.row_of(tokens, p) for p in kept]
    exact, small = minilm.torch_logits(model, rows), minilm.onnx_logits(args.model, rows)
    measured = {"held_out_pairs": {"f32": base.report(kept, exact)["all"], "int8": base.report(kept, small)["all"],
                                   "kinds": base.report(kept, small)},
                "probability_moved_mean": float(np.abs(base.probabilities(exact) - base.probabilities(small)).mean())}
    print(json.dumps(measured), flush=True)
    print(f"plain sentences: {base.everyday(lambda rows: minilm.onnx_logits(args.model, rows))}", flush=True)
    (args.work / "measured-pairs.json").write_text(json.dumps(measured))


def scorer(args, limit):
    return base.Scorer(args, logits_of(args), limit)


def logits_of(args):
    """Rows to logits: of --network the mean of what they say, of --of what the mean of their weights says, else as shipped."""
    if args.network:
        return together([(share, of_network(args, path)) for share, path in args.network])
    if args.of:
        model = read.mean_of(args, args.of)
        return lambda rows: minilm.torch_logits(model, rows, half=True)
    return base.shipped(args.threads)


def of_network(args, path):
    """Rows to logits by one file: an exported one in ONNX Runtime, another in torch."""
    if path.suffix == ".onnx":
        return base.shipped(args.threads, [path])
    model = read.of_file(args, path)
    return lambda rows: minilm.torch_logits(model, rows, half=True)


def together(parts):
    """The mean of logits, by share."""
    total = sum(share for share, _ in parts)
    return lambda rows: sum(share / total * np.asarray(logits(rows)) for share, logits in parts)


def networks(args):
    """AUROC of each --network alone and of them together, by P(entailed) of whole answers and of held-out pairs: what the card shows."""
    data, tokens = load(args), minilm.Tokens(256)
    shares = np.array([share for share, _ in args.network]) / sum(share for share, _ in args.network)
    runs = [of_network(args, path) for _, path in args.network]
    kept = random.Random(2).sample(data["kept"], min(1200, len(data["kept"])))
    sets = {name: read.everyday_pairs(rows, tokens) for name, rows in
            (("choosing", data["choosing"]), *((name, random.Random(1).sample(data[name], min(700, len(data[name])))) for name in ("aside", "fresh", "bound", "later")))}
    sets["kept"] = [(int(p.label != ep.ENTAIL), p.kind.split("-")[0], base.row_of(tokens, p)) for p in kept]
    for name, pairs in sets.items():
        labels, kinds = np.array([label for label, _, _ in pairs]), np.array([kind for _, kind, _ in pairs])
        found = [np.asarray(run([row for _, _, row in pairs])) for run in runs]
        found += [np.mean(found, axis=0), np.tensordot(shares, found, 1)]
        p = [base.probabilities(logits)[:, 0] for logits in found]
        for kind in ["all", *(sorted(set(kinds)) if name == "kept" else ())]:
            at = np.ones(len(labels), bool) if kind == "all" else kinds == kind
            if len(set(labels[at])) == 2:
                print(name, kind, int(at.sum()), *(f"{minilm.auroc(labels[at], -x[at]):.4f}" for x in p), flush=True)
    plain = base.everyday_rows(tokens)
    for run in (*runs, together(list(zip(shares, runs)))):
        print(base.everyday(run, plain), flush=True)


def everyday_rows(items):
    return [r for r, _, _ in items]


def answer_sets(args, data):
    """{set: [(context, answer sentences, label, question)]} of held-out groups of the labelled and the written sets."""
    out = {}
    for name in ("fever_symmetric", "begin", "wice_claim"):
        rows = [r for r in ep.load_rows(args.data, f"groundedness/{name}") if ep.held_out(r["group"])]
        out[name] = [(r["context"], base.answers(r), r["label"], asked(r, args.question)) for r in rows]
    rows = {r["id"]: r for r in ep.load_rows(args.data, "groundedness/wice_tokens")}
    for p in data["kept"]:
        if p.kind == "wice-kept":
            out["wice_claim"] += [(rows[p.row]["context"], [p.hypothesis], 0, ()), (rows[p.row]["context"], base.answers(rows[p.row]), 1, ())]
    for name, found in ew.answers(args.seed).items():
        out[name] = [(*r, ()) for r in found]
    return out


def everyday_set(items, question):
    return everyday_rows_set(everyday_rows(items), question)


def everyday_rows_set(rows, question):
    return [(r["context"], base.answers(r), r["label"], asked(r, question)) for r in rows]


def long_rows(args, half):
    """Long answers that nothing was trained on: those of half 0 help to fit the combiner, those of half 1 are only reported."""
    rows = [r for r in eg.long_rows(args.traindata) if eg.long_held_out(r["group"])]
    return [r for r in rows if int(r["group"].partition("-")[2]) // 5 % 2 == half]


def features_of(s, rows, label):
    return s.features([(c, a, *q) for c, a, _, q in rows], label)


def compare(args):
    """AUROC of the least sentence on the choosing groups, by window and with or without the question."""
    data = load(args)
    rows = everyday_rows(data["choosing"])
    labels = [r["label"] for r in rows]
    for limit in (128, 192):
        s = scorer(args, limit)
        for question in (False, True):
            forms = {"product": base.answers, "whole": lambda r: [r["answer"]],
                     "parts": lambda r: ef.claims(ef.sentences(r["answer"]) or [r["answer"]])}
            values = {}
            for name, form in forms.items():
                found = s.features([(r["context"], form(r), *asked(r, question)) for r in rows], name)
                values[name] = np.array([min(x["entail_logit"] for x in parts) for parts in found])
            values["whole+parts"] = values["whole"] + values["parts"]
            print(limit, question, {n: round(minilm.auroc(labels, -v), 4) for n, v in values.items()}, flush=True)


def choose(args):
    data = load(args)
    s, sets = scorer(args, args.window), answer_sets(args, data)
    sets["everyday"] = everyday_set(data["choosing"], args.question)
    sets["long"] = everyday_rows_set(long_rows(args, 0), args.question)
    features = {name: features_of(s, rows, name) for name, rows in sets.items()}
    (args.work / "verdict.pkl").write_bytes(pickle.dumps((sets, features)))
    fitted(args)


def fitted(args):
    sets, features = pickle.loads((args.work / "verdict.pkl").read_bytes())
    ec.SHARE |= {"everyday": args.share, "long": LONG_SHARE}
    best = None
    for strength in (0.0003, 0.001, 0.003, 0.01, 0.03):
        p = ec.cross_checked(sets, features, strength)
        figures = {n: ec.measure([r[2] for r in rows], p[n], ec.THRESHOLD) for n, rows in sets.items()}
        weights = [ec.SHARE.get(n, ec.WRITTEN_SHARE) for n in figures]
        mean = np.average([f["auroc"] for f in figures.values()], weights=weights)
        print(strength, round(float(mean), 4), {n: f["auroc"] for n, f in figures.items() if n in ec.SHARE})
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
    measured = json.loads((args.work / "measured-pairs.json").read_text())
    measured["held_out_answers"] = figures
    (OUTPUT / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    print(json.dumps({n: figures[n] for n in ec.SHARE}, indent=1), dict(zip(model["features"], np.round(model["weights"], 2))))


def judged(args, model, rows, name):
    """P(supported) of each row's answer, and what reading alone says of it, as the program does it."""
    found = features_of(scorer(args, args.window), everyday_rows_set(rows, args.question), name)
    return np.array([ec.supported(model, f) for f in found]), np.array([-min(x["entail_logit"] for x in f) for f in found])


def everyday_figures(args, model, rows, name):
    """AUROC with an interval over groups, the share judged rightly, and both by kind."""
    p, alone = judged(args, model, rows, name)
    labels = np.array([r["label"] for r in rows])
    flagged = p < model["threshold"]
    kinds = {}
    for r, value in zip(rows, flagged == (labels == 1)):
        kinds.setdefault(r["label_raw"], []).append(bool(value))
    groups = sorted({r["group"] for r in rows})
    where = {g: [i for i, r in enumerate(rows) if r["group"] == g] for g in groups}
    rng, draws = random.Random(args.seed), []
    for _ in range(500):
        at = [i for g in rng.choices(groups, k=len(groups)) for i in where[g]]
        draws.append(minilm.auroc(labels[at], 1 - p[at]))
    figures = ec.measure(labels, p, model["threshold"])
    figures |= {"groups": len(groups), "accuracy": round(float((flagged == (labels == 1)).mean()), 4),
                "auroc_interval": [round(float(x), 3) for x in np.quantile(draws, [0.025, 0.975])],
                "auroc_entailment_alone": round(minilm.auroc(labels, alone), 4),
                "right_by_kind": {k: [round(float(np.mean(v)), 3), len(v)] for k, v in sorted(kinds.items())}}
    return figures


def report(args):
    """The held-out everyday groups, those of minimal pairs among ours, old and fresh, and long answers."""
    data, model = load(args), json.loads(args.combiner.read_text())
    figures = everyday_figures(args, model, everyday_rows(data["held"]), "held")
    figures["hard_held_out"] = everyday_figures(args, model, everyday_rows(data["aside"]), "aside")
    for name in ("fresh", "bound", "later"):
        figures[f"{name}_held_out"] = everyday_figures(args, model, everyday_rows(data[name]), name)
    long = long_rows(args, 1)
    figures["long_held_out"] = ec.measure(np.array([r["label"] for r in long]), judged(args, model, long, "long")[0], model["threshold"])
    print(json.dumps(figures, indent=1))
    if args.keep:
        measured = json.loads((OUTPUT / "measured.json").read_text())
        measured["everyday_held_out"] = figures
        (OUTPUT / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")


def glance(args):
    """What chooses between models, without writing anything: plain sentences, the choosing groups with the combiner as it is, and by kind."""
    data, model = load(args), json.loads(args.combiner.read_text())
    print(base.everyday(logits_of(args)))
    figures = everyday_figures(args, model, everyday_rows(data["choosing"]), "choosing")
    print(json.dumps(figures))
    for name, rows in answer_sets(args, data).items():
        if name in ec.SHARE:
            found = [ec.supported(model, f) for f in features_of(scorer(args, args.window), rows, name)]
            print(name, json.dumps(ec.measure([r[2] for r in rows], np.array(found), model["threshold"])))


TESTS = ("fever_symmetric", "begin", "wice_claim", "mtrag_human", "summedits", "fib", "factcheckgpt_stance", "q2_wow", "faithdial_audit",
         "halueval_summarization", "halueval_qa")


def test(args):
    """The test rows as `groundline evalbench --rows` writes them, for paired.py; for reporting only."""
    model, sets = json.loads(args.combiner.read_text()), {}
    for name in TESTS:
        sets[name] = ep.load_rows(args.data, f"groundedness/{name}", ("test",))[:args.limit]
    data = load(args)
    for name, rows in (("everyday", "held"), ("hard", "aside"), ("fresh", "fresh"), ("bound", "bound"), ("later", "later")):
        sets[f"{name}_held"] = everyday_rows(data[rows])
    sets["long_held"] = long_rows(args, 1)
    with args.rows.open("w", encoding="utf-8") as out:
        for name, rows in sets.items():
            p, _ = judged(args, model, rows, name)
            print(name, json.dumps(ec.measure([r["label"] for r in rows], p, model["threshold"])), flush=True)
            for i, (r, value) in enumerate(zip(rows, p)):
                out.write(json.dumps({"task": "groundedness", "dataset": name, "evaluator": "hallucination", "metric": "hallucination", "id": i,
                                      "group": r["group"], "label": int(r["label"]), "score": 1 - float(value),
                                      "predicted": int(value < model["threshold"])}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["export", "glance", "compare", "choose", "fitted", "report", "test", "networks"])
    parser.add_argument("--traindata", type=Path)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path)
    parser.add_argument("--pairs", default="public-pairs.pkl", help="file of pairs in the work folder")
    parser.add_argument("--name", default="entailment3")
    parser.add_argument("--model", default=OUTPUT / "model.onnx", type=Path)
    parser.add_argument("--combiner", default=OUTPUT / "combiner.json", type=Path)
    parser.add_argument("--of", type=read.part_of, action="append", help="SHARE:FILE, once a file: judge with their mean, without an export")
    parser.add_argument("--network", type=read.part_of, action="append", help="SHARE:FILE, once a network: judge with the mean of their logits, by share")
    parser.add_argument("--base", type=Path, help="the published pair encoder that the checkpoint began from, if any")
    parser.add_argument("--window", type=int, default=ef.WINDOW_TOKENS)
    parser.add_argument("--question", action="store_true", help="read a short question with the answer")
    parser.add_argument("--share", type=float, default=EVERYDAY_SHARE)
    parser.add_argument("--rows", type=Path, help="file of rows that `test` writes")
    parser.add_argument("--limit", type=int, help="no more rows of a set than this")
    parser.add_argument("--keep", action="store_true", help="write the report to measured.json")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.step == "networks" and not args.network:
        parser.error("networks needs --network SHARE:FILE, once a network")
    torch.set_num_threads(args.threads)
    {"export": export, "glance": glance, "compare": compare, "choose": choose, "fitted": fitted, "report": report, "test": test, "networks": networks}[args.step](args)


if __name__ == "__main__":
    main()
