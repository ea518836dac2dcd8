"""Pairs made by rule where one small difference decides: spans of time, who did what to whom, tiers, what is kept, days, fees, reasons,
results, comparisons, order, sums, and whether something is said at all.

Most makers draw a small table of facts first, tell it in one of several ways, and judge each statement by the table: the same statement is
true over one premise and false over another one, so that neither its words nor its form give the label away.
"""

import random

import entailment_pairs as ep
import entailment_plain as plain
from entailment_plain import capital, number, other

_WOMEN = ["Halina", "Beatriz", "Sunniva", "Amara", "Yasmin", "Tessa", "Odile", "Renata", "Keiko", "Brigid", "Farah", "Vesna"]
_MEN = ["Anton", "Declan", "Emeka", "Hiroshi", "Matteo", "Gregor", "Samir", "Luuk", "Piotr", "Tariq", "Owen", "Stellan"]
_LAST = ["Marsh", "Okafor", "Lindgren", "Petrova", "Quist", "Barros", "Hashimoto", "Doyle", "Farouk", "Svoboda", "Crane", "Nyberg", "Amadi", "Teller"]
_FIRMS = ["Harrow & Pike", "the Lisbon office", "Nordlys Bank", "the university press", "Velo Motors", "Castell Foods", "the harbour authority", "Okta Labs",
          "the city archive", "Brandt Shipping", "the ministry", "Alder Films", "Quill Software", "the children's hospital"]
_POSTS = ["head of sales", "conductor", "head coach", "managing editor", "school principal", "plant manager", "chief engineer", "museum director", "treasurer",
          "head chef", "harbour master", "chair of the board", "team leader", "stage manager"]


def person(rng):
    """(name, subject pronoun, object pronoun)."""
    if rng.random() < 0.5:
        return f"{rng.choice(_WOMEN)} {rng.choice(_LAST)}", "she", "her"
    return f"{rng.choice(_MEN)} {rng.choice(_LAST)}", "he", "him"


def two_people(rng):
    a, b = person(rng), person(rng)
    return (a, b) if a[0].split()[1] != b[0].split()[1] and a[0].split()[0] != b[0].split()[0] else two_people(rng)


def years_said(rng, n):
    forms = [f"{number(rng, n)} years", f"{number(rng, n)} years", f"{number(rng, n)} years"]
    if n in (9, 11):
        forms.append("about a decade")
    if n == 10:
        forms += ["a decade", "ten years"]
    if n in (19, 20, 21):
        forms.append("about two decades")
    return rng.choice(forms)


def tenure(rng):
    """Two stays of a person, told by their years; how long one of them was."""
    (name, she, _), (first, second) = person(rng), rng.sample(_FIRMS, 2)
    lengths = rng.sample([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21], 2)
    a = rng.randint(1950, 2024 - sum(lengths))
    b, c = a + lengths[0], a + sum(lengths)
    fact = rng.choice([
        f"{name} was at {first} from {a} to {b} and then at {second} until {c}.",
        f"{name} worked for {first} between {a} and {b}. From {b} to {c} {she} was with {second}.",
        f"{name} joined {first} in {a} and left it in {b} for {second}, where {she} stayed until {c}.",
        f"{name}: {a}-{b} {first}; {b}-{c} {second}."])
    which = rng.randint(0, 1)
    place, right = (first, second)[which], lengths[which]
    wrong = rng.choice([lengths[1 - which], other(rng, [n for n in range(max(2, right - 6), right + 8) if abs(n - right) > 1], right)])
    near = 2 if {wrong, right} & {9, 10, 11, 19, 20, 21} else 1  # "about a decade", and years that count both ends
    wrong = wrong if abs(wrong - right) > near else right + 5
    form = rng.choice(["{N} spent {y} at {p}.", "{S} was with {p} for {y}.", "{S} worked {y} for {p}.", "{N}'s time at {p} lasted {y}.", "{y} is how long {s} was at {p}."])
    fill = lambda n: capital(form.format(N=name, S=capital(she), s=she, p=place, y=years_said(rng, n)))
    if rng.random() < 0.3:
        start, end = ((a, b), (b, c))[which]
        form = rng.choice(["{N} came to {p} in {x}.", "{N} left {p} in {z}.", "{S} was at {p} until {z}.", "{S} began at {p} in {x}."])
        fill_at = lambda x, z: form.format(N=name, S=capital(she), p=place, x=x, z=z)
        return fact, fill_at(start, end), fill_at(*rng.choice([(end, start), (start - 3, end + 4), (start + 5, end - 7)])), f"When was {name} at {place}?"
    return fact, fill(right), fill(wrong), f"How long was {name} at {place}?"


