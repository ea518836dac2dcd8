"""Training rows of the toxicity model: open data (train and dev splits only), weak labels, self-made sentences, noise.

Every row has seven labels, 0, 1 or unknown (left out of the loss), a weight, and a group; 15 % of the groups are held out.
"""

import gzip
import hashlib
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

import toxicity_sentences
from toxicity_text import noisy

LABELS = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "fairness_bias"]
UNKNOWN = float("nan")
HELD_OUT = 15
MEASURED = ["hatecheck", "hatemoji", "edos_sexism", "openai_moderation", "cat_wikipedia_context", "wikipedia_toxicity",
            "jigsaw_identity_templates", "davidson", "stormfront_sentences", "xstest_prompts", "toxic_spans"]
# Text that nobody set out to make hard: questions, answers, encyclopaedia, tweets, assistants.
ORDINARY = re.compile(r"(begin|fever|selqa|wice|winobias|wnut17)/|sentences/(plain|harmless|knowledge|wiki_plain|"
                      r"sexual_plain|selfharm_plain|safe_request|request_plain|"
                      r"feelings_plain|web_plain|critic_plain)-")

OBSCENE = re.compile(r"\b(\w*fuck\w*|\w*shit\w*|bitch\w*|\w*asshole\w*|ass|asses|dumbass\w*|jackass\w*|cunts?|dicks?|"
                     r"dickhead\w*|cock\w?|pussy|pussies|whores?|sluts?|bastards?|crap\w*|piss\w*|wank\w*|tits?|"
                     r"boobs?|arse\w*|damn\w*|penis|anal|f\*+k?|s\*+t|sh\*t|b\*+h|a\$\$|hoes?|cum|blowjobs?|nudes?)\b", re.I)
INSULT = re.compile(r"\b(idiot\w*|moron\w*|stupid\w*|dumb\w*|fools?|loser\w*|jerks?|liars?|scum\w*|clowns?|cowards?|"
                    r"imbecil\w*|buffoon\w*|lunatic\w*|pathetic|ignorant|hypocrite\w*|trash|pigs?|trolls?|rats?|"
                    r"asshole\w*|bitch\w*|bastards?|dumbass\w*|jackass\w*|scumbag\w*|dickhead\w*|cunts?|ugly|useless|"
                    r"worthless|whores?|sluts?|wanker\w*|traitor\w*|crooks?|bigots?|retard\w*|nutjob\w*|nazis?)\b", re.I)
THREAT = re.compile(r"\b(kill(ed|ing)? (you|him|her|them|all|every)|shoot (you|him|her|them)|hang (you|him|her|them)|"
                    r"(should|must|deserves? to|needs? to|ought to) (be (shot|hanged|hung|killed|beaten|put down)|die)|"
                    r"(slap|punch|beat|kick|smack) (you|him|her|them|the)|burn in hell|drop dead|kill yourself)\b", re.I)
# Where a set labels one prejudice only, a text that names another group says nothing about the others.
OTHER_GROUP = re.compile(r"\b(black\w*|white\w*|jew\w*|muslim\w*|islam\w*|immigra\w*|migrant\w*|refugee\w*|race\w*|racis\w*|"
                         r"arab\w*|african\w*|mexican\w*|asian\w*|gay\w*|homo\w*|trans\w*|liberal\w*|conservative\w*|"
                         r"democrat\w*|republican\w*|leftist\w*|christian\w*|indian\w*|nigg\w*|fag\w*|kike\w*)\b", re.I)


@dataclass
class Example:
    text: str
    labels: list
    group: str
    weight: float = 1.0

    @property
    def source(self):
        return self.group.split("/")[0]

    @property
    def held(self):
        return int(hashlib.sha256(self.group.encode()).hexdigest()[:8], 16) % 100 < HELD_OUT


