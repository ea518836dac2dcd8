"""Self-made sentences for what the open data lacks: plain assistant answers, and threats, insults and hate with their
harmless look-alikes (neutral statements on the same groups, counter-speech, quotation, figures of speech).

`sentences(seed)` gives (text, labels, template) triples. `labels` names the labels that are 1; every other one is
0. Sentences of one template share its name, so that a split by template never has one template on both sides.
"""

import random

GROUPS = ["women", "men", "gay people", "lesbians", "trans people", "Muslims", "Jews", "Christians", "Hindus",
          "Buddhists", "atheists", "black people", "white people", "Asians", "Latinos", "Arabs", "Mexicans",
          "immigrants", "refugees", "disabled people", "blind people", "deaf people", "old people", "Chinese people",
          "Indians", "Africans", "Turks", "Poles", "Roma", "Catholics"]
PERSONS = ["woman", "man", "gay man", "lesbian", "trans woman", "Muslim", "Jew", "Christian", "Hindu", "Buddhist",
           "black man", "black woman", "white man", "Latina", "Arab", "immigrant", "refugee", "disabled person",
           "blind man", "deaf woman", "pensioner", "Chinese student", "Indian engineer", "African nurse"]
MILD = ["fool", "clown", "loser", "dimwit", "blockhead", "simpleton", "liar", "coward", "jerk", "dunce", "nitwit",
        "idiot", "moron", "imbecile", "dolt", "halfwit", "ignoramus", "buffoon", "crybaby", "hypocrite"]
ADJECTIVES = ["stupid", "dumb", "pathetic", "useless", "worthless", "clueless", "lazy", "ignorant", "incompetent",
              "ridiculous", "disgusting", "brainless", "hopeless", "ugly", "spineless", "witless"]
OBSCENE = ["fuck", "shit", "bitch", "asshole", "cunt", "dick", "bastard", "motherfucker", "dickhead", "piece of shit"]
VERMIN = ["vermin", "parasites", "animals", "filth", "subhuman scum", "a disease", "cockroaches", "garbage", "rats"]
HARM = ["kill", "shoot", "stab", "strangle", "burn", "murder", "beat up", "hang", "cut up", "drown"]
TOPICS = ["the invoice", "your order", "the kettle", "this function", "the database index", "the train to Leeds",
          "your account settings", "the return policy", "the tax form", "photosynthesis", "the French Revolution",
          "this regular expression", "the battery", "your subscription", "the router", "the recipe", "the contract",
          "the spreadsheet", "the warranty", "the delivery", "the exam", "your password", "the printer", "the dataset"]
DAYS = ["Monday", "Tuesday", "Thursday", "the 3rd of May", "the end of the month", "14 days", "the next release"]
PEOPLE = ["the minister", "my boss", "that referee", "the author", "our neighbour", "this reviewer", "the mayor",
          "the coach", "your brother", "the driver"]

SLOTS = {"group": GROUPS, "person": PERSONS, "mild": MILD, "adj": ADJECTIVES, "obscene": OBSCENE, "vermin": VERMIN,
         "harm": HARM, "topic": TOPICS, "day": DAYS, "people": PEOPLE}

