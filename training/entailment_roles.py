"""Pairs that only bind: who did what to whom, whose value is whose, what is more and what came first, in short texts of one to five facts.

A statement is true over one premise and false over the same premise told with its participants exchanged, so that neither words nor form
give the label away: only who stands where does. `entailment_rules.py` has two makers of this kind among fifteen, which drown in a mix of
everything; alone, a thousand of their pairs take the second network from .60 to .95 (AUROC on fresh ones). Here are many more verbs, relations
and forms, so that what is learned is not those.
"""

import random
import re

import entailment_pairs as ep

_WOMEN = """Halina Beatriz Sunniva Amara Yasmin Tessa Odile Renata Keiko Brigid Farah Vesna Maria Laura Sarah Dana Priya Ingrid Chloe Nadia Leila Ruth
Gwen Petra Zofia Elena Mai Anouk Carmen Judith Helen Olga Ines Freya Thandi Rosa Mona Clara Edith Wilma""".split()
_MEN = """Anton Declan Emeka Hiroshi Matteo Gregor Samir Luuk Piotr Tariq Owen Stellan Tom Daniel Victor Omar Felix Jonas Arjun Marek Hugo Ivan Pablo
Kwame Lars Theo Bruno Karim Milan Otto Rafael Simon Walter Yusuf Zeno Frank Gareth Henrik Colin Dev""".split()
_LAST = """Marsh Okafor Lindgren Petrova Quist Barros Hashimoto Doyle Farouk Svoboda Crane Nyberg Amadi Teller Becker Keller Whitfield Chen Lind Osei
Ramos Novak Iqbal Fenn Harlow Ito Jansen Kovacs Lambert Mbeki Noll Ortiz Pell Reiner Salo Tolliver Urban Varga Weiss Yilmaz Zeller Abbot Brandt Costa
Dietz Ekman Fontaine Gallo Hurst""".split()
_TITLES = {"she": ("Ms", "Mrs", "Dr", "Judge", "Professor"), "he": ("Mr", "Mr", "Dr", "Judge", "Professor")}
_BODIES = """Norvex|Harrow & Pike|Nordlys Bank|Velo Motors|Castell Foods|Okta Labs|Brandt Shipping|Alder Films|Quill Software|Green Thumb|Alba Insurance|
the harbour authority|the city archive|the ministry|the children's hospital|the union|the landlord|the tenant|the council|the school|the museum|the airline|
the supplier|the bakery|the clinic|the choir|the opera|the railway|the publisher|the bank|the insurer|the committee|the northern depot|the Lisbon office""".replace("\n", "").split("|")

