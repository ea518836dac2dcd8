"""What the product does around the entailment cross-encoder: choosing evidence windows, and the features of the combiner.

The program (Rust) does the same; tests/fixtures/entailment.json holds cases with all values. Sentences are given: the program
has its own splitter, `sentences` here comes close to it.

Definitions
* word: a maximal run of alphanumeric characters; an apostrophe (' or U+2019) between two of them belongs to it. Lower case,
  U+2019 becomes ', and a final "'s" is cut off.
* stem: the first of the endings ies, ied, ing, ed, es, s, e, y that leaves three characters or more is cut off once ("ss" is no
  ending "s"); words with a digit stay as they are.
* content word: a word that is not in STOP_WORDS. Contents of a text are compared as sets of stems.
* rank of a context sentence for an answer sentence: its part of the content stems that the answer sentence shares with the
  context, each counting by its inverse document frequency over the context's sentences, as in BM25.
* passage: a document of the context, or a part of it that begins with a mark such as [2] at the start of a line.
* window: see `window`.
"""

import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WINDOW_TOKENS, WINDOW_SENTENCES = 128, 8
HEAD_TOKENS = 64  # a longer first row of a table is not repeated
MAX_CONTEXT_SENTENCES = 2000
NEAR_SHARE = 0.5  # a passage that shares less with the question and the answer than this part of what the nearest one shares is left out
SHORT_WORDS = 40

STOP_WORDS = frozenset("""a about above after again all also although am an and any are as at be because been before being
below between both but by can could did do does doing down during each either else ever every few for from further had has
have having he her here hers herself him himself his how i if in into is it its itself just may me might more most much must my
myself neither no nor not of off on once only onto or other our ours ourselves out over own per rather same shall she should
since so some such than that the their theirs them themselves then there these they this those though through thus to too
under until up upon us very was we were what when where whether which while who whom whose why will with within without would
yes yet you your yours yourself yourselves well oh ok okay really quite know think n't don't doesn't didn't isn't aren't wasn't
weren't won't wouldn't can't couldn't hasn't haven't i'm i've i'd i'll it's that's there's they're we're you're he's she's
s t re ve ll d m""".split())

NEGATIONS = frozenset("""no not never none nobody nothing neither nor without cannot n't don't doesn't didn't isn't aren't wasn't
weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't unable refuse refused refuses fail failed fails lack lacks
lacked deny denied denies""".split())

NUMBER_WORDS = {w: str(n) for n, w in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen".split())} | {w: str(10 * n) for n, w in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
CITATION = re.compile(r"\[[0-9]{1,3}(?: ?[,;\u2013-] ?[0-9]{1,3})*\]")
NUMBER = re.compile(r"[0-9](?:[0-9]|[.,](?=[0-9]))*")
ENDINGS = ("ies", "ied", "ing", "ed", "es", "s", "e", "y")


def plain(word):
    word = word.lower().replace("\u2019", "'")
    return word[:-2] if word.endswith("'s") and len(word) > 2 else word


def words(text):
    return [plain(m.group()) for m in WORD.finditer(text)]


def stem(word):
    if any(c.isdigit() for c in word):
        return word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            return word[:-len(ending)]
    return word


def content(text):
    return {stem(w) for w in words(text) if w not in STOP_WORDS}


def bigrams(text):
    stems = [stem(w) for w in words(text)]
    return set(zip(stems, stems[1:]))


def one_spelling(number):
    parts = re.split(r"[.,]", number)
    if len(parts) > 1 and len(parts[0]) <= 3 and all(len(p) == 3 for p in parts[1:]):
        return "".join(parts)
    if len(parts) == 2:
        fraction = parts[1].rstrip("0")
        return f"{parts[0]}.{fraction}" if fraction else parts[0]
    return number.replace(",", ".")


def digits(text):
    """Numbers in digits; those of citations such as [1] or [2, 3] are none."""
    return {one_spelling(m.group()) for m in NUMBER.finditer(CITATION.sub(" ", text))}


def numbers(text):
    """Numbers in digits, and number words up to ninety."""
    return digits(text) | {NUMBER_WORDS[w] for w in words(text) if w in NUMBER_WORDS}


def names(sentence):
    """Stems of the words with a capital that do not begin the sentence and are no stop words."""
    found = [m.group() for m in WORD.finditer(sentence)][1:]
    return {stem(plain(w)) for w in found if w[0].isupper() and plain(w) not in STOP_WORDS}


def negated(text):
    return any(w in NEGATIONS or w.endswith("n't") for w in words(text))


def share_missing(wanted, known):
    return len(wanted - known) / len(wanted) if wanted else 0.0


def containment(wanted, known):
    return 1.0 - share_missing(wanted, known)


# ---------------------------------------------------------------------------------------------------------- sentences

ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|rev|hon|st|mt|ft|gen|col|capt|lt|sgt|gov|sen|rep|pres|e\.g|i\.e|cf|vs|approx|ca|al|no|nos|fig|vol"
    r"|pp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|co|corp|jr|sr|u\.s|u\.k|d\.c|a\.m|p\.m)|\b[A-Za-z])\.$", re.I)
