"""The third stage of the entailment model: it learns to read, from public data and everyday answers.

    python entailment_read.py prepare --traindata DIR --data DIR    # pairs, once
    python entailment_read.py train --traindata DIR --data DIR --of 1:FILE      # starts from a checkpoint or a stored file; resumable
    python entailment_read.py train … --base RERANKER.onnx          # starts from a published pair encoder, of twelve layers say
    python entailment_read.py pack …; train --packed FILE …         # the training elsewhere, on a GPU where there is one
    python entailment_read.py mean --name NAME --of .7:RUN.pt --of .3:../models/entailment/weights.bin
"""

import argparse
import gzip
import json
import pickle
import random
import time
from collections import Counter
from dataclasses import dataclass
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
import share_words


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


def started(path, source=None):
    """A model with the weights of a stored file; `source` is what its training began from, and has its words."""
    model, weights = base.new_model(source), stored_weights(path)
    layers = minilm.base.layers_of(weights)
    if layers != len(model.encoder.layers):
        raise SystemExit(f"{path}: it has {layers} layers, and what the model starts from has {len(model.encoder.layers)}: name its start with --base")
    tensor = lambda key: torch.from_numpy(np.array(weights[key], np.float32))
    with torch.no_grad():
        for part, key in model.encoder.named():
            part.copy_(tensor(key))
        model.poolers["entailment"].weight.copy_(tensor("pooler.weight").T)
        model.poolers["entailment"].bias.copy_(tensor("pooler.bias"))
        model.heads["entailment"].weight.copy_(tensor("head.weight").T)
        model.heads["entailment"].bias.copy_(tensor("head.bias"))
    return model


def of_file(args, path):
    """A model with the weights of a checkpoint (.pt, of --base if that is given), of an exported file (.onnx) or of a stored one."""
    if not path.exists():
        raise SystemExit(f"{path}: no such file")
    if path.suffix == ".pt":
        return minilm.load(base.new_model(args.base), path)
    return started(path if path.suffix == ".onnx" else share_words.whole(path, args.work), args.base)


def mean_of(args, parts):
    """The mean of the parameters of several models: `parts` are (share, file), and the shares become 1 in all."""
    total, out = sum(share for share, _ in parts), None
    for share, path in parts:
        model = of_file(args, path)
        with torch.no_grad():
            if out is None:
                out = model
                for a in out.parameters():
                    a.mul_(share / total)
            else:
                for a, b in zip(out.parameters(), model.parameters(), strict=True):
                    a.add_(b, alpha=share / total)
    return out


def part_of(text):
    """SHARE:FILE of the command line."""
    share, _, path = text.partition(":")
    try:
        found = float(share), Path(path).resolve()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected SHARE:FILE, such as .7:run.pt") from None
    if found[0] <= 0 or not path:
        raise argparse.ArgumentTypeError(f"{text}: expected a share above zero and a file")
    return found


def mean(args):
    """Writes the mean of --of as a checkpoint, which `entailment_verdict.py export --name` takes."""
    if not args.of:
        raise SystemExit("mean: name the files, such as --of .7:run.pt --of .3:../models/entailment/weights.bin")
    model = mean_of(args, args.of)
    minilm.save(model.half() if args.half else model, args.work / f"{args.name}.pt")
    print(json.dumps({"name": args.name, "of": [[share, str(path)] for share, path in args.of]}), flush=True)


@dataclass
class Shown:
    """What a report needs of a pair."""
    kind: str
    label: int


def prepare(args):
    path = args.work / args.pairs
    start = time.time()
    data = public.collected(args.traindata, args.data, minilm.Tokens(256), ef.Vectors(args.work / "vectors.npz"), seed=args.seed)
    path.write_bytes(pickle.dumps(data))
    print({n: (len(p), Counter(x.label for x in p)) for n, p in data["pairs"].items()})
    print({n: len(data[n]) for n in ("train", "choosing", "held", "kept")}, f"{time.time() - start:.0f} s", flush=True)


def everyday_pairs(items, tokens):
    """(label, kind, row) of the whole answers, with the question before them."""
    out = []
    for r, _, variants in items:
        pair = variants["whole"][-1]
        read = ep.Pair(pair.premise, f"{r['question']} {pair.hypothesis}", pair.label, "", "", None)
        out.append((r["label"], r["label_raw"], base.row_of(tokens, read)))
    return out


def auroc_everyday(model, pairs):
    """AUROC on whole answers, and by kind the share judged rightly where as many are flagged as are false."""
    p = base.probabilities(minilm.torch_logits(model, [row for _, _, row in pairs], half=True))[:, 0]
    labels = np.array([label for label, _, _ in pairs])
    cut = np.quantile(p, labels.mean())
    kinds = {}
    for (label, kind, _), value in zip(pairs, p):
        kinds.setdefault(kind, []).append((value < cut) == bool(label))
    return {"auroc": round(minilm.auroc(labels, 1 - p), 4), **{k: round(float(np.mean(v)), 2) for k, v in sorted(kinds.items())}}


def small(row):
    """A row in few bytes: it is written, and thousands of them lie in memory."""
    label, marks = row.target if row.target else (None, None)
    known = marks is not None and any(m >= 0 for m in marks)
    return np.array(row.ids, np.uint16), row.types.index(1), label, np.array(marks, np.int8) if known else None, row.weight


