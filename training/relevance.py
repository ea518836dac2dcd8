"""Fine-tunes an encoder on (text, question): does the passage contain the answer, does the answer address the question.

    python relevance.py train --data DIR --seconds 2300                      # rows and training from MiniLM-L6; resumable
    python relevance.py train --data DIR --stage 2 --rate 8e-5 --seconds 720   # optional, not in the shipped file: goes on with the written questions
    python refusal.py --data DIR              # the probe for refusals
    python relevance.py train --data DIR --traindata DIR2 --stage 3 --base RERANKER.onnx --rate 8e-5 --seconds 1000 --threads 2   # the shipped file: all rows at once, and everyday questions
    python relevance.py finish --data DIR --traindata DIR2 --stage 3 --base RERANKER.onnx     # int8 export, and what combine does
    python relevance.py combine --data DIR    # combiner, held-out figures, fixture
    python relevance.py test --data DIR       # the test rows, once, at the very end

The text comes first and its end is cut off; of a long question (a conversation) the last 96 tokens are kept.
"""

import argparse
import json
import pickle
import random
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import entailment_features as ef
import entailment_pairs as ep
import entailment_public as public
import minilm
import refusal
import relevance_combiner as rc
import relevance_everyday as everyday_rows
import relevance_fixture
import relevance_pairs as rp
import relevance_replies as rr
import relevance_written as rw
from relevance_features import Scorer, row_of

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "models" / "relevance"
HEADS = ["context_relevance", "answer_relevance"]
STAGE_2, EPOCHS_2 = 6000, 3  # rows of the first stage that the second repeats
FIXTURE = HERE.parent / "tests" / "fixtures" / "relevance.json"


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


def new_model(source=None):
    """Begins at all-MiniLM-L6-v2, or at a published reranker, of which both heads begin as its own."""
    model = minilm.Classifier({h: 1 for h in HEADS}, pooler=True, source=source)
    known = model.encoder.original
    for part, name in ((model.poolers, "pooler.dense"), (model.heads, "classifier")):
        for kind in ("weight", "bias"):
            if f"{name}.{kind}" in known:
                with torch.no_grad():
                    for head in HEADS:
                        getattr(part[head], kind).copy_(torch.from_numpy(np.array(known[f"{name}.{kind}"], np.float32)))
    return model


def everyday(args):
    path = args.work / "relevance-everyday.pkl"
    if not path.exists():
        path.write_bytes(pickle.dumps(everyday_rows.items(args.traindata, ef.Vectors(args.work / "relevance-vectors.npz"), args.seed)))
    return pickle.loads(path.read_bytes())


# Rows of a part of the run that begins from a published reranker, by source; each source goes round in an order of its own.
MIXED = {"train": 2500, "made": 1200, "medical": 500, "known": 2400, "rules": 2000}


def mixed(args, known, made, count=8):
    """`count` parts of one mix, so that a run that its time limit ends has seen of everything."""
    found, rng = everyday(args), random.Random(f"mixed-{args.seed}")
    sources = {k: rows_of(args.tokens, found[k]) for k in ("train", "made", "medical")} | {"known": known, "rules": made}
    cycles = {k: public.Cycle(rows, rng) for k, rows in sources.items()}
    return [[cycles[k].next() for k, size in MIXED.items() for _ in range(size)] for _ in range(count)]


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

    model, name = new_model(args.base), args.name
    if args.stage == 3:
        name, args.tokens = name + "3", tokens
        parts = mixed(args, known, made)  # the first stage's rows come with the everyday ones
        data["held"] = data["held"] + everyday(args)["choosing"]
        held_rows += rows_of(tokens, everyday(args)["choosing"])
        validate(model, 0.0)
    if args.stage == 2:  # goes on from the first stage
        minilm.load(model, args.work / f"{args.name}.pt")
        written, unseen = rw.items()
        data["held"] += unseen
        held_rows += rows_of(tokens, unseen)
        new, rest = rows_of(tokens, written), rng.sample(known, len(known)) + made
        share = STAGE_2 // EPOCHS_2
        rng.shuffle(rest)
        name, parts = name + "2", [new + rest[i * share:(i + 1) * share] for i in range(EPOCHS_2)]
    result = minilm.fit(model, lambda epoch: parts[epoch], loss, epochs=len(parts), rate=args.rate, head_rate=5e-4, budget=4096, seed=args.seed,
                        threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{name}.pt", validate=validate,
                        validate_every=args.check_every, label="relevance")
    validate(model, 1.0)
    print(result)


