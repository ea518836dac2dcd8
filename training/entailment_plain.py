"""Pairs made by rule: short notices of two to four plain facts, and one sentence that says one of them in other words or says something else.

Numbers stand as words or as figures, days, roles, conditions and negations are exchanged. Each form of a sentence comes true and false alike.
"""

import random

import entailment_pairs as ep

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_PLACES = ["swimming pool", "library", "bakery", "zoo", "clinic", "archive", "castle", "sports hall", "gallery", "theatre", "garden", "cinema", "market",
           "observatory", "aquarium", "workshop", "café", "tower", "registry office", "repair shop"]
_THINGS = ["a day pass", "a locker", "a guided tour", "a parking space", "a copy", "a boat for an hour", "a bicycle for a day", "a night in the hostel",
           "a haircut", "a repair", "a yearly card", "an audio guide", "a set of towels", "the evening course", "the basic package", "a new key"]
_GROUPS = ["students", "pensioners", "children under ten", "members", "residents", "teachers", "nurses", "visitors with a disability", "school classes",
           "apprentices", "volunteers", "holders of the city card"]
_PEOPLE = ["Anna Weiss", "Omar Haddad", "Lucía Prieto", "Kofi Mensah", "Ingrid Dahl", "Paul Moreau", "Mei Tanaka", "Ravi Kapoor", "Eva Novak",
           "Sam Okoye", "Nina Rossi", "Jonas Vogel", "Leila Aziz", "Peter Hall", "Maja Lund", "Carlos Silva"]
_DEEDS = [("designed", "built", "the pavilion"), ("wrote", "edited", "the manual"), ("trained", "examined", "the new pilots"), ("sold", "bought", "the workshop"),
          ("planned", "paid for", "the journey"), ("composed", "sang", "the anthem"), ("reported", "fixed", "the fault"), ("founded", "closed", "the branch office"),
          ("painted", "framed", "the portrait"), ("proposed", "opposed", "the merger"), ("hired", "dismissed", "the architect"), ("lost", "found", "the keys")]
_PAIRS = [("replaced", "was replaced by"), ("defeated", "lost to"), ("taught", "was taught by"), ("sued", "was sued by"), ("employs", "works for"),
          ("followed", "was followed by"), ("rescued", "was rescued by"), ("invited", "was invited by")]
_SPOTS = ["the footbridge", "the north car park", "the reading room", "the ferry line", "the old gate", "the playground", "the second platform", "the canteen"]
_SAVED = ["the stored contacts", "the language setting", "the photo albums", "the access codes", "the saved routes", "the alarm times", "the printer list",
          "the user accounts", "the calendar entries", "the brightness level"]
_ACTS = ["the factory reset", "the update", "a change of battery", "the migration", "a switch of plan", "the repair"]
_FEATURES = ["shared folders", "phone support", "custom domains", "offline maps", "video export", "usage reports", "two-step login", "API access"]
_PLANS = [("Basic", "Plus", "Premium"), ("Starter", "Team", "Business"), ("Silver", "Gold", "Platinum"), ("Solo", "Studio", "Agency")]
_TREATED = [("the new coating", "the number of cracks"), ("green tea", "blood pressure"), ("the shorter week", "the number of sick days"), ("vitamin D", "the number of falls"),
            ("the speed limit", "the number of accidents"), ("the fertiliser", "the yield"), ("smaller classes", "the marks"), ("the filter", "the noise")]
_UNITS = ["euros", "dollars", "pounds", "francs"]


def number(rng, n):
    """`n` as a word or in figures."""
    if rng.random() < 0.5 or n > 99:
        return str(n)
    return _ONES[n] if n < 20 else _TENS[n // 10] + (f"-{_ONES[n % 10]}" if n % 10 else "")


def other(rng, values, *known):
    return rng.choice([v for v in values if v not in known])


def capital(text):
    return text[0].upper() + text[1:]


def price(rng):
    thing, unit = rng.choice(_THINGS), rng.choice(_UNITS)
    values = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 18, 20, 22, 25, 30, 35, 40, 45, 50, 60, 75, 80, 90]
    n = rng.choice(values)
    fact = rng.choice(["{T} costs {n} {u}.", "The price of {t} is {n} {u}.", "For {t} you pay {n} {u}."])
    say = rng.choice(["{T} costs {n} {u}.", "You have to pay {n} {u} for {t}.", "{n} {u} is what {t} costs.", "{T} is {n} {u}.", "The charge for {t} is {n} {u}."])
    fill = lambda form, k: capital(form.format(t=thing, T=capital(thing), n=number(rng, k), u=unit))
    return fill(fact, n), fill(say, n), fill(say, other(rng, values, n))