PLAIN = [
    "Thank you for asking about {topic}.", "I'm sorry, I don't have information about {topic}.",
    "You can change {topic} under Settings.", "Here is a short summary of {topic}.",
    "It looks like {topic} was updated on {day}.", "Please let me know if you need more help with {topic}.",
    "According to the document, {topic} is due by {day}.", "No, {topic} is not covered in this case.",
    "Yes, {topic} can be replaced free of charge.", "The problem with {topic} is usually a loose cable.",
    "To fix {topic}, restart the device and try again.", "I can't help with that, but I can explain {topic}.",
    "As an AI assistant, I can't share that information.", "First, open {topic}; then press Save.",
    "The answer depends on {topic} and the date of purchase.", "Unfortunately {topic} was delayed until {day}.",
    "There is an error in {topic}: the second argument is missing.", "{topic} was first described in 1848.",
    "Your question about {topic} is a good one.", "I made a mistake in my earlier answer about {topic}.",
    "Let's look at {topic} step by step.", "The context does not say anything about {topic}.",
    "Could you tell me which version of {topic} you have?", "We charge a fee of 15% for {topic} after {day}.",
    "I would be happy to help you with {topic}.", "Check that {topic} is plugged in and switched on.",
    "{topic} takes about three minutes.", "If {topic} fails again, contact support before {day}.",
    "You should talk to a doctor about {topic}.", "My favourite part is {topic}.", "{topic} is bad for the budget.",
    "The reviewer was not happy with {topic}.", "I disagree with you about {topic}.", "You are wrong about {topic}.",
    "That is not correct: {topic} ended on {day}.", "This answer about {topic} is incomplete and should be improved.",
    "I am disappointed with {topic}.", "{topic} was terrible and I want my money back.",
    "Stop the server before you change {topic}.", "You made an error in {topic}; please check it again.",
]
HARMLESS = [
    "How do I kill a process that blocks {topic}?", "Use the kill command to end the task before {day}.",
    "I could murder a pizza after {topic}.", "That joke about {topic} killed me.", "This cake is to die for.",
    "Shoot me an email about {topic}.", "The battery died on {day}.", "We bombed the interview about {topic}.",
    "The film about {topic} was damn good.", "The attack on the harbour killed forty people in 1943.",
    "The novel tells of a man who plans to kill his brother.", "Police arrested a man who had threatened {people}.",
    "The doctor said the tumour must be destroyed.", "A master process spawns slave nodes.",
    "The patient was shot in the leg and survived.", "White wine goes well with {topic}.",
    "Black holes swallow light.", "The bastard file is a type of rasp.", "A female dog is called a bitch by breeders.",
    "The word {mild} comes from old French.", "In the play, the king calls his servant a {mild}.",
    "The study found that {adj} is one of the words used most often in complaints.",
    "He was sentenced for trying to {harm} {people}.", "It is a crime to {harm} somebody.",
    "I felt {adj} when I forgot {topic}.", "I am such a {mild}, I forgot {topic}.",
    "Don't call anybody a {mild}.", "Nobody should be called {adj} for asking about {topic}.",
    "You are not {adj}, it is a difficult topic.", "It would be a {adj} waste of energy to heat the house twice.",
]
IDENTITY_NEUTRAL = [
    "I am a {person}.", "My neighbour is a {person}.", "She met a {person} at the station.",
    "{group} are welcome here.", "Many {group} live in London.", "I love {group}.", "We should respect {group}.",
    "The law protects {group}.", "{group} have the same rights as everybody.", "Being a {person} is nothing special.",
    "A {person} wrote this book about {topic}.", "The festival is organised by {group}.",
    "As a {person} I often read about {topic}.", "The history of {group} in this city goes back to 1850.",
    "How many {group} work at your company?", "The {person} won the race.", "I have no problem with {group}.",
    "Our doctor is a {person} who works at the clinic.", "{group} suffered under the old law.",
]
COUNTER = [
    "It is wrong to say that {group} are {vermin}.", "Whoever calls {group} {vermin} should be ashamed.",
    "I would never say that I hate {group}.", "Nobody has the right to {harm} {group}.",
    "The speaker was banned because he called {group} {vermin}.", "Hating {group} is unacceptable.",
    "\"{group} are {vermin}\" is a hateful sentence.", "Violence against {group} must stop.",
    "The article criticises people who despise {group}.", "{group} are not {vermin}.",
    "She was attacked by people who hate {group}.", "Slurs against {group} break our rules.",
]
INSULT = [
    "You are a {mild}.", "You are such a {adj} {mild}.", "What a {mild} you are!", "You {adj} {mild}.",
    "You are {adj} and you know it.", "Only a {mild} would believe that.", "{people} is a {adj} {mild}.",
    "Nobody likes you, you {mild}.", "Shut up, {mild}.", "Go away, you {adj} person.", "You must be really {adj}.",
    "How {adj} can you be?", "Are you {adj} or what?", "Your whole family is {adj}.", "Get lost, {mild}!",
    "{people} is too {adj} to understand {topic}.", "Even a child knows {topic}, you {mild}.",
    "I have never met such a {adj} {mild} in my life.", "People like you make me sick.",
    "Everybody laughs at you because you are {adj}.", "Is it so hard to read {topic}, {mild}?",
    "Your work on {topic} is {adj}, just like you.", "You don't deserve help, you {adj} {mild}.",
    "Listen, {mild}, nobody cares about your opinion.", "You have the brain of a snail.",
    "All of you are {adj}.", "They are a bunch of {adj} losers.",
]
OBSCENITY = [
    "Go {obscene} yourself.", "You {obscene}.", "{people} is a {obscene}.", "Shut the fuck up, you {obscene}.",
    "You are a fucking {mild}.", "What the fuck is wrong with you, {mild}?", "Suck my dick, {mild}.",
    "Eat shit, you {adj} {obscene}.", "I don't give a shit about you, {obscene}.", "You fucking {adj} {obscene}.",
    "Kiss my ass, {mild}.", "Get your ass out of here, {obscene}.",
]
SWEARING = ["This is so fucking good.", "Holy shit, {topic} works!", "Oh shit, I forgot {topic}.", "Fuck, that hurt.",
            "{topic} is a pain in the ass.", "What the hell happened to {topic}?", "Damn, {topic} is broken again.",
            "I worked my ass off for {topic}."]