# -------------------------------------------------------------------------------------------------------- combiner

# Which kinds of held-out rows make a set, and how much it counts: what is most like real use counts most.
SETS = {0: {"selqa": (1, ("selqa",)), "selqa_passages": (1, ("selqa-passage", "selqa-far")), "selqa_long": (2, ("selqa-long",)),
            "conversation": (2, ("conversation",)), "made": (0.5, ("made", "made-near", "made-gap", "made-cut", "made-far"))},
        1: {"selqa": (1, ("selqa-answer", "cut-off", "echo")), "dialogue": (2, ("dialogue", "dialogue-empty")),
            "requests": (0.5, ("refusal", "helpful", "other-task")), "made": (1, ("made-answer", "answer-near", "answer-far", "refusal-fact", "digression")),
            "talk": (0.3, ("talk",)), "long": (1, ("long", "long-aside")), "own": (1.5, ("own-reply", "own-refusal", "own-other")),
            "everyday": (3, ("everyday-answer", "everyday-other", "everyday-evasive"))}}
SILENCED = {0: {"reading": 0.3, "coverage": 0.3}, 1: {"reading": 0.5}}
UNLIKE = {0: ("conversation",), 1: ("dialogue", "long", "own", "everyday")}  # the training had no rows like these, or few
SINGLE = {0: ("reading", "cosine", "coverage"), 1: ("reading", "cosine", "cosine_text", "cosine_low", "refusal_logit")}


def held_sets(args, head):
    """{set: [Item]}, {set: weight}."""
    data = prepared(args)
    items = [x for x in data["held"] + data["check"] if x.head == head]
    if head == 0:
        items += rp.long_passages(args.data, args.seed) + rp.conversations(args.data, args.seed)
    else:
        items += [rp.Item(1, *x) for x in rr.long_answers(args.seed) + rr.replies_with_questions(args.seed)]
        items += everyday(args)["choosing"]
    return ({k: [x for x in items if x.kind in kinds] for k, (_, kinds) in SETS[head].items()}, {k: w for k, (w, _) in SETS[head].items()})


def scorer_of(args):
    return Scorer(args.model or OUTPUT / "model.onnx", args.work / "relevance-vectors.npz", refusal.OUTPUT, args.threads)


def figures(sets, chances, threshold, weights, single):
    out, every = {}, ([], [], [])
    for k, rows in sets.items():
        labels, counts = [label for label, _ in rows], Counter(label for label, _ in rows)
        shares = [0.5 / counts[label] for label in labels]
        for column, values in zip(every, (labels, chances[k], [weights[k] * s for s in shares])):
            column.extend(values)
        alone = {f: round(minilm.auroc(labels, [(-1 if f.startswith("refusal") else 1) * x[f] for _, x in rows]), 4) for f in single}
        out[k] = {"n": len(rows), "auroc": round(minilm.auroc(labels, chances[k]), 4), "alone": alone, "ece": round(rc.calibration_error(labels, chances[k], shares), 4),
                  "balanced_accuracy": round(float(rc.balanced(labels, chances[k] >= threshold)), 4)}
    out["all"] = {"ece": round(rc.calibration_error(*every), 4)}
    return out


def finish(args):
    data, tokens, rng = prepared(args), minilm.Tokens(256), random.Random(args.seed)
    model = minilm.load(new_model(args.base), args.work / f"{args.name}{args.stage if args.stage > 1 else ''}.pt")
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
    write_measured(measured)
    combine(args)


