"""MiniLM with heads, of as many layers as what it starts from: fine-tuning on a processor or a GPU, and the int8 ONNX file that the program runs.

The word embeddings are frozen and are the int8 table of models/minilm-l6-v2, so that all shipped models can share one copy.
A head reads the vector of [CLS]: a tanh pooler (optional), dropout and a linear layer. Several named heads may sit on one
encoder; in the exported file their logits stand side by side in the order in which the heads were named.

    model = Classifier({"entailment": 3}, pooler=True)
    tokens = Tokens()
    rows = [Row(*tokens.pair("premise", "hypothesis"), target=2), ...]
    fit(model, rows, loss, epochs=2, rate=1e-4, checkpoint="run.pt")     # loss(model, batch) -> scalar
    export(model, calibration_rows, "model.onnx")
    logits = onnx_logits("model.onnx", rows)

The start is all-MiniLM-L6-v2, or `source`: a folder of the same kind, or the int8 ONNX file of a published pair encoder of this width and
with these word pieces, of any number of layers (`published_pair_encoder`); that one keeps its own word table, frozen too.
"""

import json
import math
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
import torch.nn.functional as F
from onnx import TensorProto, checker, helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from torch import nn
from tqdm import tqdm

import convert_minilm as base
from convert_minilm import DIM, HEADS

INTERMEDIATE, PLACES, CLS, SEP = 1536, 512, 101, 102


# ---------------------------------------------------------------------------------------------------------- tokens

