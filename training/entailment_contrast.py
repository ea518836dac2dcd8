"""Pairs made by rule: one class of people, goods or times is spared what another one bears.

    A gets the thing whole, B with a deduction, a fee or a condition.  ->  "There is no fee for A" follows, "There is no fee for B" does not.

Each pair comes with its mirror (A and B exchanged in the premise), so that neither the words nor the form give the label away.
"""

import random

import entailment_pairs as ep
import entailment_plain as plain

# (one class, the other): many differ by a prefix only, which small models read past.
CLASSES = [
    ("unopened bottles", "opened bottles"), ("unused tickets", "used tickets"), ("unfurnished flats", "furnished flats"),
    ("insured drivers", "uninsured drivers"), ("registered users", "unregistered users"), ("members", "non-members"),
    ("residents", "visitors"), ("children", "adults"), ("students", "other guests"), ("cars", "lorries"), ("cats", "dogs"),
    ("bookings by phone", "bookings online"), ("paper files", "digital files"), ("small parcels", "large parcels"),
    ("new customers", "existing customers"), ("trial accounts", "paid accounts"), ("licensed boats", "unlicensed boats"),
    ("undamaged crates", "damaged crates"), ("unlimited plans", "limited plans"), ("paid invoices", "unpaid invoices"),
    ("sealed samples", "unsealed samples"), ("local calls", "calls abroad"), ("day guests", "overnight guests"),
    ("electric cars", "diesel cars"), ("full-time staff", "part-time staff"), ("first-year students", "later students"),
    ("groups", "single visitors"), ("signed forms", "unsigned forms"), ("unmarried applicants", "married applicants"),
    ("trained volunteers", "untrained volunteers"), ("empty containers", "full containers"), ("subscribers", "guests"),
    ("private patients", "other patients"), ("organic farms", "ordinary farms"), ("verified sellers", "unverified sellers"),
    ("reserved seats", "unreserved seats"), ("unheated rooms", "heated rooms"), ("locked bicycles", "unlocked bicycles"),
    ("cut flowers", "potted plants"), ("weekday courses", "weekend courses"), ("printed maps", "downloaded maps"),
    ("undeveloped films", "developed films"), ("cancelled orders", "confirmed orders"), ("frozen goods", "fresh goods"),
]
# (what is borne: with an article; in the plural or without one; a verb phrase that says so; what being spared means)
BURDENS = [
    ("a handling fee", "handling fee", ["a handling fee of {n} % is charged", "{n} euros are charged for handling"], ["at the full price paid", "without any deduction", "in full"]),
    ("a deposit", "deposit", ["a deposit of {n} euros is asked", "{n} euros must be left as a deposit"], ["straight away", "on signature alone"]),
    ("a waiting time", "waiting time", ["a waiting time of {n} days applies", "they wait {n} days"], ["at once", "on the same day"]),
    ("a surcharge", "surcharge", ["a surcharge of {n} % is added", "{n} % is added to the bill"], ["at the listed price", "at the normal rate"]),
    ("a cleaning charge", "cleaning charge", ["a cleaning charge of {n} euros is due", "{n} euros are due for cleaning"], ["at the basic rate", "for the basic price only"]),
    ("a permit", "permit", ["a permit from the office is needed", "a permit has to be shown"], ["freely", "at any time and by anybody"]),
    ("an inspection", "inspection", ["an inspection takes place first", "an inspection is made before"], ["as they are", "directly"]),
    ("a late penalty", "late penalty", ["a late penalty of {n} euros applies", "{n} euros are taken as a late penalty"], ["for the same amount as before", "for the amount agreed"]),
    ("an age limit", "age limit", ["an age limit of {n} years applies", "nobody under {n} is admitted"], ["at every age", "from birth on"]),
    ("a transfer charge", "transfer charge", ["a transfer charge of {n} euros is kept back", "{n} euros are kept back for the transfer"], ["for the whole sum", "in full"]),
    ("a size limit", "size limit", ["a size limit of {n} MB applies", "no more than {n} MB is accepted"], ["at any size", "however large"]),
    ("a booking fee", "booking fee", ["a booking fee of {n} euros comes on top", "{n} euros are added as a booking fee"], ["for the price shown", "at face value"]),
]
VERBS = ["are accepted", "are handled", "are taken", "are admitted", "are settled", "are served", "are processed"]
LIMITS = ["within {m} days", "up to {m} weeks later", "every day until {h} o'clock", "for {m} days", "from {h} o'clock on"]
TRUE = ["There is no {bare} for {a}.", "No {bare} applies to {a}.", "{A} have no {bare}.", "{A} are free of the {bare}.",
        "For {a} there is no {bare}.", "The {bare} is only for {b}.", "{A} are spared the {bare}.", "You do not have {art} with {a}."]
