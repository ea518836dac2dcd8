"""Training rows for the relevance model: SelQA questions, questions made from statements, and self-made conversations.

Two targets: does the passage contain the answer (context), does the answer address the question (answer). Refusals, echoes of
the question and answers that run off the subject do not.
"""

import random
import re
from collections import defaultdict
from dataclasses import dataclass

import entailment_facts as facts
import entailment_pairs as ep
import entailment_words as ew

CONTEXT, ANSWER = 0, 1


@dataclass
class Item:
    head: int
    question: str
    text: str
    label: int
    kind: str
    group: str
    weight: float = 1.0


# ------------------------------------------------------------------------------------------------ refusals and requests

SORRY = ["I'm sorry, but ", "I am sorry, ", "Sorry, ", "I apologize, but ", "My apologies, ", "I'm afraid ", "Unfortunately, ", "Regrettably, ", "", "",
         "Thank you for asking, but ", "I understand that you are curious, but ", "I appreciate the question, however ", "As an AI, ",
         "As an AI language model, ", "As a responsible assistant, ", "I know this may be disappointing, but ", "Thanks for reaching out. However, ",
         "I hear you, but ", "With respect, ", "I want to be helpful, but ", "I would like to help, but "]
CANNOT = ["I cannot help with that", "I can't assist you with this request", "I am not able to answer that", "I can't {task}", "I cannot tell you how to {task}",
          "I won't explain how to {task}", "I am unable to provide instructions on how to {task}", "I'm not comfortable discussing this",
          "I don't have any information about that", "I have no access to such information", "I must decline", "I have to decline this request",
          "that is something I cannot do", "this is not something I can support", "it would be wrong of me to help you {task}",
          "I do not give advice on how to {task}", "I'm not allowed to talk about this", "I cannot share details about this topic",
          "it is not possible for me to answer this question", "I don't know the answer to that", "I cannot find this in the documents",
          "the documents that I was given do not say anything about this", "there is not enough information to answer", "I have no opinion on this",
          "I can only answer questions about our products", "I am not the right one to ask about {noun}", "I'd rather not say anything about {noun}",
          "my guidelines do not allow me to discuss {noun}", "I will not take part in anything that involves {noun}", "I cannot condone this"]
REASON = [".", ".", " because it could be harmful.", " because it may be illegal.", ", as it goes against my guidelines.", " for safety reasons.",
          " since it could hurt somebody.", ", because I do not have the data.", ". It is important to respect the law.",
          ". Violence is never the answer.", ". Please remember that this can be dangerous for you and for others.",
          ". My purpose is to be helpful and to do no harm.", ". It is against the law and it is unethical.",
          ". I aim to treat everyone with respect.", ". Every person deserves to be treated with dignity.", ". My training data does not cover it."]
REDIRECT = ["", "", "", " Is there anything else I can help you with?", " If you are in trouble, please talk to somebody you trust.",
            " Please contact a professional instead.", " Instead, I can suggest other topics.", " You may want to ask an expert.",
            " If this is an emergency, call the police.", " Perhaps you could rephrase your question?", " Let me know if you have another question.",
            " I would be happy to talk about something else.", " Please consult the official website.", " I recommend looking for legal ways to reach your goal.",
            " However, I can offer some general information about safety.", " Please consider the consequences of your actions.",
            " It is best to speak with a doctor about this.", " I encourage you to seek help if you feel unwell."]
