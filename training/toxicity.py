"""Trains the toxicity model: MiniLM-L6, fine-tuned end to end (the word table stays frozen), seven labels in two heads.

Steps, each of which can be left out: train (resumes from its checkpoint), calibrate on the held-out groups, choose the
thresholds there, export to int8, and, with --measure, score the test sets once with the exported file.

Usage: python toxicity.py --data DIR [--work DIR] [--output DIR] [--measure]
"""

import argparse
import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

import entailment_read as read
import minilm
import toxicity_text
from toxicity_data import LABELS, ORDINARY, Data, rows_of

LABEL_WEIGHTS = torch.tensor([2.0, 0.7, 1.0, 1.0, 1.0, 1.5, 1.5])
# What a miss costs against a false alarm.
MISS_COST = 2.0
# No more than this share of ordinary held-out text may reach a threshold.
ORDINARY_MAY_PASS = 0.005
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Rows:
    def __init__(self, limit):
        self.tokens = minilm.Tokens(limit=limit)

    def __call__(self, text, target=None, weight=1.0):
        ids, types = self.tokens.single(toxicity_text.normalise(text))
        return minilm.Row(ids, types, target, weight)

    def examples(self, examples):
        return [self(e.text, e.labels, e.weight) for e in examples]


def loss(model, batch):
    out = model(batch)
    logits = torch.cat([out["toxicity"], out["fairness"]], dim=1)
    target = torch.tensor([r.target for r in batch["rows"]], device=logits.device)
    weight = torch.tensor([r.weight for r in batch["rows"]], device=logits.device)
    known = ~torch.isnan(target)
    each = F.binary_cross_entropy_with_logits(logits, torch.nan_to_num(target), reduction="none")
    each = each * known * weight[:, None] * LABEL_WEIGHTS.to(logits.device)
    return each.sum() / len(target)


def new_model(seed):
    return minilm.Classifier({"toxicity": 6, "fairness": 1}, pooler=True, dropout=0.1, encoder_dropout=0.0, seed=seed)


def started(model, path):
    """The weights of a stored file, whose heads stand side by side."""
    weights, at, column = read.stored_weights(path), 0, 0
    tensor = lambda value: torch.from_numpy(np.array(value, np.float32))
    with torch.no_grad():
        for part, key in model.encoder.named():
            part.copy_(tensor(weights[key]))
        for name, size in model.sizes.items():
            rows, columns = slice(at, at + minilm.DIM), slice(column, column + size)
            model.poolers[name].weight.copy_(tensor(weights["pooler.weight"][:, rows].T))
            model.poolers[name].bias.copy_(tensor(weights["pooler.bias"][rows]))
            model.heads[name].weight.copy_(tensor(weights["head.weight"][rows, columns].T))
            model.heads[name].bias.copy_(tensor(weights["head.bias"][columns]))
            at, column = at + minilm.DIM, column + size


def calibrate(model, logits, targets):
    """One slope and one shift per label, fitted on the held-out rows, folded into the last layer."""
    done = {}
    with torch.no_grad():
        for i, name in enumerate(LABELS):
            known = ~np.isnan(targets[:, i])
            fit = LogisticRegression(C=1e6).fit(logits[known, i:i + 1], targets[known, i])
            slope, shift = max(float(fit.coef_[0, 0]), 0.05), float(fit.intercept_[0])
            head, row = (model.heads["toxicity"], i) if i < 6 else (model.heads["fairness"], 0)
            head.weight[row] *= slope
            head.bias[row] = head.bias[row] * slope + shift
            done[name] = {"slope": round(slope, 4), "shift": round(shift, 4)}
    return done


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def auroc(truth, scores):
    return round(float(roc_auc_score(truth, scores)), 4) if 0 < sum(truth) < len(truth) else None


def reliability(truth, p):
    """Expected calibration error over ten bins of equal width, and the bins."""
    bins, error = [], 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1 if low < 0.89 else p <= 1)
        if inside.any():
            bins.append([round(float(low), 1), int(inside.sum()), round(float(p[inside].mean()), 3),
                         round(float(truth[inside].mean()), 3)])
            error += inside.mean() * abs(p[inside].mean() - truth[inside].mean())
    return round(float(error), 4), bins


def choose_threshold(ordinary):
    """By expected cost: the probabilities are calibrated and a miss costs MISS_COST false alarms. Never so low that more than
    ORDINARY_MAY_PASS of ordinary text reach it."""
    least = np.quantile(ordinary, 1 - ORDINARY_MAY_PASS) if len(ordinary) else 0
    return round(float(np.ceil(100 * max(float(least), 1 / (1 + MISS_COST))) / 100), 2)