def write_measured(found):
    path = OUTPUT / "measured.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, **found}, indent=1) + "\n")


def combine(args):
    """Fits both combiners; every held-out row is judged by a combiner, and a refusal by a probe, that did not see its group."""
    scorer, combined, measured = scorer_of(args), {}, {}
    rows, vectors = refusal.prepared(args.data, scorer.vectors)
    unseen = {r[0]: v for r, v in zip(rows, refusal.out_of_fold(rows, vectors)) if r[2] != "plain"}
    for head, name in enumerate(HEADS):
        items, weights = held_sets(args, head)
        scorer.refusals = unseen
        sets = {k: list(zip([x.label for x in v], scorer.features([(x.question, x.text) for x in v], head, f"{name} {k}"))) for k, v in items.items()}
        groups = {k: [x.group for x in v] for k, v in items.items()}
        model, chances = rc.learn(name, sets, groups, weights, SILENCED[head], UNLIKE[head])
        combined[name] = model
        measured[f"held_out_{name}"] = figures(sets, chances, model["threshold"], weights, SINGLE[head])
        print(name, json.dumps(measured[f"held_out_{name}"], indent=1), model["threshold"], flush=True)
        for f in model["factors"]:
            print(f["name"], dict(zip(f["features"], np.round(f["weights"], 2))), round(f["bias"], 2))
    scorer.refusals = {}
    (OUTPUT / "combiner.json").write_text(json.dumps(combined, indent=1) + "\n")
    write_measured(measured)
    FIXTURE.write_text(json.dumps(relevance_fixture.cases(scorer, combined), indent=1, ensure_ascii=False) + "\n")


TESTS = [(0, "context_relevance/clapnq"), (0, "context_relevance/selqa_sentence"), (0, "context_relevance/xquad_en_constructed"),
         (0, "context_relevance/pubmedqa_constructed"), (1, "answer_relevance/haluquestqa"), (1, "answer_relevance/usr_dialogue"),
         (1, "answer_relevance/xstest_refusals"), (1, "answer_relevance/mtrag_human"), (1, "answer_relevance/pubmedqa_constructed")]


def test(args):
    """Scores the test rows with the shipped files and writes the figures to measured.json."""
    scorer, combined, out = scorer_of(args), json.loads((OUTPUT / "combiner.json").read_text()), {}
    for head, name in TESTS:
        rows = ep.load_rows(args.data, name, ("test",))
        features = scorer.features([(r["question"], r["passage" if head == 0 else "answer"]) for r in rows], head, name)
        model = combined[HEADS[head]]
        found = figures({name: [(r["label"], f) for r, f in zip(rows, features)]}, {name: np.array([rc.probability(model, f) for f in features])},
                        model["threshold"], {name: 1.0}, SINGLE[head])
        out[name] = found[name]
        print(name, json.dumps(out[name]), flush=True)
    write_measured({"test": out})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["train", "finish", "combine", "test"])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--traindata", type=Path, help="folder of further training rows, for everyday questions")
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--model", type=Path, help="the whole ONNX file; models/relevance/model.onnx if not given")
    parser.add_argument("--base", type=Path, help="int8 ONNX file of a published reranker to begin from, of any number of layers; --stage 3 needs it")
    parser.add_argument("--name", default="relevance")
    parser.add_argument("--stage", type=int, default=1, choices=[1, 2, 3])
    parser.add_argument("--made", type=int, default=15000)
    parser.add_argument("--rate", type=float, default=1.2e-4)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--check-every", type=float, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.stage == 3 and args.step in ("train", "finish") and not (args.base and args.traindata):
        parser.error("--stage 3 needs --base and --traindata")
    torch.set_num_threads(args.threads)
    {"train": train, "finish": finish, "combine": combine, "test": test}[args.step](args)


if __name__ == "__main__":
    main()
