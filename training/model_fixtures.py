"""Tiny models with random weights, one a family, with the logits that PyTorch gives: tests/fixtures/models.

They hold that a user's model file is read as it was written: tokenizer, inputs, pooling, every operator of the family.
Nothing here has learned anything. Needs torch, transformers, tokenizers and onnx.

    python training/model_fixtures.py tests/fixtures/models
"""

import argparse
import json
import pathlib
import warnings

import onnx
import torch
import transformers as t
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

warnings.filterwarnings("ignore")

# What the tokenizers learn from, and what is judged.
LINES = [
    "The museum opens at nine in the morning and is closed on Mondays.",
    "Tickets cost twelve euros; children under six enter free of charge.",
    "Low-dose aspirin did not lower the risk of heart disease in the trial.",
    "A transfer to another country takes about a week, and costs 12 euros.",
    "Women and men pray together, and nobody was threatened.",
    "Die Überweisung dauert fünf Tage. Où est la gare? 東京は日本の首都です。",
]
TEXTS = LINES + ["", "Yes.", "a [SEP] b </s> c <s> d [CLS]", "naïve café 😀 déjà-vu", " ".join(LINES[:2])[:100]]
PAIRS = [(LINES[0], "It is closed on Mondays."), (LINES[3], "A transfer takes three days."), (LINES[5], "東京")]
SIZE = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
VOCABULARY, POSITIONS, LABELS = 180, 128, 3


def word_pieces():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return trained(tokenizer, trainer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])


def byte_pairs(special, pair):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY + 90, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    first, last = special[0], special[2]
    return trained(tokenizer, trainer, f"{first} $A {last}", pair, [first, last])


def unigram(special, single, pair):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>" if "<unk>" in special else "[UNK]")
    ends = [token for token in special if token in single]
    return trained(tokenizer, trainer, single, pair, ends)


def trained(tokenizer, trainer, single, pair, ends):
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(token, tokenizer.token_to_id(token)) for token in ends])
    return tokenizer