# What is said in other words; the first of each row is what the passages say.
_SPANS = [
    (["5 to 7 working days", "5-7 business days", "between five and seven days"], ["about a week", "roughly a week", "around one week", "a week or so"]),
    (["10 to 14 days", "10-14 days", "between ten and fourteen days"], ["up to two weeks", "at most two weeks", "ten days to a fortnight"]),
    (["48 hours", "two days"], ["two days", "48 hours", "a couple of days"]),
    (["72 hours", "three days"], ["three days", "72 hours"]),
    (["24 hours", "one day"], ["a day", "one day", "24 hours"]),
    (["90 minutes"], ["an hour and a half", "one and a half hours"]),
    (["18 months"], ["a year and a half", "one and a half years"]),
    (["six months", "6 months"], ["half a year", "six months"]),
    (["12 months", "twelve months"], ["a year", "one year"]),
    (["36 months"], ["three years"]), (["24 months"], ["two years"]),
    (["28 to 31 days", "30 days"], ["about a month", "roughly four weeks"]),
    (["3 months", "90 days"], ["about three months", "a quarter of a year"]),
    (["11 to 13 weeks"], ["about three months"]),
    (["a fortnight", "14 days"], ["two weeks"]),
    (["20 to 25 minutes"], ["less than half an hour", "under thirty minutes"]),
    (["50 to 60 minutes"], ["about an hour", "just under an hour"]),
    (["eight weeks", "8 weeks"], ["about two months", "some two months"]),
]
_SAME = [{"two days", "48 hours", "a couple of days"}, {"about three months", "a quarter of a year"}]
_PROCESSES = ["a visa", "a lab result", "the repair of a watch", "a new passport", "a parcel to the islands", "the approval of a permit", "a replacement card",
              "the appraisal of a house", "a custom frame", "a translation", "the check of an account", "a cheque", "a library loan from abroad", "a spare part"]


def span(rng):
    """A duration in other words, and one of another length; two processes, so that the length of the other one is wrong."""
    (said, right), (said2, right2) = rng.sample(_SPANS, 2)
    what, what2 = rng.sample(_PROCESSES, 2)
    tell = lambda t, d: capital(rng.choice(["{t} takes {d}.", "For {t} allow {d}.", "{t} is ready within {d}.", "You wait {d} for {t}.", "{t}: {d}."]).format(t=t, d=d))
    facts = [tell(what, rng.choice(said)), tell(what2, rng.choice(said2))]
    rng.shuffle(facts)
    truth = rng.choice(right)
    wrong = rng.choice([w for s, words in _SPANS if words is not right for w in words
                        if not any(w in same and truth in same for same in _SAME) and w not in right and _LENGTH[w] != _LENGTH[truth]
                        and not (w.startswith(("up to", "at most")) and _LENGTH[truth] < 14)])
    form = rng.choice(["{T} takes {d}.", "You get {t} after {d}.", "It takes {d} until {t} is there.", "{d} is what {t} takes.", "Count on {d} for {t}."])
    fill = lambda d: capital(form.format(t=what, T=capital(what), d=d))
    return " ".join(facts), fill(truth), fill(wrong), f"How long does {what} take?"


# In days.
_LENGTH = {"about a week": 7, "roughly a week": 7, "around one week": 7, "a week or so": 7, "up to two weeks": 14, "at most two weeks": 14, "ten days to a fortnight": 14,
           "two days": 2, "48 hours": 2, "a couple of days": 2, "three days": 3, "72 hours": 3, "a day": 1, "one day": 1, "24 hours": 1, "an hour and a half": 0.06,
           "one and a half hours": 0.06, "a year and a half": 540, "one and a half years": 540, "half a year": 180, "six months": 180, "a year": 365, "one year": 365,
           "three years": 1095, "two years": 730, "about a month": 30, "roughly four weeks": 30, "about three months": 90, "a quarter of a year": 90, "two weeks": 14,
           "less than half an hour": 0.02, "under thirty minutes": 0.02, "about an hour": 0.04, "just under an hour": 0.04, "about two months": 60, "some two months": 60}


def succession(rng):
    """Who came after whom in a post, with names or a pronoun; the same statement holds where it was the other way round."""
    (new, she, her), (old, he, him) = two_people(rng)
    post, year = rng.choice(_POSTS), rng.randint(1995, 2024)
    fact = rng.choice([
        f"{new} is the new {post}. {capital(she)} takes over from {old}, who retired in {year}.",
        f"{new} succeeded {old} as {post} in {year}.",
        f"In {year} {old} stepped down as {post}, and {new} was chosen to follow {him}.",
        f"{old} had been {post} until {year}; since then {new} has had the post.",
        f"{old} handed over to {new} as {post} in {year}.",
        f"The {post} is {new}, who came in for {old} in {year}. Before that {she} had led a smaller team."])
    forms = ["{a} replaced {b}.", "{a} succeeded {b}.", "{b} was replaced by {a}.", "{b} was succeeded by {a}.", "{a} took over from {b}.", "{a} came after {b}.",
             "{b} was {a}'s predecessor.", "{b}'s post went to {a}.", "{b} was {post} before {a}.", "{a} followed {b} as {post}."]
    form = rng.choice(forms)
    names = lambda x, y: form.format(a=x, b=y, post=post)
    roll = rng.random()
    if roll < 0.45:  # one of the two is a pronoun
        form = rng.choice(["{a} replaced {o}.", "{a} succeeded {o}.", "{a} took over from {o}.", "{a} followed {o}."])
        back = {"{a} replaced {o}.": "{S} replaced {b}.", "{a} succeeded {o}.": "{S} succeeded {b}.", "{a} took over from {o}.": "{S} took over from {b}.",
                "{a} followed {o}.": "{S} followed {b}."}[form]
        passive = {"{a} replaced {o}.": "replaced", "{a} succeeded {o}.": "succeeded"}.get(form)
        right = rng.choice([form.format(a=new, o=him), back.format(S=capital(she), b=old)])
        wrong = rng.choice([form.format(a=old, o=her), back.format(S=capital(he), b=new)])
        if passive and rng.random() < 0.4:
            right, wrong = f"{old} was {passive} by {her}.", f"{new} was {passive} by {him}."
            right, wrong = rng.choice([(right, wrong), (f"{capital(he)} was {passive} by {new}.", f"{capital(she)} was {passive} by {old}.")])
        return fact, right, wrong, f"Who is {new}?" if rng.random() < 0.5 else ""
    return fact, names(new, old), names(old, new), rng.choice([f"Who is the {post}?", f"Who came first as {post}?"])