STOP = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s)")


def sentences(text):
    out = []
    for line in text.split("\n"):
        start = 0
        for stop in STOP.finditer(line):
            piece, rest = line[start:stop.end()], line[stop.end():].lstrip()
            if stop.group() == "." and ABBREVIATION.search(piece) and not piece.endswith((" .", "U.S.")):
                continue
            if stop.group()[0] == "." and rest[:1].islower() and len(stop.group()) > 1:
                continue
            out.append(piece)
            start = stop.end()
        out.append(line[start:])
    out = [s.strip() for s in out]
    return [s for s in out if any(c.isalnum() for c in s)]


MARK = re.compile(r"\[[0-9]{1,3}\]:?(?=\s)")


def context_sentences(context):
    return [s for passage in context_passages(context) for s in passage][:MAX_CONTEXT_SENTENCES]


def context_passages(context):
    """The sentences of each passage."""
    out = []
    for part in context if isinstance(context, list) else [context]:
        out.append([])
        for line in part.split("\n"):
            if MARK.match(line.lstrip()):
                out.append([])
            out[-1] += sentences(line)
    return [passage for passage in out if passage]


def passage_numbers(context):
    """For each of `context_sentences`, the number of its passage."""
    return [n for n, passage in enumerate(context_passages(context)) for _ in passage][:MAX_CONTEXT_SENTENCES]


def without_mark(sentence):
    mark = MARK.match(sentence)
    return sentence[mark.end():].lstrip() if mark else sentence


# ------------------------------------------------------------------------------------------------------------ vectors

class Vectors:
    """MiniLM vectors (models/minilm-l6-v2, as shipped) of sentences, kept in memory and in a file."""

    def __init__(self, cache=None):
        import minilm
        self.minilm, self.tokens = minilm, minilm.Tokens(256)
        self.run = minilm.open_onnx(Path(__file__).parent.parent / "models" / "minilm-l6-v2" / "model.onnx")
        self.cache, self.known = Path(cache) if cache else None, {}
        if self.cache and self.cache.exists():
            stored = np.load(self.cache)
            self.known = dict(zip((k.item() for k in stored["keys"]), stored["vectors"]))

    @staticmethod
    def key(text):
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def add(self, texts, label="vectors"):
        m = self.minilm
        new = sorted({t for t in texts if self.key(t) not in self.known})
        if not new:
            return
        rows, progress = [m.Row(*self.tokens.single(t)) for t in new], m.Progress(len(new), label)
        import random
        for chosen in m.batches(rows, 2048, random.Random(0)):
            batch = m.arrays([rows[i] for i in chosen])
            hidden, mask = self.run.run(["last_hidden_state"], batch)[0], batch["attention_mask"][..., None]
            mean = (hidden * mask).sum(1) / mask.sum(1)
            mean /= np.linalg.norm(mean, axis=1, keepdims=True)
            for i, vector in zip(chosen, mean.astype(np.float16)):
                self.known[self.key(new[i])] = vector
            progress.update(len(chosen))
        if self.cache:
            part = self.cache.with_suffix(".part.npz")
            np.savez(part, keys=np.array(list(self.known)), vectors=np.array(list(self.known.values())))
            part.replace(self.cache)

    def __call__(self, texts):
        return np.array([self.known[self.key(t)] for t in texts], np.float32)