def at_threshold(truth, p, t):
    chosen, positive = p >= t, truth == 1
    hit = (chosen & positive).sum()
    recall = hit / max(positive.sum(), 1)
    kept = 1 - (chosen & ~positive).sum() / max((~positive).sum(), 1)
    return {"precision": round(float(hit / max(chosen.sum(), 1)), 3), "recall": round(float(recall), 3),
            "false_positives": round(float(1 - kept), 4), "balanced_accuracy": round(float((recall + kept) / 2), 3),
            "accuracy": round(float((chosen == positive).mean()), 3)}


def held_report(examples, targets, p, thresholds):
    ordinary = np.array([bool(ORDINARY.match(e.group)) for e in examples])
    sources = np.array([e.source for e in examples])
    kinds = np.array([re.sub(r".*/|(_\d+)?-\d+$", "", e.group) if e.source == "sentences" else e.source for e in examples])
    out = {"labels": {}, "sources": {}, "kinds": {}}
    for i, name in enumerate(LABELS):
        known = ~np.isnan(targets[:, i])
        truth, scores = targets[known, i], p[known, i]
        error, bins = reliability(truth, scores)
        passed = (p[ordinary & (targets[:, i] == 0), i] >= thresholds[name]).mean()
        out["labels"][name] = {"n": int(known.sum()), "positive": int(truth.sum()), "auroc": auroc(truth, scores),
                               "average_precision": round(float(average_precision_score(truth, scores)), 4),
                               "threshold": thresholds[name], **at_threshold(truth, scores, thresholds[name]),
                               "ordinary_false_positives": round(float(passed), 4), "ece": error, "reliability": bins}
    for s in sorted(set(sources)):
        out["sources"][s] = {}
        for i in (0, 5, 6):
            known = (sources == s) & ~np.isnan(targets[:, i])
            if known.any():
                truth, scores = targets[known, i], p[known, i]
                out["sources"][s][LABELS[i]] = {"n": int(known.sum()), "auroc": auroc(truth, scores),
                                                **at_threshold(truth, scores, thresholds[LABELS[i]])}
    for k in sorted(set(kinds)):
        rows = kinds == k
        out["kinds"][k] = {"n": int(rows.sum()), **{
            LABELS[i]: round(float((p[rows, i] >= thresholds[LABELS[i]]).mean()), 3) for i in (0, 5, 6)}}
    return out


def scores_of(run, rows, texts):
    """Whole text, and the highest of whole text and sentences, as the program does it."""
    parts = [[t, *[s for s in SENTENCE.split(t) if s and s.strip()]] for t in texts]
    flat = [t for part in parts for t in (part if len(part) > 2 else part[:1])]
    unique = list(dict.fromkeys(flat))
    p = dict(zip(unique, sigmoid(minilm.onnx_logits(run, [rows(t) for t in unique]))))
    whole = np.array([p[t] for t in texts])
    best = np.array([np.max([p[t] for t in (part if len(part) > 2 else part[:1])], axis=0) for part in parts])
    return whole, best