# (told of a and b, true of a and b); each also with a and b exchanged.
_CONVERSE = [
    (["{a} lent {b} a van.", "{a} let {b} have a van for a week."], ["{b} borrowed a van from {a}.", "The van belongs to {a}; {b} only had it on loan.", "{a} is the one who lent the van."]),
    (["{a} sold the orchard to {b}.", "The orchard went from {a} to {b} for a good price."], ["{b} bought the orchard from {a}.", "{b} is the new owner of the orchard.", "{a} was the seller."]),
    (["{a} reports to {b}.", "{b} is the manager of {a}."], ["{b} is {a}'s boss.", "{a} works under {b}.", "{b} manages {a}."]),
    (["{a} rents the shop from {b}.", "{b} lets the shop to {a}."], ["{b} is the landlord.", "{a} is {b}'s tenant.", "{a} pays the rent to {b}."]),
    (["{a} taught {b} to dive.", "{b} learned to dive from {a}."], ["{a} was {b}'s teacher.", "{b} had lessons from {a}.", "{b} was the pupil of {a}."]),
    (["{a} beat {b} in the final.", "{b} lost the final against {a}."], ["{a} won the final.", "{b} was beaten by {a}.", "The final was lost by {b}."]),
    (["{a} hired {b} as an adviser.", "{b} was taken on by {a} as an adviser."], ["{b} advises {a}.", "{a} engaged {b}.", "{b} works for {a}."]),
    (["{a} sued {b} over the fence.", "Over the fence {b} was taken to court by {a}."], ["{a} brought the case against {b}.", "{b} was the defendant.", "{b} was sued by {a}."]),
    (["{a} owes {b} money.", "{b} is waiting for money from {a}."], ["{a} is in debt to {b}.", "{b} has a claim on {a}.", "{a} has to pay {b}."]),
    (["{a} nominated {b} for the award.", "It was {a} who put {b} forward for the award."], ["{b} was nominated by {a}.", "{a} proposed {b} for the award."]),
    (["{a} is older than {b}.", "{b} is younger than {a}."], ["{b} was born after {a}.", "{a} is the elder of the two.", "{b} is the younger one."]),
    (["{a} arrived before {b}.", "{b} only came after {a}."], ["{b} was later than {a}.", "{a} was there first.", "When {b} arrived, {a} was already there."]),
    (["{a} saved {b} from the river.", "{b} was pulled out of the river by {a}."], ["{a} rescued {b}.", "{b} was in the river and {a} helped."]),
    (["{a} supplies {b} with flour.", "{b} gets the flour from {a}."], ["{b} is a customer of {a}.", "{a} is the supplier of {b}.", "{b} buys flour from {a}."]),
    (["{a} inherited the farm from {b}.", "{b} left the farm to {a}."], ["{b} owned the farm before {a}.", "{a} is {b}'s heir.", "The farm passed to {a}."]),
]


def converse(rng):
    (a, *_), (b, *_) = two_people(rng)
    told, said = rng.choice(_CONVERSE)
    fact, form = rng.choice(told).format(a=a, b=b), rng.choice(said)
    return fact, form.format(a=a, b=b), form.format(a=b, b=a), ""


_TIERS = [("Bronze", "Silver", "Gold"), ("Light", "Classic", "Max"), ("S", "M", "L"), ("Visitor", "Friend", "Patron"), ("Economy", "Comfort", "First"),
          ("Hobby", "Maker", "Factory"), ("Standard", "Select", "Signature"), ("Green", "Blue", "Black")]
_KINDS = ["plan", "tariff", "membership", "ticket", "package", "card", "cover"]
_EXTRAS = ["roadside help", "the sauna", "cancellation up to the last day", "priority boarding", "guest passes", "the night bus", "legal advice", "cloud backup",
           "the monthly magazine", "free delivery", "roaming", "a personal trainer", "late checkout", "the photo archive", "dental treatment", "a second driver"]


def listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def tiers(rng):
    """Which tier has which of two extras; what is asked about one is false about the other."""
    levels, kind, (f, g) = rng.choice(_TIERS), rng.choice(_KINDS), rng.sample(_EXTRAS, 2)
    has = {x: levels[rng.choice([1, 2] if x == f else [0, 1, 2]):] for x in (f, g)}

    def tell(x):
        own = has[x]
        forms = ["{X} is part of the {l} {k}s.", "{X}: {l}.", "The {l} {k}s come with {x}.", "{X} is included in {l}."]
        if len(own) == 1:
            forms = ["{X} is part of the {l} {k} only.", "Only {l} has {x}.", "{X} is reserved for {l}.", "{X}: {l}."]
        elif len(own) == 2 and rng.random() < 0.4:
            forms = [f"{{X}} comes from {own[0]} upwards.", f"All {{k}}s but {levels[0]} have {{x}}."]
        return rng.choice(forms).format(x=x, X=capital(x), l=listed(own), k=kind)

    both = [tell(f), tell(g)]
    rng.shuffle(both)
    needs_list = any("upwards" in t or "All " in t for t in both)
    facts = [f"There are three {kind}s: {listed(levels)}."] if needs_list or rng.random() < 0.5 else []
    yes = ["{F} is in {p}.", "You get {f} with {p}.", "With the {p} {k} you have {f}.", "{p} includes {f} too.", "Yes, {f} comes with {p}.", "{F} is available on {p}."]
    no = ["{F} is not in {p}.", "{p} comes without {f}.", "No, {p} does not include {f}.", "You do not get {f} with {p}."]
    only = ["No, {f} is only in {p}.", "Only {p} has {f}.", "You need {p} for {f}.", "{F} is for {p} alone.", "For {f} you would have to take {p}."]
    more = ["{F} is not limited to {p}.", "You do not need {p} to get {f}.", "{p} is not the only {k} with {f}."]
    statements = [(form, p, truth(p)) for forms, truth in ((yes, lambda p: p in has[f]), (no, lambda p: p not in has[f])) for form in forms for p in levels]
    top = levels[2]
    statements += [(form, top, has[f] == (top,)) for form in only * 2] + [(form, top, has[f] != (top,)) for form in more * 2]
    right, wrong = (rng.choice([s for s in statements if s[2] == wanted]) for wanted in (True, False))
    fill = lambda s: capital(s[0].format(f=f, F=capital(f), p=s[1], k=kind))
    return " ".join(facts + both), fill(right), fill(wrong), f"Do I need {top} for {f}?" if rng.random() < 0.5 else f"Which {kind} has {f}?"


_STATES = ["the ringtone", "the door code", "the seat position", "the list of stations", "the language", "the PIN", "the mileage counter", "the recipe book", "the timer",
           "the contact list", "the clock", "the wake-up time", "the fan speed", "the display name", "the notebook", "the volume", "the pairing with the phone", "the sleep schedule"]
_TRIGGERS = ["a restart", "the firmware update", "a power cut", "a change of owner", "taking out the battery", "a service visit", "pressing the red button", "the end of the trial",
             "switching to the new app", "a long journey by air"]


def state(rng):
    """What survives an event and what does not."""
    stays, goes = rng.sample(_STATES, 2)
    event = rng.choice(_TRIGGERS)
    keeps = ["{X} is kept.", "{X} stays as it is.", "{X} is not touched.", "{X} remains stored.", "Nothing happens to {x}."]
    resets = ["{X} goes back to its default.", "{X} is reset.", "{X} is set back to what it was on delivery.", "{X} is cleared.", "{X} has to be entered anew.", "{X} is lost."]
    told = [rng.choice(keeps).format(x=stays, X=capital(stays)), rng.choice(resets).format(x=goes, X=capital(goes))]
    rng.shuffle(told)
    head = rng.choice([f"What happens after {event}:", f"Please note about {event}.", f"{capital(event)} has the following effects.", f"After {event}:"])
    says_kept = ["{X} will be kept.", "After {e} {x} is still the same.", "{X} survives {e}.", "You will not lose {x}.", "{X} does not change.", "{X} stays."]
    says_gone = ["{X} will not be kept.", "After {e} {x} is no longer the one you had set.", "You lose {x} through {e}.", "You have to set {x} again.", "{X} does not survive {e}.",
                 "{X} is reset."]
    fill = lambda forms, x: capital(rng.choice(forms).format(x=x, X=capital(x), e=event))
    right, wrong = rng.choice([(fill(says_kept, stays), fill(says_kept, goes)), (fill(says_gone, goes), fill(says_gone, stays)),
                               (fill(says_kept, stays), fill(says_gone, stays)), (fill(says_gone, goes), fill(says_kept, goes))])
    asked = rng.choice([f"Will {goes} be kept?", f"What happens to {stays}?", f"What does {event} change?"])
    return f"{head} {' '.join(told)}", right, wrong, asked