# ------------------------------------------------------------------------------------------- spans of time in other words

# As src/eval/evidence/spans.rs: what a reader works out, and a small network does not.
YEARS = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})( to | until | till | and | ?[-\u2013] ?)(1[0-9]{3}|20[0-9]{2})\b(?! ?\()")
SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()


def years_between(m):
    n = int(m[3]) - int(m[1])
    if not 1 < n <= 200 or m[2] == " and " and not m.string[:m.start()].endswith(("between ", "Between ")):
        return m[0]
    return f"{m[0]} ({SMALL[n] if n < len(SMALL) else n} years)"


def with_spans(text):
    """The text with the length of spans of years behind them: "2006 to 2015 (nine years)"."""
    return YEARS.sub(years_between, text)


# ------------------------------------------------------------------------------------------------------------ windows

@dataclass
class Context:
    """A context cut into sentences, with what the features need of it."""
    sentences: list
    lengths: list   # tokens, without [CLS] and [SEP]
    vectors: object = None   # of the sentences, for those who make pairs of them
    passages: list = None    # the number of each sentence's passage; without them all is one

    def __post_init__(self):
        self.passages = self.passages or [0] * len(self.sentences)
        self.contents = [content(s) for s in self.sentences]
        self.content = set().union(*self.contents)
        self.words = {stem(w) for s in self.sentences for w in words(s)}
        self.bigrams = set().union(*(bigrams(s) for s in self.sentences))
        self.numbers = set().union(*(numbers(s) for s in self.sentences))
        self.heads, head = [], None  # the first row of the table that a sentence is a further row of
        for i, s in enumerate(self.sentences):
            head = None if not s.startswith("|") else i if head is None else head
            self.heads.append(head if head != i else None)

    def text(self, chosen):
        """The text of a window. Rows of a table stand behind its first row, which names their columns."""
        parts, told = [], None
        for i in chosen:
            head = self.heads[i]
            if head is not None and head not in chosen and head != told and self.lengths[head] <= HEAD_TOKENS:
                parts.append(self.sentences[head])
                told = head
            parts.append(without_mark(self.sentences[i]))
        return with_spans(" ".join(parts))


def rare(context, text):
    """{stem: inverse document frequency over the context's sentences} of what a text shares with the context, in the stems' order."""
    count, having = len(context.contents), Counter(w for c in context.contents for w in c)
    return {w: math.log(1 + (count - having[w] + 0.5) / (having[w] + 0.5)) for w in sorted(content(text)) if w in having}


def ranked(context, sentence):
    """Indices of the context's sentences from the highest rank on, ties: the earlier first."""
    weight = rare(context, sentence)
    total = sum(weight.values())
    ranks = [sum(v for w, v in weight.items() if w in c) / total if total else 0.0 for c in context.contents]
    return sorted(range(len(ranks)), key=lambda i: (-round(ranks[i], 4), i))


def near(context, text, best):
    """Indices of the sentences of the passages that are near: they share NEAR_SHARE or more of what the nearest one shares with the
    text. The passage of the sentence `best` always is."""
    weight, known = rare(context, text), {}
    for number, words_ in zip(context.passages, context.contents):
        known.setdefault(number, set()).update(words_)
    shared = {n: sum(v for w, v in weight.items() if w in words_) for n, words_ in known.items()}
    most = max(shared.values())
    kept = {n for n, v in shared.items() if not most or round(v / most, 4) >= NEAR_SHARE} | {context.passages[best]}
    return [i for i, n in enumerate(context.passages) if n in kept]


def window(context, sentence, limit=WINDOW_TOKENS, question=""):
    """(indices of the window's sentences, best sentence).

    Of the passages only those count that are `near` to the question and the sentence: what is beside the point drew true answers down.
    If they have at most `limit` tokens together they are the window. Otherwise it is the WINDOW_SENTENCES of their sentences that have the
    highest rank and fit in it together, in their order in the text; the first of them in any case.
    """
    order = ranked(context, sentence)
    kept = near(context, f"{question} {sentence}", order[0])
    if sum(context.lengths[i] for i in kept) <= limit:
        return kept, order[0]
    chosen, total = [], 0
    inside = set(kept)
    for i in (i for i in order if i in inside):
        if not chosen or (len(chosen) < WINDOW_SENTENCES and total + context.lengths[i] <= limit):
            chosen.append(i)
            total += context.lengths[i]
    return sorted(chosen), order[0]


# As src/eval/evidence/courtesy.rs.
COURTESIES = (
    "happy to help", "glad to help", "i'm happy to help", "i'm glad to help", "i'm here to help", "i am happy to help",
    "i am here to help", "i'd be happy to help", "i would be happy to help", "we're happy to help", "we're here to help",
    "i hope this helps", "i hope that helps", "hope this helps", "hope that helps", "let me know if you", "please let me know if you",
    "just let me know if you", "let us know if you", "feel free to ask", "feel free to reach out", "please feel free to ask",
    "please feel free to reach out", "don't hesitate to ask", "don't hesitate to reach out", "please don't hesitate to",
    "thanks for asking", "thanks for reaching out", "thank you for asking", "thank you for reaching out",
    "thank you for your question", "you're welcome", "great question")
WHOLE_COURTESIES = frozenset((
    "hello", "hi", "hi there", "hello there", "good morning", "good afternoon", "good evening", "thank you", "thanks",
    "have a great day", "have a nice day", "best regards", "kind regards", "good luck"))


def is_courtesy(sentence):
    """Greetings, thanks, offers of help: nothing that could be checked."""
    said = words(sentence)
    if not said or len(said) > 16 or any(c in "0123456789" for c in sentence):
        return False
    said = " ".join(said)
    return said in WHOLE_COURTESIES or any(said == form or said.startswith(form + " ") for form in COURTESIES)


def claims(parts):
    """The answer's sentences that are judged: no courtesies, no questions and none of fewer than three words; if nothing is left, all but
    the courtesies."""
    said = [p for p in parts if not is_courtesy(p)]
    kept = [p for p in said if len(words(p)) >= 3 and not p.rstrip("\"'\u201d\u2019)]* ").endswith("?")]
    return kept or said


def without_courtesy(answer):
    """The answer without the courtesies at its ends."""
    parts = sentences(answer)
    said = [i for i, p in enumerate(parts) if not is_courtesy(p)]
    if not said or (said[0], said[-1]) == (0, len(parts) - 1):
        return answer.strip()
    start = answer.find(parts[said[0]]) if said[0] else 0
    end = answer.rfind(parts[said[-1]]) + len(parts[said[-1]]) if said[-1] + 1 < len(parts) else len(answer)
    return answer[start:end].strip()


# ----------------------------------------------------------------------------------------------------------- features

FEATURES = ["entail_logit", "contradiction", "containment", "window_containment", "bigrams", "missing_numbers",
            "missing_names", "negation", "log_words", "log_context"]


def softmax(logits):
    e = np.exp(logits - np.max(logits))
    return e / e.sum()


def clipped_logit(p):
    p = min(max(float(p), 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


def plain_features(context, sentence, window, best_sentence):
    """The features that need no cross-encoder, for a window (indices)."""
    wanted = content(sentence)
    near = set().union(*(context.contents[i] for i in window))
    found = words(sentence)
    return {
        "containment": containment(wanted, context.content),
        "window_containment": containment(wanted, near),
        "bigrams": containment(bigrams(sentence), context.bigrams),
        "missing_numbers": share_missing(digits(sentence), context.numbers),
        "missing_names": share_missing(names(sentence), context.words),
        "negation": float(negated(sentence) != negated(context.sentences[best_sentence])),
        "log_words": math.log(1 + len(found)),
        "log_context": math.log(1 + len(context.sentences)),
    }


def features(context, sentence, found, logits):
    """All features of one answer sentence; `found` is its window, `logits` are (entailment, neutral, contradiction)."""
    indices, best_sentence = found
    p = softmax(np.asarray(logits, np.float64))
    return {"entail_logit": clipped_logit(p[0]), "contradiction": float(p[2]),
            **plain_features(context, sentence, indices, best_sentence)}