def measure(path, data_folder, data, rows, thresholds):
    run, out = minilm.open_onnx(path), {}
    for name, test in data.measured.items():
        whole, best = scores_of(run, rows, [r["text"] for r in test])
        truth = np.array([r["label"] for r in test])
        out[name] = {"n": len(test), "positive": int(truth.sum())}
        for kind, p in (("whole", whole), ("sentences", best)):
            out[name][kind] = {}
            for i in (0, 5, 6):
                label = LABELS[i]
                out[name][kind][label] = {
                    "auroc": auroc(truth, p[:, i]),
                    "average_precision": round(float(average_precision_score(truth, p[:, i])), 4),
                    **at_threshold(truth, p[:, i], thresholds[label])}
            if name == "openai_moderation":
                out[name][kind]["categories"] = {}
                for c in test[0]["categories"]:
                    known = np.array([r["categories"][c] is not None for r in test])
                    marks = np.array([r["categories"][c] or 0 for r in test])
                    out[name][kind]["categories"][c] = auroc(marks[known], p[known, 0])
        if name in ("hatecheck", "hatemoji", "xstest_prompts"):
            by = {}
            for subtype in sorted({str(r["subtype"]) for r in test}):
                chosen = np.array([str(r["subtype"]) == subtype for r in test])
                by[subtype] = {"n": int(chosen.sum()), "label": round(float(truth[chosen].mean()), 2), **{
                    LABELS[i]: round(float((whole[chosen, i] >= thresholds[LABELS[i]]).mean()), 3) for i in (0, 5)}}
            out[name]["by_subtype"] = by
    pairs = [r for r in rows_of(data_folder, "bias/crows_pairs") if r["split"] == "test"]
    more, less = (sigmoid(minilm.onnx_logits(run, [rows(r[f]) for r in pairs])) for f in ("sent_more", "sent_less"))
    stereo = np.array([r["direction"] == "stereo" for r in pairs])
    out["crows_pairs"] = {
        "n": len(pairs), "stereotype_scores_higher": round(float((more[:, 6] > less[:, 6])[stereo].mean()), 3),
        "share_at_threshold_stereotype": round(float((more[stereo, 6] >= thresholds["fairness_bias"]).mean()), 3),
        "share_at_threshold_other": round(float((less[stereo, 6] >= thresholds["fairness_bias"]).mean()), 3)}
    answers = {}
    for name, field in (("groundedness/halueval_qa", "answer"), ("answer_relevance/pubmedqa_constructed", "answer"),
                        ("groundedness/mtrag_human", "answer"), ("answer_relevance/usr_dialogue", "answer"),
                        ("answer_relevance/haluquestqa", "answer"), ("answer_relevance/xstest_refusals", "answer"),
                        ("groundedness/halueval_summarization", "answer"), ("groundedness/summedits", "answer"),
                        ("bias/winobias", "text")):
        texts = sorted({re.sub(r"[\[\]]", "", r[field]) for r in rows_of(data_folder, name) if r["split"] == "test"})[:300]
        whole, best = scores_of(run, rows, texts)
        answers[name] = {"n": len(texts), **{label: {
            "whole": int((whole[:, i] >= thresholds[label]).sum()), "sentences": int((best[:, i] >= thresholds[label]).sum())}
            for i, label in enumerate(LABELS)}}
    out["ordinary_answers"] = answers
    return out


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="the evaluation data")
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "toxicity", type=Path, help="folder for the checkpoint")
    parser.add_argument("--output", default=Path(__file__).parent.parent / "models" / "toxicity", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--first-epoch", type=int, default=0, help="number of the first epoch: other draws of the sentences")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--budget", type=int, default=4096, help="padded tokens in a batch")
    parser.add_argument("--limit", type=int, default=160, help="tokens of a text in training")
    parser.add_argument("--seconds", type=float, default=None, help="end the schedule after so many seconds")
    parser.add_argument("--size", type=int, help="examples of an epoch, drawn at random; all if not given")
    parser.add_argument("--traindata", type=Path, help="folder of further training sets")
    parser.add_argument("--start", type=Path, help="whose weights training starts from: a checkpoint, or a joined .onnx file of ours (share_words.py --join)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--measure", action="store_true", help="score the test sets with the exported file")
    return parser.parse_args()


def main():
    args = arguments()
    data = Data(args.data, args.seed, args.traindata)
    rows, cut = Rows(256), Rows(args.limit)
    model, checkpoint = new_model(args.seed), args.work / "toxicity.pt"
    if args.start and args.start.suffix == ".onnx":
        started(model, args.start)
    elif args.start:
        minilm.load(model, args.start)
    print(f"{len(data.open)} open, {len(data.held)} held out, {data.dropped} dropped", flush=True)
    def epoch(number):
        found = data.epoch(args.first_epoch + number)
        return random.Random(args.seed + number).sample(found, args.size) if args.size else found

    result = minilm.fit(model, lambda e: cut.examples(epoch(e)), loss, epochs=args.epochs, rate=args.rate,
                        head_rate=4 * args.rate, budget=args.budget, seconds=args.seconds, threads=args.threads,
                        checkpoint=checkpoint, label="toxicity")
    print(result, flush=True)

    targets = np.array([e.labels for e in data.held])
    held_rows = rows.examples(data.held)
    slopes = calibrate(model, minilm.torch_logits(model, held_rows, half=True, label="held out"), targets)
    sample = data.epoch(999)
    np.random.default_rng(args.seed).shuffle(sample)
    texts = [e.text for e in sample[:700]] + [t for t in minilm.base.ODD]
    path = minilm.export(model, [rows(t) for t in texts], args.output / "model.onnx")
    toxicity_text.write(args.output / "emoji.tsv")

    p = sigmoid(minilm.onnx_logits(path, held_rows))
    ordinary = np.array([bool(ORDINARY.match(e.group)) for e in data.held])
    thresholds = {name: choose_threshold(p[ordinary & (targets[:, i] == 0), i]) for i, name in enumerate(LABELS)}
    report = {"rows": dict(Counter(e.source for e in data.open + data.held)), "dropped": data.dropped,
              "training": {"examples_per_epoch": len(data.epoch(0)), **result},
              "labels": {n: {"positive": sum(e.labels[i] == 1 for e in data.open + data.first_made),
                             "known": sum(e.labels[i] == e.labels[i] for e in data.open + data.first_made)}
                         for i, n in enumerate(LABELS)},
              "calibration": slopes, "held_out": held_report(data.held, targets, p, thresholds)}
    short = {n: {k: report["held_out"]["labels"][n][k] for k in ("threshold", "precision", "recall")} for n in LABELS}
    (args.output / "thresholds.json").write_text(json.dumps(short, indent=1) + "\n")
    if args.measure:
        report["measured"] = measure(path, args.data, data, rows, thresholds)
    (args.output / "measured.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
