"""What the program measures of a text and a question for `context_relevance` and `answer_relevance`.

The program (src/eval/local/relevance_features.rs) does the same; tests/fixtures/relevance.json holds cases with all values.
Sentences, words and stems are those of entailment_features.py.
"""

import json
from pathlib import Path

import numpy as np

import entailment_features as ef
import minilm
from refusal import READ, Probe

CONTEXT, ANSWER = 0, 1
QUESTION_TOKENS, TAIL, SENTENCES = 96, 3, 200
ALONE, JOINED, LOWEST, SOFT, NEW_WORDS = 2, 3, 3, 3.0, 5


def row_of(tokens, question, text, target=None, weight=1.0):
    b = tokens.plain(question).ids[-QUESTION_TOKENS:]
    a = tokens.plain(text).ids[:tokens.limit - 3 - len(b)]
    return minilm.Row([minilm.CLS, *a, minilm.SEP, *b, minilm.SEP], [0] * (len(a) + 2) + [1] * (len(b) + 1), target, weight)


def tail(question):
    """The end of a conversation: its last sentences. A plain question stays whole."""
    parts = ef.sentences(question)
    return " ".join(parts[-TAIL:]) if len(parts) > TAIL else question


def sentences(text):
    return (ef.sentences(text) or [text])[:SENTENCES]


class Scorer:
    """(question, text) to features.

    A passage is read three times: the two sentences nearest to the question, each alone, and the three nearest together. A
    window of all sentences hides the one that counts. An answer is read once, cut to fit.
    """

    def __init__(self, model, vectors, probe, threads=1):
        self.tokens, self.vectors, self.probe = minilm.Tokens(256), ef.Vectors(vectors), Probe(json.loads(Path(probe).read_text()))
        self.run, self.refusals = minilm.open_onnx(model, threads), {}

    def parts(self, question, text, head):
        if head == ANSWER:
            return [text]
        found = sentences(text)
        near = np.argsort(-np.maximum(self.vectors(found) @ self.vectors([tail(question)])[0], 0.0), kind="stable")
        return [*(found[i] for i in near[:ALONE]), " ".join(found[i] for i in sorted(near[:JOINED]))]

    def features(self, items, head, label="rows"):
        self.vectors.add({t for q, a in items for t in (tail(q), *sentences(a))}, label)
        parts = [self.parts(q, a, head) for q, a in items]
        pairs = list(dict.fromkeys((q, p) for (q, _), found in zip(items, parts) for p in found))
        logits = {pair: float(row[head]) for pair, row in zip(pairs, minilm.onnx_logits(self.run, [row_of(self.tokens, *p) for p in pairs], label=label))}
        return [self.one(q, a, head, [logits[q, p] for p in found]) for (q, a), found in zip(items, parts)]

    def one(self, question, text, head, logits):
        asked, found = tail(question), sentences(text)
        vector, vectors = self.vectors([asked])[0], self.vectors(found)
        near = np.maximum(vectors @ vector, 0.0)
        logit = logits[0] if head == ANSWER else (max(logits[:-1]) + logits[-1]) / 2
        out = {"reading": float(np.tanh(logit / SOFT)), "cosine": float(near.max()), "coverage": ef.containment(ef.content(asked), ef.content(text))}
        if head == ANSWER:
            out |= self.of_answer(question, text, found, vector, vectors, near)
        return out

    def of_answer(self, question, text, found, vector, vectors, near):
        mean = vectors.sum(0)
        wanted, said = ef.content(question), ef.content(text)
        refusal = np.array([self.refusals.get(s, self.probe(s, v)) for s, v in zip(found[:READ], vectors)])
        return {"cosine_text": max(float(mean @ vector) / max(float(np.linalg.norm(mean)), 1e-9), 0.0), "cosine_mean": float(near.mean()),
                "cosine_low": float(np.sort(near)[:LOWEST].mean()), "new_words": min(len(said - wanted), NEW_WORDS) / NEW_WORDS,
                "echo": ef.containment(wanted, said) if said and said <= wanted else 0.0,
                "refusal": float((1 / (1 + np.exp(-refusal))).mean()), "refusal_logit": float(refusal.mean())}