_WEEK = plain._DAYS


def week(rng):
    """A place open on some days of the week."""
    place = rng.choice(["The ferry office", "The pottery", "The ice rink", "The law clinic", "The seed library", "The climbing hall", "The record shop", "The bathhouse", "The farm shop"])
    lower = place.replace("The", "the")
    start, length = rng.randint(0, 6), rng.choice([2, 3, 4, 5, 6, 6, 5])
    open_ = [(start + i) % 7 for i in range(length)]
    shut = [d for d in range(7) if d not in open_]
    name = lambda days: listed([f"{_WEEK[d]}s" for d in sorted(days)])
    tell = [f"{place} is open from {_WEEK[open_[0]]} to {_WEEK[open_[-1]]}." if length > 2 else f"{place} opens on {name(open_)} only.", f"{place} is open on {name(open_)}."]
    if len(shut) <= 3:
        tell += [f"{place} is closed on {name(shut)}.", f"{place} is open daily except on {name(shut)}.", f"On {name(shut)} {lower} has its rest day{'s' * (len(shut) > 1)}."]
    yes = ["{P} is open on {d}.", "You can go to {p} on a {d}.", "On {d}s {p} lets people in.", "{P} can be visited on {d}s.", "{P} is not closed on {d}s."]
    no = ["{P} is closed on {d}.", "On a {d} {p} is shut.", "You cannot go to {p} on {d}s.", "{P} does not open on {d}s.", "On {d}s {p} keeps its doors shut."]
    fill = lambda forms, d: rng.choice(forms).format(P=place, p=lower, d=_WEEK[d])
    right = rng.choice([fill(yes, rng.choice(open_)), fill(no, rng.choice(shut))])
    wrong = rng.choice([fill(yes, rng.choice(shut)), fill(no, rng.choice(open_))])
    return rng.choice(tell), right, wrong, f"Is {lower} open on {rng.choice(_WEEK)}?"


_PAYERS = ["dog owners", "firefighters", "donors", "foreign visitors", "carers", "trainees", "exhibitors", "night workers", "cyclists", "local schools", "pilgrims", "season guests"]
_FEES = ["the car park", "the lift", "the concert", "the harbour tour", "the changing rooms", "the registration", "the second visit", "the workshop", "the toll road"]


def fee(rng):
    """Who pays nothing, half or everything; also by age."""
    what = rng.choice(_FEES)
    if rng.random() < 0.35:
        limit = rng.choice([4, 5, 7, 8, 10, 12, 14, 16])
        fact = rng.choice([f"For {what} children below {number(rng, limit)} pay nothing; everybody else pays {rng.randint(2, 30)} euros.",
                           f"{capital(what)} is free for children up to the age of {number(rng, limit - 1)}. Older ones pay."])
        young, old = rng.randint(2, limit - 1), rng.randint(limit + 1, limit + 6)
        age = lambda n: rng.choice([f"a child of {number(rng, n)}", f"somebody aged {n}", f"a {n}-year-old"])
        says_free = ["For {g} {w} costs nothing.", "{G} does not have to pay for {w}.", "{G} gets {w} free."]
        says_paid = ["For {g} {w} costs something.", "{G} has to pay for {w}.", "{W} is not free for {g}."]
        fill = lambda forms, n: rng.choice(forms).format(g=age(n), G=capital(age(n)), w=what, W=capital(what))
        return fact, rng.choice([fill(says_free, young), fill(says_paid, old)]), rng.choice([fill(says_free, old), fill(says_paid, young)]), f"Do children pay for {what}?"
    none, half, full = rng.sample(_PAYERS, 3)
    tell = {none: ["{G} use {w} free of charge.", "For {g} {w} is free.", "{G} are exempt from the fee for {w}.", "The fee for {w} is waived for {g}."],
            half: ["{G} pay half for {w}.", "For {g} the fee for {w} is halved."], full: ["{G} pay the full fee for {w}.", "The whole fee for {w} is due from {g}."]}
    told = [rng.choice(forms).format(g=g, G=capital(g), w=what) for g, forms in tell.items()]
    rng.shuffle(told)
    nothing = ["{G} do not have to pay for {w}.", "{G} need not pay anything for {w}.", "{W} costs {g} nothing.", "There is no charge for {g}.", "{G} get {w} without paying."]
    something = ["{G} have to pay for {w}.", "{W} is not free for {g}.", "{G} are charged for {w}."]
    less = ["{G} pay less for {w} than others.", "{G} get a reduction for {w}."]
    fill = lambda forms, g: rng.choice(forms).format(g=g, G=capital(g), w=what, W=capital(what))
    right = rng.choice([fill(nothing, none), fill(something, rng.choice([half, full])), fill(less, half)])
    wrong = rng.choice([fill(nothing, rng.choice([half, full])), fill(something, none), fill(less, full)])
    return " ".join(told), right, wrong, f"Who pays for {what}?"


