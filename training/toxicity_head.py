"""Trains the toxicity head: six probabilities from the embedding of the shared sentence encoder.

The encoder is the quantised file that ships, so the head is trained and calibrated in the precision in which it runs.
Only train and dev rows are trained on (of CAT, which has test rows only, the half whose hashed group is even; the
other half is measured). Measured sets are never trained on, and a training sentence that also occurs in one of them
is dropped. A label that a dataset does not have is left out of the loss, row by row; the weak labels for obscene,
threat, insult and severe_toxicity are made by the word lists below from rows that people labelled as toxic.

Usage: python toxicity_head.py --data DIR [--encoder DIR] [--output DIR]
"""

import argparse
import gzip
import hashlib
import json
import re
import struct
from pathlib import Path

import numpy as np
import onnxruntime as ort
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from tokenizers import BertWordPieceTokenizer
from tqdm import tqdm, trange

import toxicity_templates

LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"]
UNKNOWN = float("nan")
MAX_TOKENS = 256
THRESHOLD = 0.75
# Which share of ordinary text, and of everything that does not have the label, may reach the threshold. The five
# kinds are rare, so they are held to less than toxicity.
MAY_PASS, KINDS_MAY_PASS = (0.01, 0.05), (0.005, 0.02)
# Text that nobody set out to make hard: questions, answers, talk pages, tweets.
ORDINARY = re.compile(r"(begin|cat|fever|selqa|wice|winobias|wnut17)/|templates/(plain|harmless|neutral)-")
MEASURED = ["hatecheck", "wikipedia_toxicity", "openai_moderation", "xstest_prompts", "jigsaw_identity_templates",
            "davidson", "cat_wikipedia_context", "edos_sexism", "hatemoji", "stormfront_sentences", "toxic_spans"]

OBSCENE = re.compile(r"\b(\w*fuck\w*|\w*shit\w*|bitch\w*|\w*asshole\w*|ass|asses|dumbass\w*|jackass\w*|cunts?|dicks?|"
                     r"dickhead\w*|cock\w?|pussy|pussies|whores?|sluts?|bastards?|crap\w*|piss\w*|wank\w*|tits?|"
                     r"boobs?|arse\w*|damn\w*|penis|anal|f\*+k?|s\*+t|sh\*t|b\*+h|a\$\$)\b", re.I)
INSULT = re.compile(r"\b(idiot\w*|moron\w*|stupid\w*|dumb\w*|fools?|loser\w*|jerks?|liars?|scum\w*|clowns?|cowards?|"
                    r"imbecil\w*|buffoon\w*|lunatic\w*|pathetic|ignorant|hypocrite\w*|trash|pigs?|trolls?|rats?|"
                    r"asshole\w*|bitch\w*|bastards?|dumbass\w*|jackass\w*|scumbag\w*|dickhead\w*|cunts?|ugly|useless|"
                    r"worthless|whores?|sluts?|wanker\w*|traitor\w*|crooks?|bigots?|retard\w*|nutjob\w*|nazis?)\b", re.I)
THREAT = re.compile(r"\b(kill(ed|ing)? (you|him|her|them|all|every)|shoot (you|him|her|them)|hang (you|him|her|them)|"
                    r"(should|must|deserves? to|needs? to|ought to) (be (shot|hanged|hung|killed|beaten|put down)|die)|"
                    r"(slap|punch|beat|kick|smack) (you|him|her|them|the)|burn in hell|drop dead|kill yourself)\b", re.I)