# Past and participle, what may stand behind: a did it to b, and b did not do it to a.
_VERBS = """accused/accused/of carelessness admired/admired/for years appointed/appointed/as an adviser arrested/arrested/at the border attacked/attacked/in the press
backed/backed/in the vote bit/bitten/in the hand blamed/blamed/for the delay blocked/blocked/on the forum called/called/on Monday caught/caught/near the gate
challenged/challenged/to a rematch chose/chosen/as a partner coached/coached/last season comforted/comforted/afterwards complimented/complimented/on the speech
congratulated/congratulated/by letter consulted/consulted/before the move contacted/contacted/by e-mail criticised/criticised/sharply defeated/defeated/in the final
defended/defended/in court deceived/deceived/about the price dismissed/dismissed/in spring drove/driven/to the station elected/elected/as speaker employed/employed/for a year
examined/examined/twice fined/fined/for parking fired/fired/without notice followed/followed/into the hall forgave/forgiven/in the end found/found/in the cellar
funded/funded/for three years guarded/guarded/all evening helped/helped/with the form hired/hired/in May hit/hit/from behind hosted/hosted/over Easter ignored/ignored/at the party
informed/informed/by phone inspected/inspected/in June interrupted/interrupted/three times interviewed/interviewed/for the paper introduced/introduced/to the board
invited/invited/to the wedding joined/joined/in Porto kissed/kissed/on the cheek led/led/through the cave left/left/after a quarrel married/married/in secret
met/met/at the airport mentored/mentored/for two years misled/misled/about the date nominated/nominated/for the prize nursed/nursed/through the winter
outbid/outbid/at the auction outvoted/outvoted/again overtook/overtaken/on the last lap paid/paid/in advance passed/passed/on the stairs photographed/photographed/at work
praised/praised/in public promoted/promoted/to foreman protected/protected/from the crowd pushed/pushed/into the pool questioned/questioned/for hours
recommended/recommended/for the post recruited/recruited/at a fair refused/refused/at first refunded/refunded/in full rejected/rejected/without a reason
reminded/reminded/of the deadline replaced/replaced/in 2019 reported/reported/to the office represented/represented/at the meeting rescued/rescued/from the ice
reviewed/reviewed/in March scratched/scratched/on the arm served/served/first shadowed/shadowed/for a week sponsored/sponsored/for the race succeeded/succeeded/as treasurer
sued/sued/over the fence supervised/supervised/during the trial supported/supported/in the campaign suspended/suspended/for a month taught/taught/in Oslo
tested/tested/on Friday thanked/thanked/for the flowers tipped/tipped/generously touched/touched/on the shoulder trained/trained/in Leeds treated/treated/at home
trusted/trusted/from the start visited/visited/in hospital warned/warned/about the dog watched/watched/through binoculars woke/woken/at six""".replace("\n", " ")
_VERBS = [v for v in re.findall(r"([a-z]+)/([a-z]+)/([^/]+?)(?= [a-z]+/[a-z]+/|$)", _VERBS)]