def grown(found):
    ids, second, label, marks, weight = found
    count = len(ids)
    target = (label, [-1] * count if marks is None else marks.tolist())
    return minilm.Row(ids.tolist(), [0] * second + [1] * (count - second), target, weight)


def material(args):
    """What a run needs: the rows of each part, and what it is looked at with on its way, all in tokens."""
    data, tokens = pickle.loads((args.work / args.pairs).read_bytes()), minilm.Tokens(256)
    mixed = public.parts(data["pairs"], data["train"], args.size, args.parts, args.seed)
    del data["pairs"], data["train"]  # some gigabytes
    kinds = Counter(p.kind.split("-")[0] for p in mixed[0])
    shown = random.Random(args.seed).sample(data["kept"], min(500, len(data["kept"])))
    of = lambda pairs: [small(base.row_of(tokens, p)) for p in pairs]
    return {"parts": [of(part) for part in mixed], "kinds": kinds, "plain": base.everyday_rows(tokens),
            "choosing": everyday_pairs(data["choosing"], tokens), "shown": [(p.kind, p.label) for p in shown], "shown_rows": of(shown)}


def pack(args):
    """Writes the material of a run, so that it needs neither the data nor the tokenizer where it is trained."""
    if not args.packed:
        raise SystemExit("pack: name the file with --packed")
    with gzip.open(args.packed, "wb", compresslevel=6) as out:
        pickle.dump(material(args), out)
    print(f"{args.packed}: {args.packed.stat().st_size:,} bytes", flush=True)


def freeze(model, count):
    """The embeddings and the first layers stay as they are: with six of twelve a step takes .72 of the time."""
    for at, layer in enumerate(model.encoder.layers):
        for part in layer.parameters():
            part.requires_grad_(at >= count)
    for part in (model.encoder.places, model.encoder.types, *model.encoder.norm.parameters()):
        part.requires_grad_(count == 0)


def train(args):
    if args.packed:
        with gzip.open(args.packed, "rb") as lines:
            found = pickle.load(lines)
    else:
        found = material(args)
    rows = [[grown(r) for r in part] for part in found["parts"]]
    print(json.dumps({"pairs": sum(map(len, rows)), "tokens": sum(len(r.ids) for part in rows for r in part), "kinds": found["kinds"]}), flush=True)
    shown = [Shown(*x) for x in found["shown"]]
    shown_rows = [grown(r) for r in found["shown_rows"]]

    def validate(model, done):
        print(f"after {done:.0%}: {json.dumps(auroc_everyday(model, found['choosing']))}", flush=True)
        print(f"after {done:.0%}: plain sentences: {base.everyday(lambda rows: minilm.torch_logits(model, rows), found['plain'])}", flush=True)
        report = base.report(shown, minilm.torch_logits(model, shown_rows, half=True))
        print(f"after {done:.0%}: kept {({k: report[k] for k in ('all', 'fever', 'begin') if k in report})}", flush=True)

    if args.of or not args.base:
        model = mean_of(args, args.of or [(1.0, args.start)])
    else:
        model = base.new_model(args.base)
    freeze(model, args.frozen)
    if not (args.work / f"{args.name}.pt").exists():
        validate(model, 0.0)
    result = minilm.fit(model, lambda i: rows[i], base.loss, epochs=len(rows), rate=args.rate, head_rate=2 * args.rate, budget=args.budget,
                        seed=args.seed, threads=args.threads, seconds=args.seconds, checkpoint=args.work / f"{args.name}.pt",
                        validate=validate, validate_every=args.check_every, label="read")
    validate(model, 1.0)
    print(result, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["prepare", "pack", "train", "mean"])
    parser.add_argument("--traindata", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", default=Path.home() / ".cache" / "train" / "work", type=Path, help="folder for intermediate files")
    parser.add_argument("--start", default=base.OUTPUT / "weights.bin", type=Path, help="stored weights to start from")
    parser.add_argument("--of", type=part_of, action="append", help="SHARE:FILE, once a file (.pt, .onnx or stored): their mean is written, or trained from")
    parser.add_argument("--base", type=Path, help="int8 ONNX file of a published pair encoder, of any number of layers, to begin from instead")
    parser.add_argument("--half", action="store_true", help="a mean is written in f16, in half of the bytes; a later step reads it as f32")
    parser.add_argument("--packed", type=Path, help="file that `pack` writes and `train` reads")
    parser.add_argument("--pairs", default="public-pairs.pkl", help="file of pairs in the work folder")
    parser.add_argument("--name", default="entailment3")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--frozen", type=int, default=0, help="so many of the first layers, and what lies below them, do not learn")
    parser.add_argument("--budget", type=int, default=3072)
    parser.add_argument("--size", type=int, default=10000)
    parser.add_argument("--parts", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=3900)
    parser.add_argument("--check-every", type=float, default=900)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    needs_data = args.step in ("prepare", "pack") or args.step == "train" and not args.packed
    if needs_data and not (args.traindata and args.data):
        parser.error(f"{args.step} needs --traindata and --data")
    args.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    {"prepare": prepare, "pack": pack, "train": train, "mean": mean}[args.step](args)


if __name__ == "__main__":
    main()