def rows_of(data, name):
    with gzip.open(Path(data) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def hashed(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def plain(text):
    """What two texts have in common when they are the same but for case, space and punctuation."""
    return re.sub(r"\W+", " ", text.lower()).strip()


class Pool:
    """Training rows: text, six labels (0, 1 or unknown), the group that must not be split, a weight."""

    def __init__(self, forbidden):
        self.forbidden, self.rows, self.dropped = forbidden, {}, 0

    def add(self, source, text, group, weight=1.0, **labels):
        text = text.strip()
        if not plain(text) or plain(text) in self.forbidden:
            self.dropped += bool(text)
            return
        row = (source, [labels.get(name, UNKNOWN) for name in LABELS], f"{source}/{group}", weight)
        self.rows.setdefault(text, row)


def zeros(**known):
    return {**dict.fromkeys(LABELS, 0), **known}


def clean_or_unknown(text):
    """Labels of a row whose set says "not hateful", which does not say that it is polite."""
    if OBSCENE.search(text) or INSULT.search(text) or THREAT.search(text):
        return {"identity_attack": 0, "severe_toxicity": UNKNOWN}
    return zeros()


def weak(text, threat=None, severe=None):
    """Labels that the words of a toxic text give away."""
    obscene, insult = bool(OBSCENE.search(text)), bool(INSULT.search(text))
    threat = bool(THREAT.search(text)) if threat is None else threat
    severe = (threat and (obscene or insult)) if severe is None else severe
    return {"obscene": int(obscene), "insult": int(insult), "threat": int(threat), "severe_toxicity": int(severe)}


def add_spans(pool, rows):
    """Civil Comments with marked toxic words: the sentences with a mark are toxic, the others of a post are not."""
    for row in rows:
        if row["split"] == "test" or not row["spans"]:
            continue
        marks = [(span["start"], span["end"]) for span in row["spans"]]
        for match in re.finditer(r"[^.!?\n]+[.!?]*", row["text"]):
            text, (start, end) = match.group(), match.span()
            words = " ".join(row["text"][a:b] for a, b in marks if a < end and b > start)
            if words:
                pool.add("toxic_spans", text, row["group"], toxicity=1, **weak(words + " | " + text))
            elif len(text.split()) >= 4 and not (OBSCENE.search(text) or INSULT.search(text)):
                pool.add("toxic_spans", text, row["group"], 0.5, **zeros())


def add_hate(pool, data):
    for row in rows_of(data, "toxicity/edos_sexism"):
        if row["split"] == "test":
            continue
        text, vector = row["text"], row["vector"] or ""
        if row["label"]:
            harm = vector.startswith("1.")
            labels = weak(text, threat=harm, severe=vector.startswith("1.1") or vector.startswith("2.3"))
            pool.add("edos", text, row["group"], toxicity=1, identity_attack=1, **labels)
        else:
            pool.add("edos", text, row["group"], **clean_or_unknown(text))
    for row in rows_of(data, "toxicity/hatemoji"):
        if row["split"] == "test":
            continue
        text, kind = row["text"], row["subtype"]
        if row["label"]:
            harm = kind == "threateninglanguage"
            labels = weak(text, threat=harm, severe=harm or kind == "dehumanizinglanguage")
            pool.add("hatemoji", text, row["group"], toxicity=1, identity_attack=1, **labels)
        else:
            pool.add("hatemoji", text, row["group"], **clean_or_unknown(text))
    for row in rows_of(data, "toxicity/stormfront_sentences"):
        if row["split"] != "test" and row["label"]:
            pool.add("stormfront", row["text"], row["group"], toxicity=1, identity_attack=1, **weak(row["text"]))
        elif row["split"] != "test":
            pool.add("stormfront", row["text"], row["group"], **clean_or_unknown(row["text"]))


def add_neutral(pool, data):
    """Questions, answers and reports that nobody would call toxic."""
    for name, fields, source in [("context_relevance/selqa_sentence", ["question", "passage"], "selqa"),
                                 ("groundedness/wice_claim", ["answer"], "wice"),
                                 ("groundedness/fever_symmetric", ["answer"], "fever"),
                                 ("groundedness/begin", ["answer"], "begin"), ("bias/winobias", ["text"], "winobias"),
                                 ("pii/wnut17", ["text"], "wnut17")]:
        for row in rows_of(data, name):
            # The TopicalChat part of BEGIN stands under a sharing licence and is left out; WinoBias is one kind of
            # sentence, so half of it is enough.
            if row["split"] == "test" or row["id"].startswith("begin-tc"):
                continue
            if source == "winobias" and hashed(row["id"]) % 2:
                continue
            for field in fields:
                text = re.sub(r"[\[\]]", "", row[field])
                pool.add(source, text, row["group"], 0.5 if source == "selqa" else 1.0, **clean_or_unknown(text))


def is_measured(name, row):
    return row["split"] == "test" and (name != "cat_wikipedia_context" or hashed(row["group"]) % 2)


def training_rows(data, seed):
    measured = {name: [r for r in rows_of(data, f"toxicity/{name}") if is_measured(name, r)] for name in MEASURED}
    pool = Pool({plain(row["text"]) for rows in measured.values() for row in rows})
    add_spans(pool, rows_of(data, "toxicity/toxic_spans"))
    add_hate(pool, data)
    add_neutral(pool, data)
    for row in rows_of(data, "toxicity/cat_wikipedia_context"):
        if not is_measured("cat_wikipedia_context", row):
            labels = {"toxicity": 1, **weak(row["text"])} if row["label"] else zeros()
            pool.add("cat", row["text"], row["group"], 2.0 if row["label"] else 1.0, **labels)
    for text, labels, template in toxicity_templates.sentences(seed):
        known = zeros(**dict.fromkeys(labels, 1))
        if template.startswith("swearing"):
            known["toxicity"] = UNKNOWN
        pool.add("templates", text, template, **known)
    return pool, measured


class Encoder:
    """The shipped encoder, run the way the program runs it."""

    def __init__(self, folder):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.run = ort.InferenceSession(str(Path(folder) / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = BertWordPieceTokenizer(str(Path(folder) / "vocab.txt"), lowercase=True)
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts, label):
        out = np.zeros((len(texts), 384), np.float32)
        for at, text in enumerate(tqdm(texts, desc=label)):
            ids = np.array([self.tokenizer.encode(text).ids], np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            mean = self.run.run(None, inputs)[0][0].mean(axis=0)
            out[at] = mean / np.linalg.norm(mean)
        return out


class Network:
    """384 -> hidden (ReLU) -> 6, trained with Adam on the known labels only."""

    def __init__(self, hidden, rng, scale):
        self.w = [rng.normal(0, 384 ** -0.5, (384, hidden)), np.zeros(hidden),
                  rng.normal(0, hidden ** -0.5, (hidden, len(LABELS))), np.zeros(len(LABELS))]
        # Embeddings have length one: their components are about 1/20, too small to learn from at the usual rate.
        self.scale = scale

    def logits(self, x):
        return np.maximum(x * self.scale @ self.w[0] + self.w[1], 0) @ self.w[2] + self.w[3]

    def fit(self, x, y, weights, rng, epochs, rate, decay, dropout, label_weight):
        first, second, step = [np.zeros_like(w) for w in self.w], [np.zeros_like(w) for w in self.w], 0
        known, target, batch = ~np.isnan(y), np.nan_to_num(y), 128
        total = epochs * (len(x) // batch + 1)
        for _ in trange(epochs, desc="training"):
            order = rng.permutation(len(x))
            for start in range(0, len(x), batch):
                pick, step = order[start:start + batch], step + 1
                inputs = x[pick] * self.scale
                before = inputs @ self.w[0] + self.w[1]
                keep = (rng.random(before.shape) > dropout) / (1 - dropout)
                hidden = np.maximum(before, 0) * keep
                p = 1 / (1 + np.exp(-(hidden @ self.w[2] + self.w[3])))
                delta = (p - target[pick]) * known[pick] * weights[pick, None] * label_weight / len(pick)
                back = (delta @ self.w[2].T) * keep * (before > 0)
                gradients = [inputs.T @ back, back.sum(0), hidden.T @ delta, delta.sum(0)]
                now = rate * 0.5 * (1 + np.cos(np.pi * step / total))
                for i, g in enumerate(gradients):
                    first[i] = 0.9 * first[i] + 0.1 * g
                    second[i] = 0.999 * second[i] + 0.001 * g * g
                    move = first[i] / (1 - 0.9 ** step) / (np.sqrt(second[i] / (1 - 0.999 ** step)) + 1e-8)
                    self.w[i] -= now * (move + (decay * self.w[i] if i in (0, 2) else 0))

    def calibrate(self, x, y):
        """Platt scaling on rows that were not trained on; folded into the last layer."""
        z = self.logits(x)
        for label in range(len(LABELS)):
            known = ~np.isnan(y[:, label])
            if y[known, label].sum() < 20:
                continue
            fit = LogisticRegression(C=1e6).fit(z[known, label:label + 1], y[known, label])
            slope = max(float(fit.coef_[0, 0]), 0.05)
            self.w[2][:, label] *= slope
            self.w[3][label] = self.w[3][label] * slope + float(fit.intercept_[0])

    def place_threshold(self, x, y, ordinary):
        """Shifts each label so that the default threshold is where no more than MAY_PASS (KINDS_MAY_PASS) reach it.
        The order of texts and the slopes stay as they are."""
        z, wanted = self.logits(x), np.log(THRESHOLD / (1 - THRESHOLD))
        for label in range(len(LABELS)):
            clean, (of_ordinary, of_all) = y[:, label] == 0, KINDS_MAY_PASS if label else MAY_PASS
            cut = max(np.quantile(z[clean & ordinary, label], 1 - of_ordinary),
                      np.quantile(z[clean, label], 1 - of_all))
            self.w[3][label] += wanted - cut

    def write(self, path):
        arrays = [self.w[0] * self.scale, self.w[1], self.w[2], self.w[3]]
        with open(path, "wb") as out:
            out.write(b"GLTOXH01" + struct.pack("<3I", 384, self.w[0].shape[1], len(LABELS)))
            for array in arrays:
                out.write(np.ascontiguousarray(array, "<f4").tobytes())

    def probabilities(self, x):
        return 1 / (1 + np.exp(-self.logits(x)))


def auroc(truth, scores):
    return round(float(roc_auc_score(truth, scores)), 3) if 0 < sum(truth) < len(truth) else None


def share(chosen):
    return round(float(chosen.mean()), 4) if len(chosen) else None


def measure(network, encoder, measured):
    """AUROC and average precision of `toxicity`, and what lies above 0.75, per set that was not trained on."""
    out = {}
    for name, rows in measured.items():
        p = network.probabilities(encoder.embed([row["text"] for row in rows], name))
        truth = np.array([row["label"] for row in rows])
        above = p[:, 0] >= THRESHOLD
        out[name] = {"n": len(rows), "positive": int(truth.sum()), "auroc": auroc(truth, p[:, 0]),
                     "auroc_identity_attack": auroc(truth, p[:, 5]),
                     "average_precision": round(float(average_precision_score(truth, p[:, 0])), 3),
                     "recall_at_0.75": share(above[truth == 1]), "false_positives_at_0.75": share(above[truth == 0])}
    return out


def arguments():
    here = Path(__file__).parent.parent / "models"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="the evaluation data")
    parser.add_argument("--encoder", default=here / "minilm-l6-v2", type=Path)
    parser.add_argument("--output", default=here / "toxicity-head", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--decay", type=float, default=0.2)
    parser.add_argument("--dropout", type=float, default=0.6)
    return parser.parse_args()


def main():
    args = arguments()
    pool, measured = training_rows(args.data, args.seed)
    texts = list(pool.rows)
    encoder = Encoder(args.encoder)
    x = encoder.embed(texts, "embedding")
    y = np.array([pool.rows[text][1] for text in texts], float)
    weights = np.array([pool.rows[text][3] for text in texts])
    held = np.array([hashed(pool.rows[text][2]) % 100 < 15 for text in texts])
    sources = np.array([pool.rows[text][0] for text in texts])

    rng = np.random.default_rng(args.seed)
    network = Network(args.hidden, rng, scale=20.0)
    network.fit(x[~held], y[~held], weights[~held], rng, args.epochs, args.rate, args.decay, args.dropout,
                np.array([2.0, 1, 1, 1, 1, 1]))
    network.calibrate(x[held], y[held])
    ordinary = np.array([bool(ORDINARY.match(pool.rows[text][2])) for text in texts])
    network.place_threshold(x[held], y[held], ordinary[held])
    args.output.mkdir(parents=True, exist_ok=True)
    network.write(args.output / "weights.bin")

    p = network.probabilities(x[held])
    held_back = {}
    for i, name in enumerate(LABELS):
        truth, known = y[held][:, i], ~np.isnan(y[held][:, i])
        held_back[name] = {
            "n": int(known.sum()), "positive": int(np.nansum(truth)), "auroc": auroc(truth[known], p[known, i]),
            "recall_at_0.75": share(p[truth == 1, i] >= THRESHOLD),
            "false_positives_at_0.75": share(p[truth == 0, i] >= THRESHOLD)}
    clean = y[held][:, 0] == 0
    report = {
        "rows": {s: int((sources == s).sum()) for s in sorted(set(sources))}, "dropped": pool.dropped,
        "labels": {name: {"positive": int(np.nansum(y[:, i])), "known": int((~np.isnan(y[:, i])).sum())}
                   for i, name in enumerate(LABELS)},
        "held_back": held_back,
        "held_back_false_positives": {
            s: share(p[(sources[held] == s) & clean, 0] >= THRESHOLD) for s in sorted(set(sources))},
        "measured": measure(network, encoder, measured),
    }
    (args.output / "measured.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