# (told of a and b, said of a and b): each also with a and b exchanged.
_CONVERSE = [
    (["{a} lent {b} a van.", "{b} had a van of {a}'s for a week."], ["{b} borrowed a van from {a}.", "{a} is the one who lent the van.", "The van that {b} used was {a}'s."]),
    (["{a} sold the orchard to {b}.", "The orchard went from {a} to {b}."], ["{b} bought the orchard from {a}.", "{a} was the seller.", "Since then the orchard has been {b}'s."]),
    (["{a} reports to {b}.", "{b} is the manager of {a}."], ["{b} is {a}'s boss.", "{a} works under {b}.", "{b} manages {a}."]),
    (["{a} rents the shop from {b}.", "{b} lets the shop to {a}."], ["{b} is the landlord.", "{a} is {b}'s tenant.", "{a} pays the rent to {b}."]),
    (["{a} took over from {b}.", "{a} came in for {b}.", "{a} is {b}'s successor."], ["{a} replaced {b}.", "{b} was replaced by {a}.", "{b} was there before {a}.", "{a} succeeded {b}."]),
    (["{b} handed over to {a}.", "{b} had the post until {a} came.", "{b} stepped down, and {a} followed."], ["{a} replaced {b}.", "{a} came after {b}.", "{b} is {a}'s predecessor."]),
    (["{a} gave {b} lessons.", "{b} learned it from {a}."], ["{a} was {b}'s teacher.", "{b} was taught by {a}.", "{b} was the pupil of {a}."]),
    (["{a} won against {b}.", "{b} lost to {a}."], ["{a} beat {b}.", "{b} was beaten by {a}.", "{a} was the winner of the two."]),
    (["{a} owes {b} money.", "{b} is waiting for money from {a}."], ["{a} is in debt to {b}.", "{a} has to pay {b}.", "{b} is owed money by {a}."]),
    (["{a} inherited the farm from {b}.", "{b} left the farm to {a}."], ["{b} owned the farm before {a}.", "{a} is {b}'s heir."]),
    (["{a} supplies {b} with flour.", "{b} gets flour from {a}."], ["{b} is a customer of {a}.", "{a} is the supplier of {b}.", "{b} buys from {a}."]),
    (["{a} is the mother of {b}.", "{b} is {a}'s child."], ["{b} was born to {a}.", "{a} is {b}'s parent."]),
    (["{a} cited {b}.", "{b} was cited by {a}."], ["{a} refers to {b}.", "{b} is mentioned by {a}."]),
    (["{a} asked {b} for help.", "{b} was asked for help by {a}."], ["{a} needed help from {b}.", "It was {b} who was to help {a}."]),
    (["{a} apologised to {b}.", "{b} received an apology from {a}."], ["{a} said sorry to {b}.", "{b} was the one to whom {a} apologised."]),
    (["{a} wrote to {b}.", "{b} had a letter from {a}."], ["{b} received {a}'s letter.", "The letter came from {a}.", "{a} sent {b} a letter."]),
    (["{a} sold {b} the boat.", "{b} got the boat from {a} for cash."], ["{b} paid {a} for the boat.", "{a} no longer has the boat; {b} does."]),
    (["{a} borrowed a drill from {b}.", "{b} let {a} have a drill."], ["{b} lent {a} a drill.", "The drill is {b}'s.", "{a} has to give the drill back to {b}."]),
    (["{a} is employed by {b}.", "{b} pays {a}'s wages."], ["{a} works for {b}.", "{b} is {a}'s employer."]),
    (["{a} invested in {b}.", "{b} received an investment from {a}."], ["{a} put money into {b}.", "{b} has {a} as an investor."]),
    (["{a} acquired {b}.", "{b} was bought by {a}."], ["{a} is the owner of {b}.", "{b} belongs to {a}.", "{b} was taken over by {a}."]),
    (["{a} withdrew in favour of {b}.", "{b} got the place that {a} gave up."], ["{a} stepped aside for {b}.", "{b} took {a}'s place."]),
    (["{a} stood in for {b}.", "{b} was ill, and {a} took the shift."], ["{a} covered for {b}.", "{b} was represented by {a}.", "{a} did {b}'s work that day."]),
    (["{a} sent {b} an invoice.", "{b} was billed by {a}."], ["{b} has to pay {a}.", "{a} issued the invoice.", "{b} received an invoice from {a}."]),
    (["{a} moved out, and {b} moved in.", "{b} is the new tenant, {a} the old one."], ["{b} lives there now, no longer {a}.", "{a} lived there before {b}."]),
    (["{a} outranks {b}.", "{b} has a lower rank than {a}."], ["{a} is {b}'s superior.", "{b} is below {a}."]),
]
_GIVEN = """book letter key parcel ticket photograph sandwich ring map prize invoice contract camera bicycle recipe medal""".split()
_MORE = [("older", "younger"), ("taller", "shorter"), ("heavier", "lighter"), ("faster", "slower"), ("dearer", "cheaper"), ("louder", "quieter"), ("larger", "smaller"),
         ("stronger", "weaker"), ("richer", "poorer"), ("longer", "shorter"), ("busier", "quieter"), ("warmer", "colder"), ("newer", "older"), ("closer", "further away")]