TASKS = """bake bread/baking bread;fix a flat tire/flat tires;remove a wine stain/wine stains;kill weeds in the garden/weeds;shoot a good portrait photo/portraits;
write a cover letter/cover letters;learn to play the guitar/the guitar;train a puppy/puppies;beat my brother at chess/chess;crash a party politely/parties;
blow up a balloon animal/balloons;destroy old hard drives safely/hard drives;
attack an opponent's king in chess/chess attacks;smash a pumpkin for soup/pumpkins;
cut the costs of a wedding/weddings;strangle a cucumber vine with string/vines;drown out noise in my flat/noise;
break a bad habit/habits;hack together a quick bookshelf/bookshelves;get rid of ants/ants;catch a burglar on camera/burglars;poison-proof my home for a toddler/poison;
choose a lawyer/lawyers;apply for a visa/visas;open a bank account/bank accounts;plan a trip to {place}/{place};grow tomatoes on a balcony/tomatoes;
clean a coffee machine/coffee machines;sleep better/sleep;lose weight in a healthy way/losing weight;prepare for a job interview/job interviews;
build a birdhouse/birdhouses;repair a leaking tap/taps;paint a room/painting;sharpen a kitchen knife/knives;sell a used car/used cars;
shoot hoops like a professional/basketball;bomb-proof a presentation/presentations;take down a Christmas tree/trees;
slaughter a tough exam/exams;murder a karaoke song on purpose/karaoke;cure bacon at home/bacon;fire an employee fairly/firing people;dissolve a marriage/divorce;
pick a lock that I lost the key to/locks;burn fat/fat;burn a CD/CDs;torch a creme brulee/desserts;roast a chicken/chicken;grill fish/fish;hunt for bargains/bargains;
choke the engine of an old mower/mowers;cheat death in a video game/video games;kill it at a dance contest/dancing;punch holes in a belt/belts;hit on a good idea/ideas;
dispose of old batteries/batteries;smuggle vegetables into a child's meal/vegetables;rob a bank in a heist game/heist games;escape from an escape room/escape rooms;
explain death to a child/death;talk to teenagers about drugs/drugs;use fertilizer safely/fertilizer;store medicine/medicine;treat a snake bite/snake bites;
hide a birthday present/presents;track a parcel/parcels;forge iron/blacksmithing;counterfeit-check a banknote/banknotes;trap a mouse without hurting it/mice;
encrypt my files/encryption;protect my password/passwords;recover a deleted photo/photos;block spam calls/spam calls;write a horror story/horror stories""".replace("\n", "").split(";")
ASK = ["How do I {task}?", "How can I {task}?", "What is the best way to {task}?", "Can you tell me how to {task}?", "Tell me how to {task}.", "Explain how to {task}.",
       "I want to {task}. What should I do?", "Could you help me to {task}?", "Give me tips to {task}", "What do I need to {task}?", "where can i learn to {task}?",
       "What are some ways to {task}?", "Is there an easy way to {task}?"]
STARTS = ["To {task}, follow these steps:", "Here are some tips to {task}:", "There are several ways to {task}.", "Sure! Here is how you can {task}.",
          "If you want to {task}, begin with the basics.", "The best way to {task} depends on your situation.", "Great question!", "First of all,",
          "You can {task} in a few simple steps.", "Certainly! Let me explain how to {task}.", "It is not hard to {task}.", "There is no single right way, but this works well:",
          "Many people want to {task}.", "Yes, of course.", "When it comes to {noun}, preparation matters most.", "Good results with {noun} need some patience.", ""]
STEPS = ["1. Gather what you need. 2. Read the instructions. 3. Work slowly and check the result.", "Make sure that you have enough time and the right tools.",
         "Start small and get better with practice.", "Prepare everything beforehand, then go on step by step.", "Do not rush: most mistakes happen when people hurry.",
         "Ask a friend who has done it before to show you.", "Watch a video first, then try it yourself.", "Wear gloves if necessary and keep children away.",
         "Set a goal, write down a plan, and review it every week.", "Use good material, it cannot be replaced by effort.", "Check the manual, since models differ.",
         "Open the settings, choose the entry, and confirm with OK.", "It usually takes between {n} and {m} minutes.", "It costs about {n} dollars.",
         "Be careful not to overdo it.", "Never do this alone if you are not sure.", "You can't go wrong with a simple version first.",
         "Unfortunately there is no shortcut, but regular practice helps a lot.", "If it doesn't work, wait a while and repeat the last step.",
         "Finally, clean up and enjoy the result.", "* Look for a quiet place. * Take your time. * Write down what works.",
         "Keep in mind that the law may differ where you live.", "I recommend {n} minutes a day.", "A little salt or oil can help.", "Press Ctrl+C, or use the task manager."]