def days(rng):
    place, day = rng.choice(_PLACES), rng.choice(_DAYS)
    shut = ["The {p} is closed on {d}s.", "On {d}s the {p} stays shut.", "The {p} does not open on {d}s.", "There is no access to the {p} on {d}s."]
    open_ = ["The {p} is open on {d}s.", "You can visit the {p} on {d}s.", "On {d}s the {p} opens its doors."]
    fill = lambda forms, d: rng.choice(forms).format(p=place, d=d)
    if rng.random() < 0.5:
        return fill(shut[:2], day), fill(shut, day), fill(open_, day)
    return rng.choice([f"The {place} is open every day except {day}.", f"The {place} opens daily apart from {day}s."]), \
        rng.choice([fill(shut, day), fill(open_, other(rng, _DAYS, day))]), rng.choice([fill(open_, day), fill(shut, other(rng, _DAYS, day))])


def free(rng):
    group = rng.choice(_GROUPS)
    wrong = other(rng, _GROUPS, group)
    if rng.random() < 0.5:
        fact = rng.choice(["{G} enter free of charge.", "Admission is free for {g}.", "{G} pay nothing."])
        say = ["{G} do not have to pay.", "{G} get in for nothing.", "There is no charge for {g}.", "Entry costs {g} nothing."]
        bad = ["{G} pay half the price.", "{G} have to pay the full price.", "{G} get a small discount.", "Only the first visit is free for {g}."]
    else:
        fact = rng.choice(["{G} pay half the price.", "For {g} the price is halved.", "{G} get fifty per cent off."])
        say = ["{G} get half off.", "{G} pay only half.", "The price is half for {g}.", "{G} get a discount."]
        bad = ["{G} do not have to pay.", "{G} get in for nothing.", "{G} pay the full price.", "There is no discount for {g}."]
    fill = lambda form, g: form.format(g=g, G=capital(g))
    false = fill(rng.choice(bad), group) if rng.random() < 0.6 else fill(rng.choice(say), wrong)
    return fill(fact, group), fill(rng.choice(say), group), false


def hours(rng):
    place, n = rng.choice(_PLACES), rng.choice([6, 7, 8, 9, 10, 11])
    m = rng.choice([4, 5, 6, 7, 8, 9])
    fact = f"The {place} opens at {number(rng, n)} in the morning and closes at {number(rng, m)} in the evening."
    say = rng.choice(["The {p} opens at {n} in the morning.", "From {n} in the morning on the {p} is open.", "The {p} closes at {m} in the evening.", "The {p} is open until {m} in the evening."])
    fill = lambda a, b: say.format(p=place, n=number(rng, a), m=number(rng, b))
    return fact, fill(n, m), fill(other(rng, range(6, 12), n), other(rng, range(4, 10), m))


def deed(rng):
    a, b = rng.sample(_PEOPLE, 2)
    first, second, thing = rng.choice(_DEEDS)
    fact = rng.choice([f"{a} {first} {thing} and {b} {second} it.", f"{capital(thing)} was the work of two people: {a} {first} it, {b} {second} it.",
                       f"{b} {second} {thing} that {a} {'had ' if first not in ('wrote', 'sang') else ''}{first}."])
    x, y, verb = rng.choice([(a, b, first), (b, a, second)])
    form = rng.choice(["{x} {v} {t}.", "It was {x} who {v} {t}.", "The one who {v} {t} was {x}."])
    fill = lambda who: form.format(x=who, v=verb, t=thing)
    return fact, fill(x), fill(y)


def roles(rng):
    a, b = rng.sample(_PEOPLE, 2)
    active, passive = rng.choice(_PAIRS)
    year = rng.randint(1990, 2024)
    fact = rng.choice([f"In {year} {a} {active} {b}.", f"{b} {passive} {a} in {year}."]) if active != "employs" else f"{a} {active} {b}."
    right = rng.choice([f"{a} {active} {b}.", f"{b} {passive} {a}."])
    wrong = rng.choice([f"{b} {active} {a}.", f"{a} {passive} {b}."])
    return fact, right, wrong