_THINGS = """the oak table|the pine desk|the Basic plan|the Pro plan|line 4|line 7|the blue line|the green line|Room 31|Room 44|the tram|the ferry|the old mill|the new depot|
the north wing|the south wing|the morning tour|the evening tour|model K2|model R5|the red tent|the grey tent|the Oslo branch|the Porto branch|the first draft|the second draft|
the paper ticket|the mobile ticket|the insulin|the tablets|the deposit|the rent|feature flags|cached sessions|the gas hob|the induction hob|Q15|Q16|invoice 71|invoice 72|
chickpeas|lentils|members|guests|weekdays|Sundays|the upper hut|the lower hut|the starter|the dessert|batch 12|batch 19""".replace("\n", "").split("|")
_VALUES = [  # how a value is told, how it is said, and values
    (["{t} costs {v}.", "{t}: {v}", "The price of {t} is {v}.", "For {t} we charge {v}."], ["{t} costs {v}.", "You pay {v} for {t}.", "{v} is the price of {t}."], ["12 euros", "nothing", "4.50", "£40", "$95", "20 euros", "nil", "€7", "180"]),
    (["{t} opens at {v}.", "{t}: from {v}", "From {v} on {t} is open."], ["{t} is open from {v}.", "{v} is when {t} opens.", "{t} opens at {v}."], ["seven", "eight", "half past nine", "ten", "noon", "14:00", "six in the evening"]),
    (["{t} takes {v}.", "{t}: {v}", "Allow {v} for {t}."], ["{t} needs {v}.", "It takes {v} for {t}.", "{v} is enough for {t}."], ["ten minutes", "an hour", "45 min", "two days", "a week", "three weeks", "90 seconds"]),
    (["{t} is {v}.", "{t} ({v})", "{v}: {t}"], ["{t} is {v}.", "What is {v} is {t}."], ["full", "closed", "free of charge", "broken", "new", "reserved", "kept", "reset", "under repair", "optional", "a must", "not allowed"]),
    (["{t} goes to {v}.", "{t} → {v}", "For {t} the destination is {v}."], ["{t} ends in {v}.", "{v} is where {t} goes.", "{t} is bound for {v}."], ["Bremen", "Rotterdam", "Oslo", "Porto", "the depot", "gate 7", "Leeds", "the archive"]),
    (["{p} looks after {t}.", "{t} – {p}", "{t} is {p}'s job."], ["{p} is responsible for {t}.", "{t} is done by {p}.", "{p} takes care of {t}."], None),
]
_ASIDES = ["The meeting lasted two hours.", "It rained all day.", "Nobody else was there.", "The rest is to be settled in June.", "The minutes were sent round on Friday.", "There were no further questions.",
           "This was in 2019.", "The weather was fine.", "Details follow by e-mail.", "The hall was full.", "All this is in the log.", "The file has been closed since."]


def capital(text):
    return text[:1].upper() + text[1:]


class One:
    """A participant: its name, and the pronouns that can stand for it."""

    def __init__(self, name, she="", her=""):
        self.name, self.she, self.her = name, she, her


def person(rng):
    she = rng.choice(("she", "he"))
    first, last = rng.choice(_WOMEN if she == "she" else _MEN), rng.choice(_LAST)
    name = rng.choice([f"{first} {last}", f"{first} {last}", first, f"{rng.choice(_TITLES[she])} {last}"])
    return One(name, she, "her" if she == "she" else "him")


def different(rng, make, count):
    found = []
    while len(found) < count:
        one = make(rng)
        if not {w for f in found for w in f.name.split()} & set(one.name.split()) - {"the", "The", "&"}:
            found.append(one)
    return found


def anybody(rng, count=2):
    if rng.random() < 0.7:
        return different(rng, person, count)
    return different(rng, lambda r: One(r.choice(_BODIES)), count)


def around(rng, facts, most=3):
    """The facts in an order, among asides."""
    texts = list(facts) + rng.sample(_ASIDES, rng.randint(0, most))
    rng.shuffle(texts)
    return " ".join(texts)


def with_pronoun(rng, form, a, b):
    """The form, perhaps with a pronoun for one of the two where the other one is of another gender."""
    x, y = a.name, b.name
    if a.she and b.she and a.she != b.she and rng.random() < 0.5:
        which = rng.choice((a, b))
        place = "{a}" if which is a else "{b}"
        at = form.find(place)
        is_subject = at == 0
        follows = form[at + 3:at + 5]
        if form.count(place) == 1 and follows != "'s" and (is_subject or follows[:1] in ".," or form[:at].endswith(("by ", "from ", "to ", "for "))):
            said = which.she if is_subject else which.her
            x, y = (said, y) if which is a else (x, said)
    return capital(form.format(a=x, b=y))


