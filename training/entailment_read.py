"""The third stage of the entailment model: it learns to read, from public data and everyday answers.

    python entailment_read.py prepare --traindata DIR --data DIR    # pairs, once
    python entailment_read.py train --traindata DIR --data DIR      # starts from models/entailment/weights.bin; resumable
"""

import argparse
import json
import pickle
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

import entailment as base
import entailment_pairs as ep
import entailment_features as ef
import entailment_public as public
import minilm


def stored_weights(path):
    """The weights of an int8 file of ours, in f32, under their published names."""
    graph = onnx.load(path).graph
    have = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    out = {}
    for name, value in have.items():
        if not name.endswith(".weight") or f"{name[:-7]}.total_scale" not in have:
            continue
        key = name[:-7]
        shared = key.replace(".key", ".query").replace(".value", ".query")  # these three read the same input
        step = float(have[f"{shared}.step"])
        weight = value.astype(np.float32) * (have[f"{key}.total_scale"] / step)
        if f"{shared}.inverse" in have:
            weight = weight * have[f"{shared}.inverse"][:, None]
        out[f"{key}.weight"], out[f"{key}.bias"] = weight.T, have[f"{key}.bias"]
    for name, value in have.items():
        if "LayerNorm" in name or name.startswith(("pooler.", "head.")):
            out[name] = value
    out["embeddings.position_embeddings.weight"] = have["places"]
    out["embeddings.token_type_embeddings.weight"] = have["types"]
    return out


def started(path):
    """A model with the weights of a stored file."""
    model, weights = base.new_model(), stored_weights(path)
    tensor = lambda key: torch.from_numpy(np.array(weights[key], np.float32))
    with torch.no_grad():
        for part, key in model.encoder.named():
            part.copy_(tensor(key))
        model.poolers["entailment"].weight.copy_(tensor("pooler.weight").T)
        model.poolers["entailment"].bias.copy_(tensor("pooler.bias"))
        model.heads["entailment"].weight.copy_(tensor("head.weight").T)
        model.heads["entailment"].bias.copy_(tensor("head.bias"))
    return model


def between(args, share):
    """Weights on the way from the shipped file to --start."""
    paths = []
    for i, source in enumerate((base.OUTPUT / "weights.bin", args.start)):
        path = args.work / f"between-{i}.onnx"
        if not path.exists():
            subprocess.run([sys.executable, "share_words.py", "--join", str(source.resolve()), str(path)], check=True, cwd=base.HERE)
        paths.append(path)
    model, other = started(paths[0]), started(paths[1])
    with torch.no_grad():
        for a, b in zip(model.parameters(), other.parameters()):
            a.lerp_(b, share)
    return model


def start_file(args):
    path = args.work / "start.onnx"
    if not path.exists():
        subprocess.run([sys.executable, "share_words.py", "--join", str(args.start), str(path)], check=True, cwd=base.HERE)
    return path


def prepare(args):
    path = args.work / "public-pairs.pkl"
    start = time.time()
    data = public.collected(args.traindata, args.data, minilm.Tokens(256), ef.Vectors(args.work / "vectors.npz"), seed=args.seed)
    path.write_bytes(pickle.dumps(data))
    print({n: (len(p), Counter(x.label for x in p)) for n, p in data["pairs"].items()})
    print({n: len(data[n]) for n in ("train", "choosing", "held", "kept")}, f"{time.time() - start:.0f} s", flush=True)


def auroc_everyday(model, items, tokens, question):
    """AUROC on whole answers, and by kind the share judged rightly where as many are flagged as are false."""
    pairs = []
    for r, _, variants in items:
        pair = variants["whole"][-1]
        text = f"{r['question']} {pair.hypothesis}" if question else pair.hypothesis
        pairs.append((r, base.row_of(tokens, ep.Pair(pair.premise, text, pair.label, "", "", None))))
    p = base.probabilities(minilm.torch_logits(model, [x[1] for x in pairs], half=True))[:, 0]
    labels = np.array([r["label"] for r, _ in pairs])
    cut = np.quantile(p, labels.mean())
    kinds = {}
    for (r, _), value in zip(pairs, p):
        kinds.setdefault(r["label_raw"], []).append((value < cut) == bool(r["label"]))
    return {"auroc": round(minilm.auroc(labels, 1 - p), 4), **{k: round(float(np.mean(v)), 2) for k, v in sorted(kinds.items())}}


def train(args):
    data, tokens = pickle.loads((args.work / args.pairs).read_bytes()), minilm.Tokens(256)
    mixed = public.parts(data["pairs"], data["train"], args.size, args.parts, args.seed)
    rows = [[base.row_of(tokens, p) for p in part] for part in mixed]
    print(json.dumps({"pairs": sum(map(len, rows)), "tokens": sum(len(r.ids) for part in rows for r in part),
                      "kinds": Counter(p.kind.split("-")[0] for p in mixed[0])}), flush=True)
    shown = random.Random(args.seed).sample(data["kept"], min(500, len(data["kept"])))
    shown_rows = [base.row_of(tokens, p) for p in shown]

    def validate(model, done):
        for question in (False, True):
            print(f"after {done:.0%}, question {question}: {json.dumps(auroc_everyday(model, data['choosing'], tokens, question))}", flush=True)
        report = base.report(shown, minilm.torch_logits(model, shown_rows, half=True))
        print(f"after {done:.0%}: kept {({k: report[k] for k in ('all', 'fever', 'begin') if k in report})}", flush=True)

    model = minilm.load(base.new_model(), args.begin) if args.begin else between(args, args.between) if args.between else started(start_file(args))
    if not (args.work / f"{args.name}.pt").exists():
        validate(model, 0.0)
    result = minilm.fit(model, lambda i: rows[i], base.loss, epochs=len(rows), rate=args.rate, head_rate=2 * args.rate, budget=args.budget,
                        seed=args.seed, threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{args.name}.pt",
                        validate=validate, validate_every=args.check_every, label="read")
    validate(model, 1.0)
    print(result, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["prepare", "train"])
    parser.add_argument("--traindata", required=True, type=Path)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--start", default=base.OUTPUT / "weights.bin", type=Path, help="weights to start from")
    parser.add_argument("--between", type=float, help="begin so far on the way from the shipped weights to --start")
    parser.add_argument("--begin", type=Path, help="a checkpoint to start from, instead of --start")
    parser.add_argument("--pairs", default="public-pairs.pkl", help="file of pairs in the work folder")
    parser.add_argument("--name", default="entailment3")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--budget", type=int, default=3072)
    parser.add_argument("--size", type=int, default=10000)
    parser.add_argument("--parts", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=3900)
    parser.add_argument("--check-every", type=float, default=900)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    {"prepare": prepare, "train": train}[args.step](args)


if __name__ == "__main__":
    main()