class Tokens:
    """Token ids of one text or of a pair; the first text of a pair is cut so that the whole fits."""

    def __init__(self, limit=256, second_limit=128, source=None):
        self.tokenizer = Tokenizer.from_file(str(Path(source or base.default_model()) / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.limit, self.second_limit = limit, second_limit

    def plain(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    def single(self, text):
        ids = [CLS, *self.plain(text).ids[:self.limit - 2], SEP]
        return ids, [0] * len(ids)

    def pair(self, first, second):
        b = self.plain(second).ids[:self.second_limit]
        a = self.plain(first).ids[:self.limit - 3 - len(b)]
        return [CLS, *a, SEP, *b, SEP], [0] * (len(a) + 2) + [1] * (len(b) + 1)


@dataclass
class Row:
    ids: list
    types: list
    target: object = None
    weight: float = 1.0
    extra: dict = field(default_factory=dict)


def arrays(rows):
    """Padded input arrays of a batch, named as the ONNX inputs are."""
    width = max(len(r.ids) for r in rows)
    ids = np.zeros((len(rows), width), np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for i, row in enumerate(rows):
        n = len(row.ids)
        ids[i, :n], types[i, :n], mask[i, :n] = row.ids, row.types, 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def batches(rows, budget, rng, largest=256):
    """Batches of rows of like length with at most `budget` padded tokens each, in random order."""
    order = list(range(len(rows)))
    rng.shuffle(order)
    out, pool = [], 4096
    for start in range(0, len(order), pool):
        part = sorted(order[start:start + pool], key=lambda i: len(rows[i].ids))
        batch, width = [], 0
        for i in part:
            wider = max(width, len(rows[i].ids))
            if batch and (wider * (len(batch) + 1) > budget or len(batch) >= largest):
                out.append(batch)
                batch, wider = [], len(rows[i].ids)
            batch.append(i)
            width = wider
        if batch:
            out.append(batch)
    rng.shuffle(out)
    return out


# ----------------------------------------------------------------------------------------------------------- model

def lower(x):
    """In bf16 where autocast is on, so that each of the layers behind does not cast by itself."""
    return x.to(torch.bfloat16) if torch.is_autocast_enabled(x.device.type) else x


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(DIM, DIM) for _ in range(3))
        self.mixed, self.up, self.down = nn.Linear(DIM, DIM), nn.Linear(DIM, INTERMEDIATE), nn.Linear(INTERMEDIATE, DIM)
        self.mixed_norm, self.norm = nn.LayerNorm(DIM, 1e-12), nn.LayerNorm(DIM, 1e-12)

    names = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
             "mixed": "attention.output.dense", "mixed_norm": "attention.output.LayerNorm",
             "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"}

    def forward(self, x, mask, dropout, first_only=False):
        b, s, _ = x.shape
        x = lower(x)
        heads = lambda t: t.view(b, -1, HEADS, DIM // HEADS).transpose(1, 2)
        k, v = heads(self.key(x)), heads(self.value(x))
        if first_only:  # only the first place's vector is wanted
            x, s = x[:, :1], 1
        q = heads(self.query(x))
        if x.device.type == "cuda":
            mixed = F.scaled_dot_product_attention(q, k, v, mask)
        else:  # the fused kernel's backward pass takes half of the time on a processor
            scores = torch.matmul(q * (DIM // HEADS) ** -0.5, k.transpose(2, 3))
            if mask is not None:
                scores.add_(mask.to(scores.dtype))
            with torch.autocast("cpu", enabled=False):
                mixed = torch.matmul(torch.softmax(scores, -1).to(v.dtype), v)
        mixed = self.mixed(mixed.transpose(1, 2).reshape(b, s, DIM))
        x = lower(self.mixed_norm(x + F.dropout(mixed, dropout, self.training)))
        out = self.down(F.gelu(self.up(x)))
        return self.norm(x + F.dropout(out, dropout, self.training))


def published_pair_encoder(path):
    """The weights of an int8 ONNX file as `onnxruntime.quantization` writes it, in f32, under their published names."""
    import onnx
    from onnx import numpy_helper
    graph = onnx.load(path).graph
    have = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    plain = lambda name: name.removeprefix("bert.")
    value = lambda name: (have[name].astype(np.float32) - have[name.replace("_quantized", "_zero_point")]) * have[name.replace("_quantized", "_scale")]
    out = {plain(n): v for n, v in have.items() if v.dtype == np.float32 and n.endswith((".weight", ".bias"))}
    out |= {plain(n[:-len("_quantized")]): value(n) for n in have if n.endswith(".weight_quantized") and "embeddings" in n}
    for node in graph.node:  # the product's name tells the layer: /bert/encoder/layer.0/attention/self/query/MatMul_quant
        if node.op_type == "MatMulInteger" and "layer." in node.name:
            key = ".".join(node.name.strip("/").split("/")[:-1])
            out[plain(f"{key}.weight")] = value(node.input[1]).T
    for key in ("bert.pooler.dense", "classifier"):
        if f"{key}.weight_quantized" in have:
            out[plain(f"{key}.weight")] = value(f"{key}.weight_quantized").T
    return out


def weights_of(source):
    source = Path(source or base.default_model())
    return published_pair_encoder(source) if source.suffix == ".onnx" else load_file(source / "model.safetensors")


class Encoder(nn.Module):
    def __init__(self, source=None, dropout=0.0):
        super().__init__()
        self.original = weights_of(source)
        words = self.original["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / 127
        table = np.clip(np.rint(words / scale), -127, 127).astype(np.float32) * scale.astype(np.float32)
        self.register_buffer("words", torch.from_numpy(table), persistent=False)
        tensor = lambda key: torch.from_numpy(self.original[key].copy())
        self.places = nn.Parameter(tensor("embeddings.position_embeddings.weight")[:PLACES])
        self.types = nn.Parameter(tensor("embeddings.token_type_embeddings.weight"))
        self.norm, self.dropout = nn.LayerNorm(DIM, 1e-12), dropout
        self.layers = nn.ModuleList(Layer() for _ in range(base.layers_of(self.original)))
        with torch.no_grad():
            for part, key in self.named():
                part.copy_(tensor(key))

    def named(self):
        """The trainable parts and the names that the published file gives them."""
        yield self.places, "embeddings.position_embeddings.weight"
        yield self.types, "embeddings.token_type_embeddings.weight"
        for kind in ("weight", "bias"):
            yield getattr(self.norm, kind), f"embeddings.LayerNorm.{kind}"
            for i, layer in enumerate(self.layers):
                for name, key in Layer.names.items():
                    yield getattr(getattr(layer, name), kind), f"encoder.layer.{i}.{key}.{kind}"

    def published(self):
        """The weights under their published names; the word table is the original one."""
        out = {key: part.detach().float().cpu().numpy() for part, key in self.named()}
        out["embeddings.word_embeddings.weight"] = self.original["embeddings.word_embeddings.weight"]
        return out

    def forward(self, ids, mask, types):
        """The last layer's vector of [CLS], (batch, 1, 384), and all vectors of the layer before."""
        x = F.embedding(ids, self.words) + F.embedding(types, self.types) + self.places[:ids.shape[1]]
        x = F.dropout(self.norm(x), self.dropout, self.training)
        mask = None if bool(mask.all()) else (1.0 - mask[:, None, None, :].float()) * -10000.0
        if mask is not None:
            mask = lower(mask)
        for layer in self.layers[:-1]:
            x = layer(x, mask, self.dropout)
        return self.layers[-1](x, mask, self.dropout, first_only=True), x


class Classifier(nn.Module):
    """An encoder and named heads on [CLS]. `heads` gives each head's number of logits."""

    def __init__(self, heads, pooler=True, dropout=0.1, encoder_dropout=0.0, source=None, seed=7):
        super().__init__()
        torch.manual_seed(seed)
        self.encoder, self.sizes, self.dropout = Encoder(source, encoder_dropout), dict(heads), dropout
        self.poolers = nn.ModuleDict({n: nn.Linear(DIM, DIM) for n in heads}) if pooler else None
        self.heads = nn.ModuleDict({n: nn.Linear(DIM, k) for n, k in heads.items()})
        for part in [*self.heads.values(), *(self.poolers.values() if pooler else [])]:
            nn.init.normal_(part.weight, std=0.02)
            nn.init.zeros_(part.bias)

    def head(self, name, hidden):
        x = hidden[:, 0]
        if self.poolers is not None:
            x = torch.tanh(self.poolers[name](x))
        return self.heads[name](F.dropout(x, self.dropout, self.training)).float()

    def forward(self, batch, names=None):
        """{head: logits}; the last layer but one is under "hidden", (batch, sequence, 384)."""
        last, hidden = self.encoder(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        return {"hidden": hidden, **{n: self.head(n, last) for n in names or self.sizes}}


def tensors(rows, device="cpu"):
    return {k: torch.from_numpy(v).to(device) for k, v in arrays(rows).items()}


# -------------------------------------------------------------------------------------------------------- training

class Progress:
    """A bar on a terminal, a plain line every 30 seconds elsewhere."""

    def __init__(self, total, label):
        self.bar = tqdm(total=total, desc=label, unit="ex", disable=not sys.stderr.isatty())
        self.total, self.label, self.done, self.start = total, label, 0, time.time()
        self.shown = self.start

    def update(self, count, note=""):
        self.done += count
        self.bar.update(count)
        self.bar.set_postfix_str(note)
        now = time.time()
        if self.bar.disable and now - self.shown > 30:
            self.shown = now
            speed = self.done / (now - self.start)
            print(f"{self.label}: {self.done}/{self.total} examples, {speed:.0f}/s, {now - self.start:.0f} s, "
                  f"{(self.total - self.done) / max(speed, 1e-9):.0f} s left, {note}", flush=True)


def half_is_quick(device):
    """Whether bf16 is quicker than f32: a GPU, or a processor with instructions for it. Others do it many times slower."""
    if device != "cpu":
        return True
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "amx_bf16" in flags or "avx512_bf16" in flags


def autocast(device):
    return torch.autocast(device, dtype=torch.bfloat16, enabled=half_is_quick(device))


def fit(model, rows, loss, epochs=1, rate=1e-4, head_rate=None, budget=4096, warmup=0.06, decay=0.01, clip=1.0, seed=7,
        threads=1, device=None, checkpoint=None, save_every=120, seconds=None, validate=None, validate_every=None,
        label="training"):
    """Trains in place. `loss(model, batch)` gets the padded tensors and batch["rows"], and returns a scalar.

    `rows` is a list, or a function of the epoch that returns one (all of about the same size). With `checkpoint` the state is
    saved every `save_every` seconds and a run that was stopped goes on from there. `seconds` ends the schedule early: the
    rate falls to zero at that moment at the latest.
    """
    torch.set_num_threads(threads)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).train()
    head_parts = {id(p) for n, p in model.named_parameters() if not n.startswith("encoder.")}
    groups = []
    for is_head in (False, True):
        for plain in (False, True):
            parts = [p for p in model.parameters()
                     if p.requires_grad and (id(p) in head_parts) == is_head and (p.ndim < 2) == plain]
            groups.append({"params": parts, "peak": (head_rate or rate) if is_head else rate,
                           "weight_decay": 0.0 if plain else decay})
    optimizer = torch.optim.AdamW(groups, lr=rate, fused=True)
    plan = []
    for epoch in range(epochs):
        part = rows(epoch) if callable(rows) else rows
        plan += [(part, chosen) for chosen in batches(part, budget, random.Random(f"{seed}-{epoch}"))]
    step, elapsed, checkpoint = 0, 0.0, Path(checkpoint) if checkpoint else None
    torch.manual_seed(seed)
    if checkpoint and checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        model.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"].cpu())
        step, elapsed = state["step"], state["elapsed"]
        print(f"{label}: goes on at step {step} of {len(plan)}", flush=True)
    start, saved, checked = time.time() - elapsed, time.time(), time.time()
    progress = Progress(sum(len(c) for _, c in plan[step:]), label)
    mean = None
    while step < len(plan):
        done = step / len(plan)
        if seconds:
            done = max(done, (time.time() - start) / seconds)
        if done >= 1:
            break
        factor = min(1.0, (step + 1) / max(1, warmup * len(plan))) * min(1.0, (1 - done) / (1 - warmup))
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * factor
        part, chosen = plan[step]
        batch_rows = [part[i] for i in chosen]
        batch = tensors(batch_rows, device)
        batch["rows"] = batch_rows
        with autocast(device):
            value = loss(model, batch)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        step += 1
        number = float(value.detach())
        mean = number if mean is None else 0.98 * mean + 0.02 * number
        progress.update(len(chosen), f"loss {mean:.4f}")
        if checkpoint and time.time() - saved > save_every:
            saved = time.time()
            save(model, checkpoint, optimizer, step, saved - start)
        if validate and validate_every and time.time() - checked > validate_every:
            validate(model, step / len(plan))
            model.train()
            checked = time.time()
    if checkpoint:
        save(model, checkpoint, optimizer, step, time.time() - start)
    model.eval()
    return {"steps": step, "planned": len(plan), "seconds": round(time.time() - start), "loss": mean}


def save(model, path, optimizer=None, step=0, elapsed=0.0):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "step": step, "elapsed": elapsed, "random": torch.get_rng_state()}
    if optimizer is not None:
        state["optimizer"] = optimizer.state_dict()
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)


def load(model, path):
    state = torch.load(path, map_location="cpu", weights_only=True)["model"]
    layers = 1 + max(int(key.split(".")[2]) for key in state if key.startswith("encoder.layers."))
    if layers != len(model.encoder.layers):
        raise SystemExit(f"{path}: it has {layers} layers, and what the model starts from has {len(model.encoder.layers)}: name its start with --base")
    model.load_state_dict(state, strict=False)
    return model.eval()


def torch_logits(model, rows, budget=8192, device=None, half=False, label="torch"):
    """Logits of all heads side by side, in the order of the rows; f32 unless `half`."""
    device = device or next(model.parameters()).device.type
    model.to(device).eval()
    out, progress = [None] * len(rows), Progress(len(rows), label)
    with torch.no_grad():
        for chosen in batches(rows, budget, random.Random(0)):
            with torch.autocast(device, dtype=torch.bfloat16, enabled=half and half_is_quick(device)):
                result = model(tensors([rows[i] for i in chosen], device))
            logits = torch.cat([result[n] for n in model.sizes], dim=1).float().cpu().numpy()
            for i, row in zip(chosen, logits):
                out[i] = row
            progress.update(len(chosen))
    return np.array(out)


# ---------------------------------------------------------------------------------------------------------- export

class HeadGraph(base.Graph):
    """Ends in the heads' logits instead of the last hidden state."""

    def __init__(self, weights, layers):
        super().__init__()
        self.weights, self.layers = weights, layers

    def model(self, outputs):
        last, probes = self.nodes.pop(), outputs[1:]
        assert last.op_type == "Identity"
        x = self.node("Gather", [last.input[0], self.constant("first", np.array(0, np.int64))], "cls", axis=1)
        if "pooler.weight" in self.weights:
            x = self.node("MatMul", [x, self.constant("pooler.weight", self.weights["pooler.weight"])], "pooler.product")
            x = self.node("Add", [x, self.constant("pooler.bias", self.weights["pooler.bias"])], "pooler.sum")
            x = self.node("Tanh", [x], "pooled")
        x = self.node("MatMul", [x, self.constant("head.weight", self.weights["head.weight"])], "head.product")
        self.node("Add", [x, self.constant("head.bias", self.weights["head.bias"])], "logits")
        ids = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        out = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(self.weights["head.bias"])])]
        out += [helper.make_tensor_value_info(o, TensorProto.FLOAT, ["batch", None, None]) for o in probes]
        graph = helper.make_graph(self.nodes, f"MiniLM-L{self.layers} with heads",
                                  [ids("input_ids"), ids("attention_mask"), ids("token_type_ids")], out,
                                  initializer=list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        checker.check_model(model)
        return model


class HeadBuilder(base.Builder):
    """The encoder of `convert_minilm`, but the last layer works only on [CLS], which is all that the heads read."""

    def __init__(self, weights, heads, smoothing=None, ranges=None):
        super().__init__(weights, smoothing, ranges)
        self.g, self.last = HeadGraph(heads, self.layers), f"encoder.layer.{self.layers - 1}"

    def first_place(self, x, name):
        g = self.g
        zero, one = (g.constant(f"place_{i}", np.array([i], np.int64)) for i in (0, 1))
        return g.node("Slice", [x, zero, one, one], name)

    def linear(self, source, factor, key, column_factor=None):
        out = super().linear(source, factor, key, column_factor)
        return self.first_place(out, f"{key}.first") if key == f"{self.last}.attention.self.query" else out

    def norm(self, x, key):
        # The sum before this norm spread the one mixed vector over all places; only the first is meant.
        return super().norm(self.first_place(x, f"{key}.first") if key == f"{self.last}.attention.output.LayerNorm" else x, key)


def head_weights(model):
    """The heads as one pooler and one linear layer: poolers side by side, linear layers on the diagonal."""
    names, out = list(model.sizes), {}
    numpy = lambda t: t.detach().float().cpu().numpy()
    if model.poolers is None:
        out["head.weight"] = np.concatenate([numpy(model.heads[n].weight).T for n in names], axis=1)
    else:
        out["pooler.weight"] = np.concatenate([numpy(model.poolers[n].weight).T for n in names], axis=1)
        out["pooler.bias"] = np.concatenate([numpy(model.poolers[n].bias) for n in names])
        out["head.weight"] = np.zeros((DIM * len(names), sum(model.sizes.values())), np.float32)
        column = 0
        for i, n in enumerate(names):
            out["head.weight"][i * DIM:(i + 1) * DIM, column:column + model.sizes[n]] = numpy(model.heads[n].weight).T
            column += model.sizes[n]
    out["head.bias"] = np.concatenate([numpy(model.heads[n].bias) for n in names])
    return out


def export(model, calibration, path, alpha=0.8):
    """Writes the int8 ONNX file; the ranges are what the calibration rows (train and dev rows) reach."""
    weights, heads = model.encoder.published(), head_weights(model)
    reference = HeadBuilder(weights, heads)
    exact = base.session(reference.build())
    feeds = [arrays([row]) for row in calibration]
    factors, ranges = base.calibrate(weights, exact, reference.probes, None, feeds, alpha)
    small = HeadBuilder(weights, heads, factors, ranges).build()
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(small.SerializeToString())
    return path


def word_table(path):
    """Offset and length of the int8 word table in an ONNX file, or None."""
    import onnx
    data = Path(path).read_bytes()
    raw = next(t.raw_data for t in onnx.load_from_string(data).graph.initializer if t.name == "words")
    return data.find(raw), len(raw)


def open_onnx(path, threads=1):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def onnx_logits(path, rows, budget=4096, threads=1, label="int8"):
    run = open_onnx(path, threads) if isinstance(path, (str, Path)) else path
    out, progress = [None] * len(rows), Progress(len(rows), label)
    for chosen in batches(rows, budget, random.Random(0)):
        for i, row in zip(chosen, run.run(["logits"], arrays([rows[i] for i in chosen]))[0]):
            out[i] = row
        progress.update(len(chosen))
    return np.array(out)


def auroc(labels, scores):
    from sklearn.metrics import roc_auc_score
    return float(roc_auc_score(labels, scores))


# ------------------------------------------------------------------------------------------------------ self-check

def main():
    """Checks on a few texts that torch, the f32 graph and the int8 file agree, and how fast training is."""
    import argparse
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", default="/tmp/minilm-check.onnx")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=96)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    tokens, rng = Tokens(), random.Random(7)
    stock = [t for t in base.ODD if t] + ["Tom went to Paris in 1998.", "The mayor did not sign the law, she vetoed it.",
                                          "Cats sleep most of the day and hunt at night."]
    rows = [Row(*tokens.pair(" ".join(rng.choices(stock, k=rng.randrange(1, 5))), rng.choice(stock)), target=i % 3)
            for i in range(60)]
    model = Classifier({"one": 3, "two": 2}).eval()
    for part in [*model.heads.values(), *model.poolers.values()]:
        nn.init.normal_(part.weight, std=0.1)
    exact = torch_logits(model, rows)
    graph = base.session(HeadBuilder(model.encoder.published(), head_weights(model)).build())
    path = export(model, rows, args.output)
    f32, int8 = onnx_logits(graph, rows), onnx_logits(path, rows)
    alone = np.concatenate([onnx_logits(path, [r]) for r in rows[:9]])
    table = Path(__file__).parent.parent / "models" / "minilm-l6-v2" / "model.onnx"
    place, shipped = word_table(path), word_table(table)
    same = path.read_bytes()[place[0]:sum(place)] == table.read_bytes()[shipped[0]:sum(shipped)]
    print(json.dumps({"f32 graph, largest difference": float(np.abs(exact - f32).max()),
                      "int8, mean difference": float(np.abs(exact - int8).mean()),
                      "int8, spread of the logits": float(exact.std()),
                      "int8, alone or in a batch": float(np.abs(alone - int8[:9]).max()),
                      "word table same as shipped": same, "bytes": path.stat().st_size}, indent=2))
    rows = [Row([CLS, *rng.choices(range(1000, 30000), k=args.tokens - 2), SEP], [0] * args.tokens, target=i % 3)
            for i in range(300)]

    def loss(model, batch):
        return F.cross_entropy(model(batch, ["one"])["one"], torch.tensor([r.target for r in batch["rows"]]))
    report = fit(model, rows, loss, threads=args.threads, label="speed", device="cpu")
    print(f"{len(rows) / max(report['seconds'], 1):.1f} examples of {args.tokens} tokens per second")


if __name__ == "__main__":
    main()