OPPOSITE = ["There is {art} for {b}.", "{B} have {art}.", "The {bare} is for {b}."]


def capital(text):
    return text[0].upper() + text[1:]


def pair_of(rng, spared, burdened, burden, number):
    """(premise, first sentence that is true) where `spared` bears nothing."""
    art, bare, says, whole = burden
    verb, limit = rng.choice(VERBS), rng.choice(LIMITS)
    fill = lambda t: t.format(n=rng.choice([2, 3, 5, 8, 10, 12, 15, 20, 25, 30]), m=rng.choice([7, 10, 14, 21, 28, 45, 60]), h=rng.choice([16, 18, 20, 22]))
    time, other = fill(limit), fill(rng.choice(LIMITS))
    first = rng.choice([f"{capital(spared)} {verb} {time} {rng.choice(whole)}.", f"{capital(spared)} {verb} {rng.choice(whole)} {time}."])
    says = fill(rng.choice(says))
    second = rng.choice([f"{capital(burdened)} {verb} {other}, and {says}.", f"With {burdened}, {says}; they {verb} {other}.", f"For {burdened} {says}."])
    sentences = [first, second]
    if rng.random() < 0.4:
        sentences.reverse()
    return " ".join(sentences), f"{capital(spared)} {verb} {time}."


def pairs(count, seed=7):
    """`count` pairs, half of them entailed."""
    rng, out = random.Random(f"contrast-{seed}"), []
    while len(out) < count:
        a, b = rng.choice(CLASSES)
        if rng.random() < 0.5:
            a, b = b, a
        burden = rng.choice(BURDENS)
        art, bare = burden[:2]
        group = f"contrast-{len(out)}"
        mirror = rng.random() < 0.5
        spared, burdened = (b, a) if mirror else (a, b)
        premise, fact = pair_of(rng, spared, burdened, burden, len(out))
        is_plain = rng.random() < 0.75
        form = rng.choice(TRUE if is_plain else OPPOSITE)
        text = form.format(a=a, A=capital(a), b=b, B=capital(b), bare=bare, art=art)
        if rng.random() < 0.6:
            # What else stands in the passages, and has nothing to do with it.
            others = [rng.choice(plain.MAKERS)(rng)[0] for _ in range(rng.randint(1, 7))]
            at = rng.randint(0, len(others))
            heading = rng.choice(["", "", f"{capital(bare)}: ", "Terms: ", "Rules of the house: "])
            premise = " ".join([*others[:at], heading + premise, *others[at:]])
        right = not mirror
        if rng.random() < 0.4:
            text = f"{fact} {text}"
        if rng.random() < 0.5:
            question = rng.choice([f"Is there {art} for {a}?", f"What holds for {a}, and is there {art}?", f"How long, and with {art} or not?",
                                   f"Until when can I come with {a}, and does {art} apply?", f"How many days do I have with {a}, and does {art} apply?"])
            text = f"{question} {text}"
        label = ep.ENTAIL if right else ep.CONTRA
        out.append(ep.Pair(premise, text, label, "contrast", group, None))
    return out