def rows_of(data, name):
    with gzip.open(Path(data) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def hashed(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def plain(text):
    """What two texts have in common when they are the same but for case, space and punctuation."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def zeros(**known):
    return {**dict.fromkeys(LABELS, 0), **known}


def clean_or_unknown(text, **known):
    """Labels of a row whose set says "not hateful", which does not say that it is polite."""
    if OBSCENE.search(text) or INSULT.search(text) or THREAT.search(text):
        return {"identity_attack": 0, "severe_toxicity": UNKNOWN, **known}
    return zeros(**known)


def weak(text, threat=None, severe=None):
    """Labels that the words of a toxic text give away."""
    obscene, insult = bool(OBSCENE.search(text)), bool(INSULT.search(text))
    threat = bool(THREAT.search(text)) if threat is None else threat
    severe = (threat and (obscene or insult)) if severe is None else severe
    return {"obscene": int(obscene), "insult": int(insult), "threat": int(threat), "severe_toxicity": int(severe)}


class Pool:
    def __init__(self, forbidden):
        self.forbidden, self.examples, self.seen, self.dropped = forbidden, [], set(), 0

    def add(self, source, text, group, weight=1.0, **labels):
        text = text.strip()
        if not re.search(r"\S", text) or plain(text) in self.forbidden and plain(text):
            self.dropped += bool(text)
        elif text not in self.seen:
            self.seen.add(text)
            values = [float(labels.get(name, UNKNOWN)) for name in LABELS]
            self.examples.append(Example(text, values, f"{source}/{group}", weight))


def add_spans(pool, rows):
    """Civil Comments with marked toxic words: sentences with a mark are toxic, the others of a post are not; the whole
    post is toxic, the post without its marked sentences is not."""
    for row in rows:
        if row["split"] == "test" or not row["spans"]:
            continue
        marks, kept = [(span["start"], span["end"]) for span in row["spans"]], []
        all_words = " ".join(row["text"][a:b] for a, b in marks)
        for match in re.finditer(r"[^.!?\n]+[.!?]*", row["text"]):
            text, (start, end) = match.group(), match.span()
            words = " ".join(row["text"][a:b] for a, b in marks if a < end and b > start)
            if words:
                pool.add("toxic_spans", text, row["group"], toxicity=1, **weak(words + " | " + text))
            elif len(text.split()) >= 4 and not (OBSCENE.search(text) or INSULT.search(text)):
                pool.add("toxic_spans", text, row["group"], 0.4, **zeros(fairness_bias=UNKNOWN, identity_attack=UNKNOWN))
                kept.append(text.strip())
        pool.add("toxic_spans", row["text"], row["group"], toxicity=1, **weak(all_words + " | " + row["text"]))
        if len(kept) > 1:
            pool.add("toxic_spans", " ".join(kept), row["group"], 0.6,
                     **zeros(fairness_bias=UNKNOWN, identity_attack=UNKNOWN))


def add_hate(pool, data):
    for row in rows_of(data, "toxicity/edos_sexism"):
        if row["split"] == "test":
            continue
        text, vector = row["text"], row["vector"] or ""
        if row["label"]:
            harm = vector.startswith("1.")
            bias = UNKNOWN if harm or vector.startswith("3.1") else 1
            labels = weak(text, threat=harm, severe=vector.startswith("1.1") or vector.startswith("2.3"))
            pool.add("edos", text, row["group"], toxicity=1, identity_attack=1, fairness_bias=bias, **labels)
        else:
            other = UNKNOWN if OTHER_GROUP.search(text) else 0
            labels = clean_or_unknown(text, fairness_bias=other)
            pool.add("edos", text, row["group"], **{**labels, "identity_attack": other})
    for row in rows_of(data, "toxicity/hatemoji"):
        if row["split"] == "test":
            continue
        text, kind = row["text"], row["subtype"]
        if row["label"]:
            harm = kind == "threateninglanguage"
            labels = weak(text, threat=harm, severe=harm or kind == "dehumanizinglanguage")
            bias = UNKNOWN if harm else 1
            pool.add("hatemoji", text, row["group"], toxicity=1, identity_attack=1, fairness_bias=bias, **labels)
        else:
            pool.add("hatemoji", text, row["group"], **clean_or_unknown(text, fairness_bias=0))
    for row in rows_of(data, "toxicity/stormfront_sentences"):
        text = row["text"].replace("n igger", "nigger")
        if row["split"] != "test" and row["label"]:
            pool.add("stormfront", text, row["group"], toxicity=1, identity_attack=1, fairness_bias=1, **weak(text))
        elif row["split"] != "test":
            pool.add("stormfront", text, row["group"], **clean_or_unknown(text, fairness_bias=0))


def training_rows(folder, name):
    with gzip.open(Path(folder) / "toxicity" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def add_public(pool, folder):
    """Further training sets: posts, replies and talk with chatbots, each with what its labels say and no more."""
    def hateful(source, row, weight=1.0, bias=1):
        pool.add(source, row["text"], row["group"], weight, toxicity=1, identity_attack=1, fairness_bias=bias, **weak(row["text"]))

    def toxic(source, row, weight=1.0, **known):
        pool.add(source, row["text"], row["group"], weight, toxicity=1, **{**weak(row["text"]), **known})

    def harmless(source, row, weight=1.0, **known):
        pool.add(source, row["text"], row["group"], weight, **{**clean_or_unknown(row["text"], fairness_bias=0), **known})

    for row in training_rows(folder, "edos_train_rest"):
        vector = str(row["subtype"] or "")
        if row["label"]:
            harm = vector.startswith("1.")
            hateful("edos", row, bias=UNKNOWN if harm or vector.startswith("3.1") else 1)
        else:
            other = UNKNOWN if OTHER_GROUP.search(row["text"]) else 0
            harmless("edos", row, identity_attack=other, fairness_bias=other)
    for row in training_rows(folder, "hatemojibuild_train_rest"):
        hateful("hatemoji", row, bias=UNKNOWN if row["subtype"] == "threateninglanguage" else 1) if row["label"] else harmless("hatemoji", row)
    for row in training_rows(folder, "gab_hate_corpus"):
        hateful("gab", row, bias=UNKNOWN) if row["label"] else harmless("gab", row)
    for row in training_rows(folder, "misogyny_reddit"):
        if row["label"]:
            hateful("misogyny", row)
        elif row["label_raw"] == "Nonmisogynistic_personal_attack":
            toxic("misogyny", row, identity_attack=0, insult=1)
        else:
            harmless("misogyny", row)
    for row in training_rows(folder, "mlma_en"):
        if row["label"]:
            toxic("mlma", row, 0.5, identity_attack=1 if "hateful" in row["label_raw"] else UNKNOWN)
        else:
            harmless("mlma", row, 0.5)
    for row in training_rows(folder, "surge_toxicity"):
        toxic("surge", row) if row["label"] else harmless("surge", row)
    for row in training_rows(folder, "convabuse"):
        toxic("convabuse", row) if row["label"] else harmless("convabuse", row, identity_attack=UNKNOWN)
    for row in training_rows(folder, "diasafety"):
        # Other kinds are unsafe advice, or unsafe only after what was said before.
        if row["subtype"] == "Offending User":
            toxic("diasafety", row, 0.7) if row["label"] else harmless("diasafety", row, 0.7)
        elif row["subtype"] == "Biased Opinion":
            known = {"toxicity": UNKNOWN, "identity_attack": UNKNOWN, "fairness_bias": 1} if row["label"] else {"fairness_bias": 0}
            pool.add("diasafety", row["text"], row["group"], 0.7, **known)
    for row in training_rows(folder, "stormfront_rest"):
        harmless("stormfront", row, 0.5)
    for row in training_rows(folder, "toxic_spans_and_cat_rest"):
        if row["label"]:
            toxic("civil", row)
        else:
            pool.add("civil", row["text"], row["group"], **zeros(fairness_bias=UNKNOWN, identity_attack=UNKNOWN))


def add_neutral(pool, data):
    """Questions, answers and reports that nobody would call toxic."""
    for name, fields, source in [("context_relevance/selqa_sentence", ["question", "passage"], "selqa"),
                                 ("groundedness/wice_claim", ["answer"], "wice"),
                                 ("groundedness/fever_symmetric", ["answer", "context"], "fever"),
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
                pool.add(source, text, row["group"], 0.5 if source == "selqa" else 1.0,
                         **clean_or_unknown(text, fairness_bias=0))
    for row in rows_of(data, "groundedness/wice_claim"):
        if row["split"] == "test":
            continue
        rng, words = random.Random(row["group"]), " ".join(row["context"]).split()
        for _ in range(3):
            size = rng.randrange(30, 140)
            start = rng.randrange(max(1, len(words) - size))
            pool.add("wice", " ".join(words[start:start + size]), row["group"], 0.5, **zeros())


def made(pool_forbidden, seed, scale):
    """Self-made sentences as examples."""
    out = []
    for text, labels, name in toxicity_sentences.sentences(seed, scale):
        known = zeros(**{label: 1 for label in labels if label[0] != "?"})
        known.update({label[1:]: UNKNOWN for label in labels if label[0] == "?" and known[label[1:]] == 0})
        if plain(text) not in pool_forbidden:
            out.append(Example(text, [float(known[n]) for n in LABELS], f"sentences/{name}"))
    return out


class Data:
    def __init__(self, data, seed=7, further=None):
        self.seed = seed
        self.measured = {name: [r for r in rows_of(data, f"toxicity/{name}") if r["split"] == "test"] for name in MEASURED}
        self.forbidden = {plain(r["text"]) for rows in self.measured.values() for r in rows}
        for name, fields in (("crows_pairs", ["sent_more", "sent_less"]), ("winobias", ["text"])):
            self.forbidden |= {plain(re.sub(r"[\[\]]", "", r[f])) for r in rows_of(data, f"bias/{name}")
                               if r["split"] == "test" for f in fields}
        self.forbidden.discard("")
        pool = Pool(self.forbidden)
        add_spans(pool, rows_of(data, "toxicity/toxic_spans"))
        add_hate(pool, data)
        if further:
            add_public(pool, further)
        add_neutral(pool, data)
        self.dropped = pool.dropped
        self.open = [e for e in pool.examples if not e.held]
        self.first_made = made(self.forbidden, seed, 1.0)
        self.held = [e for e in pool.examples if e.held] + [e for e in self.first_made if e.held]
        self.calm = [e.text for e in self.open if e.labels[0] == 0 and e.source in ("selqa", "wice", "fever", "begin")]

    def epoch(self, number, made_scale=0.7):
        """The rows of one epoch: the open data, new self-made sentences, spoiled spellings, sentences within longer texts."""
        rng = random.Random(f"{self.seed}-{number}")
        out, last = [], {}
        for e in self.open + [m for m in made(self.forbidden, self.seed * 100 + number, made_scale) if not m.held]:
            copies = 2 if e.source == "hatemoji" else 1
            if e.source == "selqa" and rng.random() < 0.5:
                continue
            for copy in range(copies):
                text, labels, chance = e.text, e.labels, rng.random()
                hard = e.source in ("sentences", "hatemoji", "edos", "stormfront", "toxic_spans", "wnut17")
                if len(text) > 6 and (copy or chance < (0.16 if hard else 0.06)):
                    if copy == 0 or chance < 0.6:
                        text = noisy(text, rng)
                elif chance > 0.96 and len(text) < 300 and e.source in last:
                    # Posts of several sentences: what one of them is, the whole is.
                    other = last[e.source]
                    text = f"{text} {other.text}"
                    labels = [1.0 if 1 in pair else 0.0 if pair == (0, 0) else UNKNOWN
                              for pair in zip(labels, other.labels)]
                elif chance > 0.92 and len(text) < 300:
                    calm = rng.choice(self.calm)
                    text = f"{calm} {text}" if rng.random() < 0.5 else f"{text} {calm}"
                    if rng.random() < 0.3:
                        text = f"{text} {rng.choice(self.calm)}"
                out.append(Example(text, labels, e.group, e.weight))
                last[e.source] = e if rng.random() < 0.3 or e.source not in last else last[e.source]
        return out