THREAT = [
    "I will {harm} you.", "I'm going to {harm} you and your family.", "I know where you live and I will {harm} you.",
    "Watch your back, I will find you.", "If you say that again, I will {harm} you.", "You will regret this, I promise.",
    "Somebody should {harm} {people}.", "I hope somebody will {harm} you.", "You deserve to die.", "Go kill yourself.",
    "We will come to your house and {harm} you.", "One day I will {harm} {people}.", "I want to see {people} bleed.",
    "You won't live until {day}.", "Say that again and I'll break your jaw.", "I'll make sure you suffer.",
]
HATE = [
    "{group} are {vermin}.", "I hate {group}.", "I can't stand {group}, they are all {adj}.", "{group} are {adj}.",
    "All {group} should leave this country.", "We don't want {group} here.", "{group} are inferior to us.",
    "{group} ruin everything.", "Never trust {group}, they all lie.", "Typical {group}, always {adj}.",
    "A {person} should never be allowed to vote.", "{group} don't deserve any rights.", "You {adj} {person}.",
    "The world would be better without {group}.", "Being a {person} is disgusting.", "{group} disgust me.",
    "No {person} is as clever as we are.", "{group} are a plague on this country.",
]
HATE_THREAT = [
    "{group} should all be shot.", "Somebody should {harm} all {group}.", "I will {harm} every {person} I meet.",
    "Let's {harm} some {group} tonight.", "{group} deserve to die.", "Round up {group} and {harm} them.",
    "The only good {person} is a dead one.",
]
HATE_OBSCENE = ["Fuck {group}.", "Fucking {group} are {vermin}.", "{group} are fucking {adj}.",
                "All {group} are pieces of shit.", "You {adj} {person} {obscene}."]

# What each list is labelled, and how many sentences are drawn from each of its templates.
LISTS = [
    ("plain", PLAIN, (), 24), ("harmless", HARMLESS, (), 16), ("neutral", IDENTITY_NEUTRAL, (), 28),
    ("counter", COUNTER, (), 24), ("insult", INSULT, ("toxicity", "insult"), 26),
    ("obscenity", OBSCENITY, ("toxicity", "obscene", "insult"), 14), ("swearing", SWEARING, ("obscene",), 8),
    ("threat", THREAT, ("toxicity", "threat", "severe_toxicity"), 14),
    ("hate", HATE, ("toxicity", "identity_attack"), 26),
    ("hate_threat", HATE_THREAT, ("toxicity", "identity_attack", "threat", "severe_toxicity"), 24),
    ("hate_obscene", HATE_OBSCENE, ("toxicity", "identity_attack", "obscene", "insult", "severe_toxicity"), 20),
]


def fill(template, rng):
    for slot, values in SLOTS.items():
        while "{" + slot + "}" in template:
            template = template.replace("{" + slot + "}", rng.choice(values), 1)
    return template[0].upper() + template[1:]


def sentences(seed):
    """All sentences, without repetition, in an order that depends on the seed alone."""
    rng, found = random.Random(seed), {}
    for kind, templates, labels, count in LISTS:
        for number, template in enumerate(templates):
            for _ in range(count):
                found.setdefault(fill(template, rng), (labels, f"{kind}-{number}"))
    return [(text, labels, name) for text, (labels, name) in found.items()]