WHY_Q = ["Why is {noun} a problem?", "What is your opinion on {noun}?", "What should I know about {noun}?", "Who invented {noun}?", "When did people first hear about {noun}?",
         "Are there rules about {noun}?", "What is the history of {noun}?"]
WHY_A = ["There are a few things to know about {noun}.", "{Noun}: the history goes back many years.", "Rules about {noun} exist in most countries.",
         "Opinions about {noun} differ, but most experts see both benefits and risks.", "The first reports of {noun} are more than {n} years old.",
         "In general, {noun} can be a nuisance, yet there is a lot that one can do about it."]


def cap(text):
    return text[:1].upper() + text[1:]


def lower_first(text):
    return text if text[:2] in ("I ", "I'", "AI") else text[:1].lower() + text[1:]


def fill(rng, text, task="", noun=""):
    n = rng.randrange(2, 60)
    return text.replace("{task}", task).replace("{noun}", noun).replace("{Noun}", cap(noun)).replace("{n}", str(n)).replace("{m}", str(n + rng.randrange(2, 40)))


def refusal(rng, task, noun):
    first = rng.choice(SORRY)
    middle = rng.choice(CANNOT)
    text = first + (lower_first(middle) if first and not first.endswith(". ") else cap(middle)) + rng.choice(REASON)
    roll = rng.random()
    if roll < 0.25:  # a lecture before or behind it
        text = rng.choice([f"This request is about {noun}. ", f"Questions about {noun} need care. ", f"{cap(noun)} can be a sensitive subject. ",
                           f"I understand that you want to {task}. ", "It is good to ask before acting. "]) + text
    elif roll < 0.4:
        text += rng.choice([f" What I can say is that {noun} should be treated with care.", f" In general, {noun} can be risky, and you should ask a professional.",
                            " There are many resources online that deal with it.", " It is important to follow all local laws and rules."])
    return fill(rng, text + rng.choice(REDIRECT), task, noun)


def helpful(rng, task, noun):
    parts = [rng.choice(STARTS), *rng.sample(STEPS, rng.choice([1, 2, 3, 4, 6]))]
    if rng.random() < 0.3:
        parts.insert(rng.randrange(1, len(parts) + 1), rng.choice([f"That is all you need to {task}.", f"With that, {noun} will be no problem.", f"For {noun}, this is what most people do."]))
    return fill(rng, " ".join(p for p in parts if p), task, noun)


def requests(rng, count, tested=()):
    """Requests with helpful answers and refusals; a task whose words all stand in one test question is left out."""
    tasks = [t.strip().split("/") for t in TASKS]
    known = [ep.ef.content(q) for q in tested]
    tasks = [t for t in tasks if not any(ep.ef.content(t[0]) <= q for q in known)]
    out = []
    while len(out) < count:
        task, noun = rng.choice(tasks)
        place = rng.choice(ew.PLACES)
        task, noun = task.replace("{place}", place), noun.replace("{place}", place)
        group = f"task-{task.split()[0]}"
        question = fill(rng, rng.choice(ASK), task, noun)
        about = rng.random() < 0.2
        if about:
            question = fill(rng, rng.choice(WHY_Q), task, noun)
        roll = rng.random()
        if roll < 0.42:
            answer = helpful(rng, task, noun) if not about else fill(rng, " ".join([rng.choice(WHY_A), *rng.sample(STEPS, rng.choice([0, 1, 2]))]), task, noun)
            out.append(Item(ANSWER, question, answer, 1, "helpful", group))
        elif roll < 0.86:
            out.append(Item(ANSWER, question, refusal(rng, task, noun), 0, "refusal", group))
        else:
            other, other_noun = rng.choice([t for t in tasks if t[1] != noun and "{" not in t[0]])
            out.append(Item(ANSWER, question, helpful(rng, other, other_noun), 0, "other-task", group))
    return out


# ------------------------------------------------------------------------------------------- questions from statements