def deed(rng):
    """Somebody did something to somebody, in one of many forms; a third person may have done something else."""
    a, b, c = anybody(rng, 3)
    (did, done, tail), (did2, done2, tail2) = rng.sample(_VERBS, 2)
    told = ["{a} {did} {b} {tail}.", "{a} {did} {b} {tail}.", "{b} was {done} by {a} {tail}.", "It was {a} who {did} {b} {tail}.", "{b}, whom {a} had {done} {tail}, told us so.",
            "{a}, who {did} {b} {tail}, told us so.", "{b} says that {a} {did} them {tail}.", "{a} says to have {done} {b} {tail}.", "Having {done} {b} {tail}, {a} went home.",
            "{b} had been {done} {tail}, namely by {a}.", "The one who {did} {b} {tail} was {a}.", "{a} {did} {b} {tail} and wrote it down.", "{b} went home after {a} had {done} them {tail}."]
    said = ["{a} {did} {b}.", "{b} was {done} by {a}.", "It was {a} who {did} {b}.", "{a} {did} {b} {tail}.", "{b} was {done} by {a} {tail}.", "{b} is the one whom {a} {did}.",
            "The one who was {done} was {b}, by {a}.", "{a} was the one who {did} {b}."]
    words = {"did": did, "done": done, "tail": tail}
    fact = _put(rng.choice(told), words)
    premise = [capital(fact.format(a=a.name, b=b.name))]
    if rng.random() < 0.5:
        x, y = rng.choice([(b, c), (c, a), (c, b), (a, c)])
        premise.append(capital(f"{x.name} {did2} {y.name} {tail2}."))
    form = _put(rng.choice(said), words)
    return around(rng, premise, 2), with_pronoun(rng, form, a, b), with_pronoun(rng, form, b, a)


def _put(form, words):
    for key, value in words.items():
        form = form.replace("{" + key + "}", value)
    return form


def converse(rng):
    """What one relation says of the two is said by its converse."""
    a, b = anybody(rng)
    told, said = rng.choice(_CONVERSE)
    facts = [capital(rng.choice(told).format(a=a.name, b=b.name))]
    if a.she and rng.random() < 0.3:
        facts[0] = f"{a.name} is new here. " + with_pronoun(rng, rng.choice(told), a, b)
    form = rng.choice(said)
    return around(rng, facts, 2), with_pronoun(rng, form, a, b), with_pronoun(rng, form, b, a)


def gift(rng):
    """Who gave whom which of two things."""
    a, b, c = anybody(rng, 3)
    x, y = rng.sample(_GIVEN, 2)
    tell = lambda f, t, o: rng.choice([f"{f} gave {t} the {o}.", f"{f} gave the {o} to {t}.", f"{t} got the {o} from {f}.", f"The {o} was given to {t} by {f}.", f"The {o} went from {f} to {t}."])
    say = lambda f, t, o, r: [f"{t} received the {o} from {f}.", f"{f} gave {t} the {o}.", f"The {o} came from {f}, and {t} got it.", f"{t} has {f}'s {o} now."][r]
    premise = [tell(a.name, b.name, x), tell(*((b.name, c.name) if rng.random() < 0.5 else (c.name, a.name)), y)]
    r = rng.randint(0, 3)
    wrong = (b.name, a.name, x) if rng.random() < 0.7 else (a.name, b.name, y)
    return around(rng, map(capital, premise), 1), capital(say(a.name, b.name, x, r)), capital(say(*wrong, r))


def more(rng):
    """Which of two is more."""
    if rng.random() < 0.5:
        a, b = (p.name for p in anybody(rng))
    else:
        a, b = rng.sample(_THINGS, 2)
    up, down = rng.choice(_MORE)
    up, down = rng.choice([(up, down), (down, up)])
    tell = [f"{a} is {up} than {b}.", f"{b} is {down} than {a}.", f"Of {a} and {b}, {a} is the {up} one.", f"{b} is not as {up.split()[0]} as {a}; {a} is {up}.", f"Compared with {b}, {a} is {up}."]
    forms = ["{a} is {up} than {b}.", "{b} is {down} than {a}.", "The {up} one is {a}.", "Of the two, {b} is {down}."]
    form = rng.choice(forms)
    return around(rng, [capital(rng.choice(tell))], 2), capital(form.format(a=a, b=b, up=up, down=down)), capital(form.format(a=b, b=a, up=up, down=down))