def decided(rng):
    who = rng.choice(["The council", "The owner", "The board", "The harbour office", "The school", "The parish"])
    spot, month = rng.choice(_SPOTS), rng.choice(_MONTHS)
    fact = rng.choice([f"{who} decided to close {spot} until {month}.", f"{capital(spot)} will be closed until {month}, as {who.lower()} decided."])
    right = rng.choice([f"{capital(spot)} will be closed.", f"{who} decided that {spot} would close.", f"{capital(spot)} stays shut until {month}.", f"Until {month} you cannot use {spot}."])
    wrong = rng.choice([f"{capital(spot)} will stay open.", f"{who} decided to keep {spot} open.", f"{capital(other(rng, _SPOTS, spot))} will be closed.",
                        f"{capital(spot)} stays shut until {other(rng, _MONTHS, month)}.", f"{who} decided to open a second one next to {spot}."])
    return fact, right, wrong


def kept(rng):
    x, y = rng.sample(_SAVED, 2)
    act = rng.choice(_ACTS)
    fact = rng.choice([f"After {act} {x} are kept; {y} are deleted.", f"{capital(act)} deletes {y} but keeps {x}.", f"With {act} {y} are lost, while {x} stay as they are."])
    fact = fact.replace("level are", "level is").replace("level stay", "level stays").replace("setting are", "setting is").replace("list are", "list is")
    gone = ["{t} will be gone after {a}.", "{a} erases {t}.", "You have to enter {t} again after {a}.", "{t} will not survive {a}."]
    safe = ["{t} will be kept after {a}.", "{a} does not touch {t}.", "{t} survive {a}.", "You do not lose {t} through {a}."]
    fill = lambda forms, t: capital(rng.choice(forms).format(t=t, a=act))
    if rng.random() < 0.5:
        return fact, fill(safe, x), fill(safe, y)
    return fact, fill(gone[:2] + gone[3:], y), fill(gone, x)


def plans(rng):
    low, mid, high = rng.choice(_PLANS)
    feature = rng.choice(_FEATURES)
    got = ["Yes, you get {f} on the {p} plan.", "The {p} plan has {f}.", "With {p}, {f} is included.", "{F} comes with {p} too."]
    lacks = ["The {p} plan does not have {f}.", "You do not get {f} on the {p} plan.", "{F} is missing from {p}."]
    fill = lambda forms, p: rng.choice(forms).format(p=p, f=feature, F=capital(feature))
    if rng.random() < 0.5:
        fact = rng.choice([f"{capital(feature)} is part of the {mid} and {high} plans.", f"Only {mid} and {high} have {feature}."])
        right = rng.choice([fill(got, mid), fill(got, high)])
        wrong = rng.choice([fill(lacks, mid), f"No, {feature} is only on the {high} plan.", f"You need {high} to get {feature}.", fill(got, low)])
    else:
        fact = rng.choice([f"{capital(feature)} is part of the {high} plan only.", f"Only the {high} plan has {feature}."])
        right = rng.choice([fill(lacks, mid), fill(lacks, low), fill(got, high), f"No, {feature} is only on the {high} plan."])
        wrong = rng.choice([fill(got, mid), fill(got, low), fill(lacks, high)])
    return fact, right, wrong


def effect(rng):
    cause, measure = rng.choice(_TREATED)
    years = number(rng, rng.randint(2, 9))
    said = rng.choice(["lowered", "raised", "improved", "changed"])
    base = {"lowered": "lower", "raised": "raise", "improved": "improve", "changed": "change"}[said]
    if rng.random() < 0.5:
        fact = rng.choice([f"After {years} years {cause} had not {said} {measure}.", f"In the trial {cause} did not {base} {measure}."])
        right = rng.choice([f"{capital(cause)} did not {base} {measure}.", f"It was not shown that {cause} {said} {measure}."])
        wrong = rng.choice([f"{capital(cause)} {said} {measure}.", f"In the trial {cause} {said} {measure}.", f"The study found that {cause} {said} {measure}."])
    else:
        fact = rng.choice([f"After {years} years {cause} had {said} {measure}.", f"In the trial {cause} {said} {measure}."])
        right = rng.choice([f"{capital(cause)} {said} {measure}.", f"The study found that {cause} {said} {measure}."])
        wrong = rng.choice([f"{capital(cause)} did not {base} {measure}.", f"In the trial {cause} had no effect on {measure}."])
    return fact, right, wrong