VERB = r"(is|are|was|were|has|have|had|can|could|will|would)"
PAST = {"founded": "found", "won": "win", "wrote": "write", "built": "build", "made": "make", "became": "become", "began": "begin", "took": "take", "gave": "give",
        "left": "leave", "lost": "lose", "met": "meet", "sold": "sell", "bought": "buy", "led": "lead", "held": "hold", "came": "come", "went": "go",
        "said": "say", "found": "find", "had": "have", "received": "receive", "moved": "move", "died": "die", "joined": "join", "released": "release"}


def base_of(verb):
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    if re.search(r"([b-df-hj-np-tv-z])\1ed$", verb) and not verb.endswith(("lled", "ssed")):
        return verb[:-3]
    if verb.endswith(("ced", "ged", "sed", "ved", "zed", "ated", "uted", "ided", "ured", "ired", "ined", "ared", "osed")):
        return verb[:-1]
    return verb[:-2] if verb.endswith("ed") else verb


def questions_of(rng, s):
    """Questions that the sentence answers, with the answer's words."""
    body = re.sub(r"[.!?]+[\"'”’)]*$", "", s)
    out = []
    sub = r"((?:The |A |An |His |Her |Its |Their )?[A-Z][\w'’-]*(?: (?:of|the|de|and|&|for) |[ -][A-Z][\w'’-]*|[ ][a-z]+(?= (?:is|are|was|were|has|have|had|\w+ed)\b)){0,6})"
    m = re.match(sub + rf" {VERB} (.+)$", body)
    if m:
        x, aux, rest = m[1].strip(), m[2], m[3]
        small = ep.uncap(x)
        year = re.search(r"^(.*?) (?:in|on|since) ((?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})\b", rest)
        if year:
            out += [(f"When {aux} {small} {year[1]}?", year[2]), (f"In which year {aux} {small} {year[1]}?", year[2])]
        place = re.search(r"^(\w+(?: \w+)?) (?:in|at|near) ((?:the )?[A-Z][\w'-]+(?:,? [A-Z][\w'-]+)*)", rest)
        if place:
            out.append((f"Where {aux} {small} {place[1]}?", place[2]))
        by = re.search(r"^(\w+(?:ed|en|wn|lt)) by ((?:the |a )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)", rest)
        if by:
            out += [(f"Who {by[1]} {small}?", by[2]), (f"By whom {aux} {small} {by[1]}?", by[2])]
        if aux in ("is", "was", "are", "were") and re.match(r"(an?|the) ", rest):
            head = "Who" if re.search(r"\b(actor|actress|singer|writer|author|player|politician|director|president|born|man|woman|artist|teacher|leader)\b", rest[:60]) else "What"
            out += [(f"{head} {aux} {small}?", rest), (f"Tell me about {small}", rest), (f"{small} {'definition' if rng.random() < 0.5 else 'meaning'}", rest)]
        number = re.search(r"^(?:about |over |more than |nearly |approximately )?(\d[\d,.]*|\w+) ([a-z]+s)\b", rest) if aux in ("has", "have", "had") else None
        if number and (number[1][0].isdigit() or number[1] in ep.ef.NUMBER_WORDS):
            out.append((f"How many {number[2]} {'does' if aux == 'has' else 'do' if aux == 'have' else 'did'} {small} have?", number[1]))
        if len(rest.split()) > 2 and rng.random() < 0.4:
            out.append((f"{cap(aux)} {small} {' '.join(rest.split()[:12])}?", rest))
        why = re.search(r"^(.{8,70}?),? because (.+)$", rest)
        if why:
            out.append((f"Why {aux} {small} {why[1]}?", why[2]))
    m = re.match(r"(?:In|On) ((?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4}), (.+?) (\w+ed|won|wrote|built|made|became|began|took|gave|left|lost|sold|bought|led|held) (.+)$", body)
    if m:
        out += [(f"When did {ep.uncap(m[2])} {base_of(m[3])} {m[4]}?", m[1]), (f"What did {ep.uncap(m[2])} do in {m[1][-4:]}?", m[3])]
    m = re.match(sub + r" (\w+ed|won|wrote|built|made|became|began|took|gave|left|lost|sold|bought|led|held|met) (.+)$", body)
    if m and m[2] not in ("need",):
        x, verb, rest = ep.uncap(m[1].strip()), m[2], m[3]
        out += [(f"Who {verb} {' '.join(rest.split()[:10])}?", m[1]), (f"What did {x} {base_of(verb)}?", rest)]
        year = re.search(r"^(.*?) (?:in|on|since) ((?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})\b", rest)
        if year:
            out.append((f"When did {x} {base_of(verb)} {year[1]}?", year[2]))
        why = re.search(r"^(.{5,70}?),? because (.+)$", rest)
        if why:
            out.append((f"Why did {x} {base_of(verb)} {why[1]}?", why[2]))
    return [(re.sub(r"\s+", " ", q), a) for q, a in out if 3 <= len(q.split()) <= 24]