# (told, said): adjectives and the reason that they give
_REASONS = [("too costly", ["on account of the cost", "for reasons of cost", "because of the price", "since it cost too much"]),
            ("too dear", ["on account of its price", "because of what it would have cost"]),
            ("too loud", ["on account of the noise", "because of the noise", "owing to its noise"]),
            ("too slow", ["because of its lack of speed", "since it was not fast enough"]), ("too risky", ["because of the risk", "on account of the danger", "for safety's sake"]),
            ("too heavy", ["because of its weight", "on account of its weight"]), ("too complicated", ["for want of simplicity", "since it was not simple enough"]),
            ("late", ["because of the delay", "for not being on time"]), ("badly lit", ["for want of light", "because of the poor lighting"]),
            ("too small", ["because of its size", "for want of room"])]
_BODIES = ["the jury", "the parish", "the tenants", "the regulator", "the crew", "the faculty", "the union", "the family", "the investors", "the festival"]
_OBJECTS = ["the bid", "the design", "the offer", "the second draft", "the machine", "the venue", "the merger", "the new timetable", "the sculpture", "the recording"]
_AGAINST = [("turned down", "turned down"), ("refused", "refused"), ("rejected", "rejected"), ("decided against", "decided against")]
_FOR = [("accepted", "accepted"), ("chose", "chosen"), ("took", "taken"), ("welcomed", "welcomed"), ("agreed to", "agreed to")]


def reason(rng):
    """Why something was turned down, as a phrase; another reason, another body or the opposite is wrong."""
    (adjective, said), (_, instead) = rng.sample([r for r in _REASONS if "dear" not in r[0]], 2)
    (who, rival), (what, taken) = rng.sample(_BODIES, 2), rng.sample(_OBJECTS, 2)
    verb, participle = rng.choice(_AGAINST)
    fact = rng.choice([f"{capital(who)} {verb} {what} because it was {adjective}, and {rng.choice(_FOR[:3])[0]} {taken}.",
                       f"As {what} was {adjective}, {who} {rng.choice(['refused', 'rejected'])} it. {capital(taken)} was {rng.choice(_FOR)[1]} instead.",
                       f"{capital(what)} was {participle} by {who}: it was {adjective}."])
    verb2, participle2 = rng.choice(_AGAINST)
    forms = ["{W} {v} {t} {r}.", "{T} was {p} by {w} {r}.", "{R}, {w} {v} {t}."]
    form = rng.choice(forms)
    fill = lambda w, v, p, t, r: capital(form.format(w=w, W=capital(w), v=v, p=p, t=t, T=capital(t), r=r, R=capital(r)))
    right = fill(who, verb2, participle2, what, rng.choice(said))
    good, goods = rng.choice(_FOR)
    wrong = rng.choice([fill(who, verb2, participle2, what, rng.choice(instead)), fill(rival, verb2, participle2, what, rng.choice(said)),
                        fill(who, good, goods, what, rng.choice(said))])
    if rng.random() < 0.4:  # the outcome alone
        right, wrong = rng.choice([f"{capital(who)} {verb2} {what}.", f"{capital(what)} was not {rng.choice(_FOR)[1]} by {who}."]), rng.choice(
            [f"{capital(who)} {good} {what}.", f"{capital(what)} was {goods} by {who}.", f"{capital(rival)} {verb2} {what}."])
    return fact, right, wrong, f"Why did {who} {'turn down' if verb == 'turned down' else 'not want'} {what}?"


_TREATMENTS = [("the breathing course", "the number of attacks", "the feeling of tiredness"), ("the new helmet rule", "the number of head injuries", "the number of cyclists"), ("a salt substitute", "the risk of a stroke", "the number of cramps"),
               ("the bonus", "sick leave", "turnover"), ("music in the ward", "the need for painkillers", "the number of complaints"), ("the curfew", "the number of burglaries", "traffic"),
               ("zinc", "the length of colds", "nausea"), ("the reading scheme", "the average mark", "truancy"), ("street lights", "the number of accidents", "energy use"), ("the vaccine", "the number of hospital stays", "fever"),
               ("hedges along the field", "erosion", "the harvest"), ("the herbal extract", "joint pain", "the number of headaches")]
_RESULTS = {"down": ["{C} lowered {m}.", "{M} fell with {c}.", "With {c} {m} went down."],
            "none": ["{C} had not changed {m}.", "{C} made no difference to {m}.", "{M} was the same with {c} and without."],
            "not down": ["{C} had not lowered {m}.", "{C} did not lower {m}.", "{C} failed to reduce {m}.", "{M} did not fall with {c}."],
            "up": ["{C} raised {m}.", "{M} went up with {c}.", "{M} was higher in the group with {c}."]}
_SAID = {"down": ["{C} reduced {m}.", "{C} lowered {m}.", "Thanks to {c} there was a fall in {m}.", "{M} was lower with {c}."],
         "up": ["{C} increased {m}.", "With {c} {m} rose.", "{C} raised {m}."], "none": ["{C} had no effect on {m}.", "{M} stayed the same with {c}."],
         "not down": ["{C} did not lower {m}.", "{C} did not reduce {m}.", "{M} did not fall with {c}.", "There is no sign that {c} reduced {m}."]}
