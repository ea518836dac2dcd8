"""Writes what a test of the program compares its perplexities with: tiny causal models, tokenizers, and the values that
PyTorch computes for them. The weights are random and the sentences are our own: only the arithmetic is compared.

Usage: python perplexity_fixture.py ../tests/fixtures/perplexity
"""

import json
import math
import sys
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F

POSITIONS = 64

SENTENCES = [
    "The museum opens at nine in the morning and closes at five.",
    "You can return an unopened item within 30 days of delivery for a full refund.",
    "Kettles boil water quickly because the heating element is immersed in the water.",
    "The parcel arrives on Tuesday, and the driver will call you before.",
    "In 2019 the city had 1,234,567 inhabitants and 48 parks.",
    "We don't ship to islands, but they're working on it.",
]

TEXTS = [
    "The museum opens at nine.",
    "a",
    "Yes.",
    " ".join(SENTENCES),
    "Refund refund refund the the the nine nine: zq#~ 7%!",
    "Größe, naïve façade — “quotes” and 你好.",
    "line one\n\n  line two\t\tand   spaces  ",
    "In 1999, 42 items; 3.14 and it's we're I'd.",
    "<|endoftext|> is plain text here.",
    "🙂 and \x0b control",
    "The museum opens. " * 12,
]

SHAPES = [(POSITIONS, 32), (16, 8), (16, 15), (16, 1), (5, 3), (2, 1)]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, hidden):
        batch, length, width = x.shape
        parts = self.mix(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        weights = scores.masked_fill(hidden, -1e9).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.after(x)), approximate="tanh"))


class Causal(nn.Module):
    """As GPT-2: learned positions, norms before the blocks."""

    def __init__(self, words, width, layers, heads=2):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(POSITIONS, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        for parameter in self.parameters():
            # Far from uniform, so that a wrong window or a wrong target moves the value.
            nn.init.normal_(parameter, std=0.35) if parameter.dim() > 1 else None

    def forward(self, input_ids, attention_mask, position_ids):
        length = input_ids.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        hidden = later[None, None] | (attention_mask[:, None, None] == 0)
        x = self.words(input_ids) + self.places(position_ids)
        for block in self.blocks:
            x = block(x, hidden)
        return self.head(self.norm(x))


class IdsOnly(nn.Module):
    """The same with positions counted inside the graph."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids):
        places = torch.arange(input_ids.shape[1])[None]
        return self.inner(input_ids, torch.ones_like(input_ids), places)


def export(model, names, path):
    example = tuple(torch.ones(1, 7, dtype=torch.long) for _ in names)
    axes = {name: {0: "batch", 1: "sequence"} for name in [*names, "logits"]}
    torch.onnx.export(model, example, path, input_names=names, output_names=["logits"], dynamic_axes=axes,
                      opset_version=17, dynamo=False)


def with_past(path):
    """A graph that wants a cache, as exports for generation do."""
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["past_key_values.0.key"], ["logits"])], "with_past",
        [value("input_ids", TensorProto.INT64, ["batch", "sequence"]),
         value("past_key_values.0.key", TensorProto.FLOAT, ["batch", "past", 8])],
        [value("logits", TensorProto.FLOAT, ["batch", "past", 8])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def trained(steps, alphabet):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = steps
    trainer = trainers.BpeTrainer(vocab_size=340, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"],
                                  show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def older(tokenizer):
    """The form of the first published files: no type, merges as lines, defaults left out."""
    told = json.loads(tokenizer.to_str())
    kept = {key: told["model"][key] for key in ("dropout", "unk_token", "vocab")}
    kept["merges"] = [" ".join(pair) for pair in told["model"]["merges"]]
    told["model"] = kept
    told["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return told


def tokenizers(folder):
    level = pre_tokenizers.ByteLevel
    gpt2 = trained(level(add_prefix_space=False), level.alphabet())
    # As SmolLM2: digits alone, and only bytes that were seen; others are left out of a text without a sign.
    smol = trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                            level(add_prefix_space=False)]), [])
    gpt2.save(str(folder / "tokenizer.json"), pretty=False)
    smol.save(str(folder / "tokenizer_digits.json"), pretty=False)
    (folder / "tokenizer_old.json").write_text(json.dumps(older(gpt2)))
    unigram = Tokenizer(models.Unigram([("a", -1.0), ("b", -2.0)], 0))
    unigram.save(str(folder / "tokenizer_unigram.json"), pretty=False)
    return gpt2, smol


def ids(tokenizer, text):
    """Without special tokens, and with their names as plain text, as the program reads it."""
    found, rest = [], text
    while "<|endoftext|>" in rest:
        before, rest = rest.split("<|endoftext|>", 1)
        assert not before, "only at the beginning"
        for part in ["<|", "endoftext", "|>"]:
            found += tokenizer.encode(part, add_special_tokens=False).ids
    return found + tokenizer.encode(rest, add_special_tokens=False).ids


def cross_entropies(model, tokens, window, stride):
    """Of every token but the first: the windows of Hugging Face's text on the perplexity of models of fixed length."""
    losses, end_before = [], 0
    for begin in range(0, len(tokens), stride):
        end = min(begin + window, len(tokens))
        part = torch.tensor([tokens[begin:end]])
        labels = part.clone()
        labels[:, : len(part[0]) - (end - end_before)] = -100
        logits = model(part, torch.ones_like(part), torch.arange(len(part[0]))[None])
        loss = F.cross_entropy(logits[0, :-1], labels[0, 1:], ignore_index=-100, reduction="none")
        losses += loss[labels[0, 1:] != -100].tolist()
        end_before = end
        if end == len(tokens):
            break
    assert len(losses) == len(tokens) - 1
    return losses


@torch.no_grad()
def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(7)
    gpt2, smol = tokenizers(folder)
    model = Causal(gpt2.get_vocab_size(), 32, 2).eval()
    small = Causal(gpt2.get_vocab_size(), 8, 1).eval()
    export(model, ["input_ids", "attention_mask", "position_ids"], folder / "model.onnx")
    export(IdsOnly(small), ["input_ids"], folder / "ids_only.onnx")
    with_past(folder / "with_past.onnx")
    cases = []
    for text in TEXTS:
        tokens = ids(gpt2, text)
        mean = lambda model, window, stride: sum(
            found := cross_entropies(model, tokens, window, stride)) / len(found) if len(tokens) > 1 else None
        cases.append({
            "text": text, "ids": tokens, "ids_digits": ids(smol, text),
            "mean_cross_entropy": [mean(model, *shape) for shape in SHAPES],
            "ids_only": [mean(small, *shape) for shape in SHAPES],
        })
    values = {"shapes": SHAPES, "cases": cases}
    (folder / "expected.json").write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