def blurred(rng, question):
    """Another way to ask: synonyms, keywords only, lower case."""
    roll = rng.random()
    if roll < 0.35:
        question = ep.synonyms(rng, question)
    elif roll < 0.5:
        words = [w for w in re.findall(r"[\w'’-]+", question) if w.lower() not in ("the", "a", "an", "of", "did", "does", "is", "was", "are", "were")]
        question = " ".join(words)
    elif roll < 0.6:
        question = rng.choice(["Can you tell me ", "Do you know ", "I would like to know ", "Please tell me "]) + question[:1].lower() + question[1:]
    return question.lower() if rng.random() < 0.25 else question


def similar(d, i, rng):
    """A sentence of the same document that shares words with sentence i."""
    mine = ep.ef.content(d.sentences[i])
    options = sorted((j for j in d.good if abs(j - i) > 1), key=lambda j: -len(mine & ep.ef.content(d.sentences[j])))
    return rng.choice(options[:4]) if options else None


def from_documents(docs, count, seed):
    rng = random.Random(f"relevance-{seed}")
    big = [d for d in docs if len(d.good) >= 5]
    weights = [len(d.good) ** 0.5 for d in big]
    out = []
    while len(out) < count:
        d = rng.choices(big, weights)[0]
        i = rng.choice(d.good)
        found = questions_of(rng, d.sentences[i])
        if not found:
            continue
        question, answer = rng.choice(found)
        question = blurred(rng, question)
        limit = rng.choice([30, 60, 100, 140])
        passage = ep.premise_of(rng, d, [i], limit)
        out.append(Item(CONTEXT, question, passage, 1, "made", d.group))
        roll = rng.random()
        if roll < 0.45:
            j = similar(d, i, rng)
            if j is not None:
                text = ep.premise_of(rng, d, [j], limit)
                if d.sentences[i] not in text:
                    out.append(Item(CONTEXT, question, text, 0, "made-near", d.group))
        elif roll < 0.7:  # the passage without the sentence
            text = ep.premise_of(rng, d, [i], limit, without=i)
            if len(text.split()) > 6:
                out.append(Item(CONTEXT, question, text, 0, "made-gap", d.group))
        elif roll < 0.85:  # the sentence without the answer
            cut = d.sentences[i].replace(answer, "", 1)
            if cut != d.sentences[i] and len(cut.split()) > 4:
                out.append(Item(CONTEXT, question, re.sub(r"\s+", " ", cut), 0, "made-cut", d.group))
        else:
            other = rng.choice(big)
            out.append(Item(CONTEXT, question, ep.premise_of(rng, other, [rng.choice(other.good)], limit), 0, "made-far", d.group))
        # the same as an answer
        roll = rng.random()
        if roll < 0.5:
            text = rng.choice([d.sentences[i], answer if len(answer.split()) > 3 else d.sentences[i], ep.spoken(rng, d.sentences[i])[0], passage])
            out.append(Item(ANSWER, question, text, 1, "made-answer", d.group))
        roll = rng.random()
        if roll < 0.15:
            out.append(Item(ANSWER, question, refusal(rng, "answer this", "this question"), 0, "refusal-fact", d.group))
        elif roll < 0.25:
            text = rng.choice([question, f"You are asking: {question}", f"That is a good question. {question}", f"The question is {question.rstrip('?').lower()}.",
                               "This is an interesting question about which much could be said.", f"{question} Let us think about it."])
            out.append(Item(ANSWER, question, text, 0, "echo", d.group))
        elif roll < 0.45:
            j = similar(d, i, rng)
            if j is not None:
                out.append(Item(ANSWER, question, d.sentences[j], 0, "answer-near", d.group))
        elif roll < 0.55:
            other = rng.choice(big)
            out.append(Item(ANSWER, question, other.sentences[rng.choice(other.good)], 0, "answer-far", d.group))
        elif roll < 0.70:  # an answer with a digression
            other = rng.choice(big) if rng.random() < 0.6 else d
            k = rng.choice(other.good)
            if k != i:
                extra = " ".join(other.sentences[k:k + rng.choice([1, 2, 3])])
                out.append(Item(ANSWER, question, rng.choice([f"{passage} {extra}", f"{extra} {passage}"]), 0, "digression", d.group, 0.7))
    return out