# What is said truly and wrongly where it turned out so.
_HOLDS = {"down": (["down"], ["up", "none", "not down"]), "up": (["up", "not down"], ["down", "none"]), "none": (["none", "not down"], ["down", "up"]),
          "not down": (["not down"], ["down"])}


def result(rng):
    """A study with two measures that went different ways."""
    cause, m, n = rng.choice(_TREATMENTS)
    a, b = rng.sample(["down", "none", "up", "not down"], 2)
    fill = lambda form, x: form.format(c=cause, C=capital(cause), m=x, M=capital(x))
    told = [fill(rng.choice(_RESULTS[a]), m), fill(rng.choice(_RESULTS[b]), n)]
    rng.shuffle(told)
    head = rng.choice([f"The study followed {rng.randint(2, 90) * 100} people for {number(rng, rng.randint(2, 9))} years.", "The trial compared two groups.",
                       f"After {number(rng, rng.randint(2, 9))} months the results were in."])
    x, outcome = rng.choice([(m, a), (n, b)])
    holds, fails = _HOLDS[outcome]
    right = fill(rng.choice(_SAID[rng.choice(holds)]), x)
    wrong = fill(rng.choice(_SAID[rng.choice(fails)]), x)
    lead = rng.choice(["", "", "In the study "])
    joined = lambda t: lead + (t[0].lower() + t[1:] if lead else t)
    return f"{head} {' '.join(told)}", joined(right), joined(wrong), f"What did {cause} do?"


_MEASURES = [("weighs {n} kg", "heavier", "lighter"), ("costs {n} euros", "dearer", "cheaper"), ("is {n} metres high", "taller", "lower"), ("was built in {y}", "newer", "older"),
             ("has {n} rooms", "bigger in rooms", "smaller in rooms"), ("takes {n} minutes", "slower", "faster"), ("holds {n} litres", "larger", "smaller"), ("uses {n} watts", "hungrier for power", "thriftier")]
_RIVALS = ["the Alba", "the Corvus", "the Delta model", "the Mirage", "the old mill", "the Terra", "the northern route", "the Falke", "the Pico", "the red hall"]


def comparison(rng):
    """Numbers of two or three things, or which is more; a comparison that follows."""
    told, more, less = rng.choice(_MEASURES)
    names = rng.sample(_RIVALS, rng.choice([2, 3]))
    values = rng.sample(range(4, 90), len(names))
    tell = lambda x, v: f"{capital(x)} {told.format(n=v, y=1900 + v)}."
    a, b = rng.sample(range(len(names)), 2)
    fact = " ".join(tell(x, v) for x, v in zip(names, values))
    bigger = values[a] > values[b]
    if len(names) == 2 and rng.random() < 0.4:
        fact = rng.choice([f"{capital(names[a])} is {more if bigger else less} than {names[b]}.", f"Of {names[a]} and {names[b]}, {names[b]} is the {less if bigger else more} one."])
    form = rng.choice(["{A} is {w} than {b}.", "{B} is {v} than {a}.", "{A} is the {w} of the two, {b} the {v}."]) if len(names) == 2 else rng.choice(["{A} is {w} than {b}.", "{B} is {v} than {a}."])
    fill = lambda w, v: form.format(a=names[a], A=capital(names[a]), b=names[b], B=capital(names[b]), w=w, v=v)
    right, wrong = fill(more, less), fill(less, more)
    return (fact, right, wrong, "") if bigger else (fact, wrong, right, "")


_STEPS = ["fill in the form", "pay the deposit", "sign the contract", "clean the filter", "close the valve", "inform the neighbours", "take a photo", "charge the battery", "ask the doctor",
          "empty the tank", "lock the door", "write down the number", "call the office", "warm up the engine"]


def order(rng):
    """What comes first."""
    a, b, c = rng.sample(_STEPS, 3)
    fact = rng.choice([f"First {a}, then {b}, and at the end {c}.", f"{capital(a)} before you {b}. {capital(c)} last.", f"Only {b} once you have done this: {a}. After that, {c}.",
                       f"1. {capital(a)}. 2. {capital(b)}. 3. {capital(c)}."])
    x, y = rng.choice([(a, b), (b, c), (a, c)])
    form = rng.choice(["You {x} before you {y}.", "You {y} after you {x}.", "It comes first to {x}, and later to {y}.", "Do not {y} before you {x}."])
    return fact, form.format(x=x, y=y), form.format(x=y, y=x), f"When do I {b}?"