def families():
    """Name, tokenizer, configuration, class, inputs."""
    three = ["input_ids", "attention_mask", "token_type_ids"]
    roberta = byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<s> $A </s> </s> $B </s>")
    modern = byte_pairs(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"], "[CLS] $A [SEP] $B [SEP]")
    deberta = unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    xlm = unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    bert = word_pieces()
    yield "bert", bert, t.BertConfig(vocab_size=bert.get_vocab_size(), max_position_embeddings=POSITIONS, **SIZE), \
        t.BertForSequenceClassification, three
    yield "roberta", roberta, t.RobertaConfig(
        vocab_size=roberta.get_vocab_size(), max_position_embeddings=POSITIONS + 2, type_vocab_size=1, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, **SIZE), t.RobertaForSequenceClassification, three[:2]
    yield "deberta-v2", deberta, t.DebertaV2Config(
        vocab_size=deberta.get_vocab_size(), max_position_embeddings=POSITIONS, type_vocab_size=0, relative_attention=True,
        position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
        position_biased_input=False, max_relative_positions=-1, pooler_hidden_size=16, **SIZE), \
        t.DebertaV2ForSequenceClassification, three[:2]
    yield "modernbert", modern, t.ModernBertConfig(
        vocab_size=modern.get_vocab_size(), max_position_embeddings=POSITIONS, local_attention=16, global_attn_every_n_layers=2,
        pad_token_id=1, bos_token_id=0, cls_token_id=0, eos_token_id=2, sep_token_id=2, classifier_pooling="mean",
        attn_implementation="eager", reference_compile=False, **SIZE), t.ModernBertForSequenceClassification, three[:2]
    yield "xlm-roberta", xlm, t.XLMRobertaConfig(
        vocab_size=xlm.get_vocab_size(), max_position_embeddings=POSITIONS + 2, type_vocab_size=1, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, **SIZE), t.XLMRobertaForSequenceClassification, three[:2]


class Named(torch.nn.Module):
    """A classifier with its inputs by place: the logits, and the last hidden states where they are wanted."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *values):
        found = self.model(**dict(zip(self.inputs, values)), output_hidden_states=True)
        return (found.logits, found.hidden_states[-1])[:self.outputs]


def encoded(tokenizer, inputs, *texts):
    tokenizer.encode_special_tokens = True  # what stands in a text is text
    found = tokenizer.encode(*texts)
    all_of = {"input_ids": found.ids, "attention_mask": found.attention_mask, "token_type_ids": found.type_ids}
    return found.ids, [torch.tensor([all_of[name]]) for name in inputs]


def export(model, tokenizer, path):
    """As optimum exports: by tracing, with a batch of two and a sequence that may be of any length."""
    outputs = ["logits", "last_hidden_state"][:model.outputs]
    sample = [torch.cat([value, value]) for value in encoded(tokenizer, model.inputs, *PAIRS[0])[1]]
    axes = {name: {0: "batch", 1: "sequence"} for name in [*model.inputs, "last_hidden_state"]} | {"logits": {0: "batch"}}
    torch.onnx.export(model, tuple(sample), str(path), input_names=model.inputs, output_names=outputs, dynamic_axes=axes,
                      opset_version=17, dynamo=False, do_constant_folding=True)
    onnx.save(shortened(onnx.load(str(path))), str(path))


def shortened(model):
    """The same network with short names, which are half of so small a file."""
    graph, names = model.graph, {}
    kept = {value.name for value in [*graph.input, *graph.output]} | {""}
    short = lambda name: name if name in kept else names.setdefault(name, f"v{len(names)}")
    for node in graph.node:
        if any(attribute.HasField("g") for attribute in node.attribute):
            raise SystemExit(f"{node.op_type} has a graph inside, whose names would have to be kept")
        node.ClearField("doc_string")
        node.ClearField("name")
        node.input[:], node.output[:] = [short(name) for name in node.input], [short(name) for name in node.output]
    for weights in graph.initializer:
        weights.name = short(weights.name)
    del graph.value_info[:]
    del model.metadata_props[:]
    onnx.checker.check_model(model)
    return model


def rounded(values):
    return [round(value, 5) for value in values.tolist()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    for name, tokenizer, config, classifier, inputs in families():
        if args.only and name not in args.only:
            continue
        folder = args.out / name
        folder.mkdir(parents=True, exist_ok=True)
        config.num_labels = LABELS
        config.id2label = dict(enumerate(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]))
        config.label2id = {label: at for at, label in config.id2label.items()}
        torch.manual_seed(7)
        config.initializer_range = 0.5  # so that the logits differ
        # One fixture gives hidden states too, for the pooling of embeddings.
        model = Named(classifier(config), inputs, 2 if name == "bert" else 1).eval()  # the export leaves the outermost mode
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        kept = {key: config.to_dict()[key] for key in ("model_type", "id2label", "max_position_embeddings", "pad_token_id")}
        (folder / "config.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n")
        export(model, tokenizer, folder / "model.onnx")
        expected = {"texts": [], "pairs": [], "embeddings": []}
        with torch.no_grad():
            for text in TEXTS:
                ids, values = encoded(tokenizer, inputs, text)
                found = model(*values)
                expected["texts"].append({"text": text, "ids": ids, "logits": rounded(found[0][0])})
                if model.outputs == 2:
                    pooled = {"mean": found[1][0].mean(dim=0), "first": found[1][0, 0]}
                    units = {kind: rounded(torch.nn.functional.normalize(vector, dim=0)) for kind, vector in pooled.items()}
                    expected["embeddings"].append({"text": text} | units)
            for pair in PAIRS:
                ids, values = encoded(tokenizer, inputs, *pair)
                expected["pairs"].append({"pair": pair, "ids": ids, "logits": rounded(model(*values)[0][0])})
        (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")
        print(name, {file.name: file.stat().st_size for file in sorted(folder.iterdir())})


if __name__ == "__main__":
    main()