def order(rng):
    """Which of two or three came first."""
    names = [p.name for p in anybody(rng, 3)] if rng.random() < 0.6 else rng.sample(_THINGS, 3)
    a, b, c = names
    did = rng.choice(["arrived", "was ready", "was checked", "was called", "left", "finished"])
    tell = rng.choice([f"First {a} {did}, then {b}, and last {c}.", f"{b} {did} after {a} and before {c}.", f"{a} {did} on Monday, {b} on Wednesday and {c} on Friday.", f"1. {a} 2. {b} 3. {c} (in the order in which each {did})",
                       f"When {b} {did}, {a} already had; {c} was the last."])
    x, y = rng.choice([(a, b), (b, c), (a, c)])
    form = rng.choice(["{x} {did} before {y}.", "{y} {did} after {x}.", "{x} {did} earlier than {y}.", "{y} {did} later than {x}."])
    return around(rng, [capital(tell)], 1), capital(form.format(x=x, y=y, did=did)), capital(form.format(x=y, y=x, did=did))


def values(rng):
    """Which of two or three things has which value, in sentences, a list or a table."""
    told, said, known = rng.choice(_VALUES)
    count = rng.choice((2, 2, 3, 4))
    things = rng.sample(_THINGS, count)
    found = [p.name for p in different(rng, person, count)] if known is None else rng.sample(known, min(count, len(known)))
    fill = lambda form, t, v: capital(form.format(t=t, v=v, p=v))
    roll = rng.random()
    rows = list(zip(things, found))
    if roll < 0.4:
        premise = " ".join(fill(rng.choice(told[:1] + told[2:]), t, v).rstrip(".") + "." for t, v in rows)
    elif roll < 0.6:
        premise = "\n".join(f"- {fill(told[1], t, v)}" for t, v in rows)
    elif roll < 0.8:
        premise = "| what | |\n|---|---|\n" + "\n".join(f"| {t} | {v} |" for t, v in rows)
    else:
        premise = capital("; ".join(fill(told[0], t, v).rstrip(".") for t, v in rows)) + "."
    at, to = rng.sample(range(count), 2)
    form = rng.choice(said)
    if rng.random() < 0.4:  # both at once
        join = lambda v, w: f"{fill(form, things[at], v).rstrip('.')}, and {form.format(t=things[to], v=w, p=w)}"
        return premise, join(found[at], found[to]), join(found[to], found[at])
    return premise, fill(form, things[at], found[at]), fill(form, things[at], found[to])


def instead(rng):
    """It was the one and not the other."""
    a, b, c = anybody(rng, 3)
    did, done, tail = rng.choice(_VERBS)
    tell = rng.choice([f"It was {a.name}, not {b.name}, who {did} {c.name} {tail}.", f"Not {b.name} but {a.name} {did} {c.name} {tail}.", f"{c.name} was {done} {tail} by {a.name} and not, as was said, by {b.name}.",
                       f"We wrote that {b.name} {did} {c.name} {tail}. In fact it was {a.name}.", f"{b.name} was said to have {done} {c.name} {tail}, but {a.name} had."])
    form = rng.choice([f"{{x}} {did} {c.name}.", f"{c.name} was {done} by {{x}}.", f"It was {{x}} who {did} {c.name}."])
    return around(rng, [capital(tell)], 2), capital(form.format(x=a.name)), capital(form.format(x=b.name))


MAKERS = (deed, deed, deed, converse, converse, converse, gift, more, order, values, values, values, instead)


def make(count, seed=7):
    """About `count` pairs, half of them true, without repeats."""
    rng, out, seen = random.Random(f"roles-{seed}"), [], set()
    while len(out) < count:
        premise, right, wrong = rng.choice(MAKERS)(rng)
        if right == wrong or (premise, right) in seen:
            continue
        seen.add((premise, right))
        group = f"roles-{len(seen)}"
        out += [ep.Pair(premise, right, ep.ENTAIL, "roles", group), ep.Pair(premise, wrong, ep.CONTRA, "roles", group)]
    return out


if __name__ == "__main__":
    for pair in make(40, 1):
        print(pair.label, "|", pair.premise, "|", pair.hypothesis)