def limit(rng):
    unit = rng.choice(["people", "bags", "guests", "files", "books", "devices"])
    values = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40]
    i = rng.randrange(1, len(values) - 1)
    n, more = values[i], rng.choice(values[i + 1:])
    what = rng.choice(["per boat", "per account", "per visit", "per booking", "at once", "per room"])
    fact = rng.choice([f"Up to {number(rng, n)} {unit} are allowed {what}.", f"No more than {number(rng, n)} {unit} {what}.", f"The limit is {number(rng, n)} {unit} {what}."])
    right = rng.choice([f"You can have at most {number(rng, n)} {unit} {what}.", f"{capital(number(rng, more))} {unit} {what} are too many.", f"More than {number(rng, n)} {unit} {what} are not allowed.",
                        f"You can have {number(rng, rng.choice(values[:i]))} {unit} {what}."])
    wrong = rng.choice([f"You can have at most {number(rng, more)} {unit} {what}.", f"You need at least {number(rng, n)} {unit} {what}.", f"{capital(number(rng, more))} {unit} {what} are fine.",
                        f"There is no limit on the {unit} {what}."])
    return fact, right, wrong


def only(rng):
    a, b = rng.sample(["staff", "adults", "owners", "guests of the hotel", "licensed divers", "season-ticket holders", "parents", "editors"], 2)
    act = rng.choice(["use the sauna", "enter the yard", "change the password", "book the boat", "open the cabinet", "park behind the house", "delete a project", "take the lift"])
    fact = rng.choice([f"Only {a} may {act}.", f"{capital(a)} may {act}; {b} may not.", f"{capital(b)} are not allowed to {act}, {a} are."])
    may = ["{G} may {t}.", "{G} are allowed to {t}.", "It is fine for {g} to {t}."]
    must_not = ["{G} may not {t}.", "{G} are not allowed to {t}.", "It is forbidden for {g} to {t}."]
    fill = lambda forms, g: rng.choice(forms).format(g=g, G=capital(g), t=act)
    if rng.random() < 0.5:
        return fact, fill(may, a), fill(may, b)
    return fact, fill(must_not, b), fill(must_not, a)


def spell(rng):
    what = rng.choice(["The crossing", "The tour", "The exam", "The treatment", "The film", "The delivery", "The transfer"])
    minutes = [(30, "half an hour"), (60, "an hour"), (90, "an hour and a half"), (120, "two hours"), (45, "three quarters of an hour"), (15, "a quarter of an hour")]
    long = [(7, "a week"), (14, "two weeks"), (21, "three weeks"), (28, "four weeks")]
    unit, values = rng.choice([("minutes", minutes), ("days", long)])
    (n, words), (k, wrong) = rng.sample(values, 2)
    form = rng.choice(["{w} takes {t}.", "{w} lasts {t}.", "You should expect {t} for {l}."])
    fill = lambda t: form.format(w=what, l=what.lower(), t=t)
    if rng.random() < 0.5:
        return f"{what} takes {n} {unit}.", fill(words), fill(wrong)
    return f"{what} takes {words}.", fill(f"{n} {unit}"), fill(f"{k} {unit}")


def count(rng):
    place = rng.choice(["The town", "The island", "The valley", "The firm", "The school", "The club"])
    scale = rng.choice(["thousand", "million", "hundred"]) if place in ("The town", "The island", "The valley") else "hundred"
    who = {"The firm": "employees", "The school": "pupils", "The club": "members"}.get(place, "inhabitants")
    values = range(2, 20)
    n = rng.choice(values)
    form = rng.choice(["{p} has about {n} {s} {w}.", "About {n} {s} {w} belong to {l}.", "The number of {w} of {l} is about {n} {s}."])
    fill = lambda k: form.format(p=place, l=place.lower(), n=number(rng, k), s=scale, w=who)
    return f"{place} has about {number(rng, n)} {scale} {who}.", fill(n), fill(other(rng, values, n))


MAKERS = [price, price, days, free, hours, deed, roles, decided, kept, plans, effect, limit, only, spell, count]


def pairs(total, seed=7):
    """`total` pairs, half of them entailed."""
    rng, out = random.Random(f"plain-{seed}"), []
    while len(out) < total:
        facts = [maker(rng) for maker in rng.sample(MAKERS, rng.randint(1, 4))]
        told = facts[0]
        premise = [f[0] for f in facts]
        rng.shuffle(premise)
        right = len(out) % 2 == 0
        text = told[1] if right else told[2]
        if len(facts) > 1 and rng.random() < 0.3:
            more = facts[1][1]
            text = f"{text} {more}" if rng.random() < 0.5 else f"{more} {text}"
        out.append(ep.Pair(" ".join(premise), text, ep.ENTAIL if right else ep.CONTRA, "plain", f"plain-{len(out)}", None))
    return out