def total(rng):
    """Sums, differences and shares that follow from two numbers."""
    kind, thing = rng.randint(0, 3), rng.choice(["the sofa", "the course", "the licence", "the boat", "the camera", "the season", "the piano", "the heating"])
    k, n = rng.choice([2, 3, 4, 5, 6, 10]), rng.choice([15, 20, 25, 30, 40, 45, 60, 80, 120])
    if kind == 0:
        fact = f"{capital(thing)} is paid in {number(rng, k)} instalments of {n} euros each."
        form, right, wrongs = rng.choice(["In all {t} comes to {v} euros.", "You pay {v} euros for {t} altogether."]), k * n, [n, k + n, k * n + n, (k - 1) * n]
    elif kind == 1:
        percent, price = rng.choice([10, 20, 25, 50]), rng.choice([40, 60, 80, 120, 200])
        fact = f"{capital(thing)} costs {price} euros; members get {percent} % off."
        right, wrongs = price * (100 - percent) // 100, [price, price * percent // 100, price * (100 + percent) // 100]
        form = rng.choice(["Members pay {v} euros for {t}.", "With a membership {t} costs {v} euros."])
    elif kind == 2:
        before = n + rng.choice([5, 10, 15, 30])
        fact = f"The price of {thing} went from {before} to {n} euros."
        form, right, wrongs = rng.choice(["{T} is {v} euros cheaper than before.", "The price of {t} fell by {v} euros."]), before - n, [n, before, before - n + 5]
    else:
        left = rng.choice([2, 3, 4, 5, 7])
        every = k * 6 + left
        fact = f"Of the {every} places for {thing}, {every - left} are taken."
        form, right, wrongs = rng.choice(["{v} places for {t} are still free.", "There is room for {v} more."]), left, [every, every - left, left + 3]
    fill = lambda v: capital(form.format(t=thing, T=capital(thing), v=number(rng, v)))
    return fact, fill(right), fill(other(rng, wrongs, right)), ""


# (topic, how a passage tells it)
_TOPICS = [("the price of {x}", ["{X} costs {n} euros.", "For {x} {n} euros are charged."]), ("who is in charge of {x}", ["{p} is in charge of {x}.", "{X} is looked after by {p}."]),
           ("when {x} opens", ["{X} opens at {h}.", "From {h} on {x} is open."]), ("where {x} is", ["{X} is next to the station.", "You find {x} on the second floor."]),
           ("how old {x} is", ["{X} dates from {y}.", "{X} has been there since {y}."]), ("the size of {x}", ["{X} measures {n} square metres.", "{X} has {n} square metres."])]
_PLACES = ["the sun deck", "the model railway", "the tea room", "the north wing", "the boathouse", "the rose garden", "the print shop", "the crypt"]


def silence(rng):
    """A statement that the passages do not say something, where they do and where they do not."""
    x, y = rng.sample(_PLACES, 2)
    (topic, told), (missing, _) = rng.sample(_TOPICS, 2)
    fill = lambda t, place: t.format(x=place, X=capital(place), n=rng.randint(12, 90), p=rng.choice(plain._PEOPLE), h=f"{rng.randint(7, 11)} o'clock", y=rng.randint(1720, 2015))
    third = rng.choice([t for t in _TOPICS if t[0] not in (topic, missing)])
    facts = [fill(rng.choice(told), x), fill(rng.choice(third[1]), y)]
    rng.shuffle(facts)
    forms = ["The documents do not say {t}.", "There is no information on {t}.", "The passages do not mention {t}.", "{T} is not stated.", "The context does not tell us {t}.", "I could not find {t} in the documents."]
    absent = rng.choice([fill(missing, x), fill(topic, y)])
    form = rng.choice(forms)
    say = lambda t: form.format(t=t, T=capital(t))
    return " ".join(facts), say(absent), say(fill(topic, x)), f"Can you tell me {rng.choice([absent, fill(topic, x)])}?"


# Not drawn from: `succession`, `converse`, `comparison` and `order`. A network of six layers told none of them from its mirror after 12,000 pairs
# of which half were of these, and said "perhaps" to plain sentences for it. They are for wider ones.
MAKERS = [tenure, span, tiers, state, fee, silence] * 2 + [week, reason, result, total]


def pairs(count, seed=7):
    """`count` pairs: over each premise one statement that is true and one that is false, with or without a question before them."""
    rng, out = random.Random(f"rules-{seed}"), []
    while len(out) < count:
        maker = rng.choice(MAKERS)
        fact, true, false, question = maker(rng)
        others = [rng.choice([m for m in MAKERS if m not in (maker, silence)])(rng) for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2, 3]))]
        others += [(*rng.choice(plain.MAKERS)(rng), "") for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        premise = [fact, *(o[0] for o in others)]
        rng.shuffle(premise)
        asked = f"{question} " if question and rng.random() < 0.4 else ""
        before = rng.random() < 0.5
        beside = others[0][1] if others and rng.random() < 0.25 else ""
        for text, right in ((true, True), (false, False)):
            text = " ".join(t for t in ((beside, text) if before else (text, beside)) if t)
            label = ep.ENTAIL if right else ep.UNSUPPORTED if maker in (reason, silence) else ep.CONTRA
            out.append(ep.Pair(" ".join(premise), asked + text, label, "rules", f"rules-{len(out) // 2}", None))
    return out[:count]