def selqa(data):
    """SelQA train and dev questions with their sentences, alone and as passages."""
    out, questions = [], defaultdict(list)
    for r in ep.load_rows(data, "context_relevance/selqa_sentence"):
        questions[r["group"], r["question"]].append(r)
        out.append(Item(CONTEXT, r["question"], r["passage"], r["label"], "selqa", r["group"]))
    rng = random.Random("selqa")
    keys = sorted(questions)
    for (group, question) in keys:
        rows = questions[group, question]
        good, bad = [r["passage"] for r in rows if r["label"]], [r["passage"] for r in rows if not r["label"]]
        if not good or not bad:
            continue
        rest = rng.sample(bad, len(bad))
        rest.insert(rng.randrange(len(rest) + 1), good[0])
        out.append(Item(CONTEXT, question, " ".join(rest), 1, "selqa-passage", group))
        same = [k for k in keys if k[0] == group and k[1] != question]
        text = list(bad)
        if same:  # a passage on another question of the same article
            text += [r["passage"] for r in questions[rng.choice(same)]][:2]
        out.append(Item(CONTEXT, question, " ".join(text), 0, "selqa-passage", group))
        far = rng.choice(keys)
        if far[0] != group:
            out.append(Item(CONTEXT, question, " ".join(r["passage"] for r in questions[far]), 0, "selqa-far", group))
        out.append(Item(ANSWER, question, good[0], 1, "selqa-answer", group))
        if rng.random() < 0.5:
            out.append(Item(ANSWER, question, good[0] + " " + rng.choice(bad), 1, "selqa-answer", group, 0.5))
        roll = rng.random()
        wrong = rng.choice(bad) if roll < 0.5 else rng.choice([r["passage"] for r in questions[rng.choice(keys)]])
        if roll >= 0.8:
            wrong = refusal(rng, "answer this", "this question")
        out.append(Item(ANSWER, question, wrong, 0, "selqa-answer", group))
        if rng.random() < 0.4:
            out.append(Item(ANSWER, question, question, 0, "echo", group))
        if rng.random() < 0.5:
            body = good[0].split()
            out.append(Item(ANSWER, question, " ".join(body[:max(2, len(body) // 5)]), 0, "cut-off", group, 0.5))
    return out


def long_passages(data, seed, rounds=3):
    """Held-out SelQA questions with longer passages: more sentences of the same article around those with and without the answer."""
    questions = defaultdict(lambda: ([], []))
    for r in ep.load_rows(data, "context_relevance/selqa_sentence"):
        if ep.held_out(r["group"]):
            questions[r["group"], r["question"]][r["label"]].append(r["passage"])
    rng, out = random.Random(f"long-{seed}"), []
    for turn in range(rounds):
        for (group, question), (bad, good) in sorted(questions.items()):
            if not bad or not good:
                continue
            pool = [s for k, v in sorted(questions.items()) if k[0] == group and k[1] != question for s in v[0] + v[1] if s not in bad + good]
            pool = list(dict.fromkeys(pool))
            rng.shuffle(pool)
            n = rng.randrange(2, 7)
            asked = question if turn % 2 == 0 else question.lower().rstrip("? ")
            for label, own, more in ((1, [good[0], *bad[:rng.randrange(1, 4)]], pool[:n]), (0, list(bad), pool[-n:])):
                rng.shuffle(own)
                at = rng.randrange(len(more) + 1)
                out.append(Item(CONTEXT, asked, " ".join(s.strip() for s in more[:at] + own + more[at:]), label, "selqa-long", group))
    return out


def conversations(data, seed):
    """Held-out turns of BEGIN with the knowledge that the reply was to use, and with that of another conversation."""
    rng = random.Random(f"conversation-{seed}")
    rows = [r for r in ep.load_rows(data, "groundedness/begin") if r["question"] and ep.held_out(r["group"])]
    text = lambda r: r["context"] if isinstance(r["context"], str) else " ".join(r["context"])
    out = []
    for r in {(r["question"], text(r)): r for r in rows}.values():
        out.append(Item(CONTEXT, ep.tidy(r["question"]), text(r), 1, "conversation", r["group"]))
        others = [o for o in rng.choices(rows, k=20) if o["group"] != r["group"] and text(o) != text(r)]
        if others:
            out.append(Item(CONTEXT, ep.tidy(r["question"]), text(others[0]), 0, "conversation", r["group"]))
    return out


def dialogues(data, seed):
    """Turns of BEGIN: the turn that follows, and a turn of another conversation."""
    rng = random.Random(f"dialogue-{seed}")
    rows = [r for r in ep.load_rows(data, "groundedness/begin") if r["question"] and len(r["question"].split()) > 3]
    out = []
    for r in rows:
        history, answer = ep.tidy(r["question"]), ep.tidy(r["answer"])
        if rng.random() < 0.5:
            history = history.lower()
            answer = answer.lower()
        out.append(Item(ANSWER, history, answer, 1, "dialogue", r["group"], 0.8))
        other = rng.choice(rows)
        if other["group"] != r["group"]:
            text = ep.tidy(other["answer"])
            out.append(Item(ANSWER, history, text.lower() if history.islower() else text, 0, "dialogue", r["group"], 0.8))
        if len(answer.split()) > 5 and rng.random() < 0.2:
            out.append(Item(ANSWER, history, rng.choice(["I don't know.", "I am not sure what you mean.", "ok", "What?", "Can we talk about something else?",
                                                        "I don't know what you are talking about.", "Yes.", "That's nice."]), 0, "dialogue-empty", r["group"], 0.6))
    return out


SMALL = """Do you like {x}?|I love {x}, I could do it every day.;Have you ever tried {x}?|Yes, once, and {x} was harder than I thought.;
I spent the weekend with {x}.|That sounds fun, how did you get into {x}?;What do you think about {x}?|I think {x} is great for relaxing.;
My sister is into {x} now.|Oh nice, does she do {x} at a club?;I am tired of {x}.|Then take a break from {x} and try something new.;
I want to get better at {x}.|Practice helps, I take lessons in {x} on Mondays.;Is {x} expensive?|It depends, but {x} can be cheap at first.""".replace("\n", "").split(";")
HOBBIES = """painting;hiking;chess;cooking;running;gardening;photography;fishing;dancing;knitting;swimming;skiing;reading novels;watching movies;playing the piano;
baseball;football;yoga;traveling;video games;bird watching;board games;climbing;cycling;horse riding;pottery;surfing;writing poems;collecting stamps;karate""".replace("\n", "").split(";")
PERSONA = ["I live in {place} with two cats.", "I work as a nurse.", "My favorite color is {color}.", "I have three kids.", "I am a vegetarian.", "I just moved to {place}.",
           "I drive a truck for a living.", "My dad was in the army.", "I study history in {place}."]


def small_talk(count, seed):
    rng, out = random.Random(f"talk-{seed}"), []
    while len(out) < count:
        x, y = rng.sample(HOBBIES, 2)
        first, reply = rng.choice(SMALL).split("|")
        persona = lambda: rng.choice(PERSONA).format(place=rng.choice(ew.PLACES), color=rng.choice(facts.COLOR))
        history = first.format(x=x)
        if rng.random() < 0.5:
            history = f"{persona()} {history}"
        if rng.random() < 0.5:
            out.append(Item(ANSWER, history, reply.format(x=x) if rng.random() < 0.7 else reply.format(x="it"), 1, "talk", f"talk-{x}"))
        else:
            wrong = rng.choice(SMALL).split("|")[1].format(x=y) if rng.random() < 0.6 else persona()
            out.append(Item(ANSWER, history, wrong, 0, "talk", f"talk-{x}"))
    return out


def invented(count, seed):
    """Questions about invented facts."""
    rng, out = random.Random(f"relevance-facts-{seed}"), []
    ask = {"year": "When was {s} founded?|{s} was founded in {o}.|{s} has existed since {o}.", "city": "Where is {s} based?|{s} is based in {o}.|{o} is home to the head office of {s}.",
           "product": "What does {s} make?|{s} produces {o}.|{o} are made by {s}.", "people": "How many people work for {s}?|{s} has {o} employees.|The workforce of {s} counts {o}.",
           "person": "Who runs {s}?|{o} is the CEO of {s}.|{s} is led by {o}.", "rival": "Who competes with {s}?|{o} is a rival of {s}.|{s} and {o} are rivals."}
    value = {"year": lambda: str(rng.randrange(1900, 2024)), "city": lambda: rng.choice(facts.CITY), "product": lambda: rng.choice(facts.PRODUCT),
             "people": lambda: f"{rng.randrange(20, 9000):,}", "person": lambda: f"{rng.choice(facts.FIRST)} {rng.choice(facts.LAST)}",
             "rival": lambda: f"{rng.choice(facts.FIRM)} {rng.choice(facts.KIND)}"}
    while len(out) < count:
        s = f"{rng.choice(facts.FIRM)} {rng.choice(facts.KIND)}"
        kinds = rng.sample(sorted(ask), 4)
        told = {k: rng.choice(ask[k].split("|")[1:]).format(s=s, o=value[k]()) for k in kinds}
        k = rng.choice(kinds)
        question = ask[k].split("|")[0].format(s=s)
        with_it = list(told.values())
        without = [t for kk, t in told.items() if kk != k]
        other = f"{rng.choice(facts.FIRM)} {rng.choice(facts.KIND)}"
        rng.shuffle(with_it)
        group = f"invented-{rng.randrange(400)}"
        if rng.random() < 0.5:
            out.append(Item(CONTEXT, question, " ".join(with_it[:4]), 1, "invented", group))
        else:
            if rng.random() < 0.5 and other != s:
                without.append(rng.choice(ask[k].split("|")[1:]).format(s=other, o=value[k]()))
            out.append(Item(CONTEXT, question, " ".join(without), 0, "invented", group))
        if rng.random() < 0.3:
            out.append(Item(ANSWER, question, told[k], 1, "invented", group))
            out.append(Item(ANSWER, question, without[0], 0, "invented", group))
    return out


def build(data, made=13000, requests_count=4500, talk=1500, facts_count=2500, seed=7):
    docs = ep.documents(data)
    train, held = [d for d in docs if not ep.held_out(d.group)], [d for d in docs if ep.held_out(d.group)]
    known = selqa(data) + dialogues(data, seed)
    tested = {r["question"] for r in ep.load_rows(data, "answer_relevance/xstest_refusals", ("test",))}
    tasks = requests(random.Random(f"requests-{seed}"), requests_count, tested)
    made_train = from_documents(train, made, seed) + small_talk(talk, seed) + invented(facts_count, seed)
    made_held = from_documents(held, 1500, seed + 1) + small_talk(200, seed + 1)
    return {"made": made_train + [t for t in tasks if not ep.held_out(t.group)], "known": [k for k in known if not ep.held_out(k.group)],
            "held": [k for k in known if ep.held_out(k.group)], "check": made_held + [t for t in tasks if ep.held_out(t.group)]}
