"""Small questions, passages and answers for tests/fixtures/relevance.json, written for this purpose."""

import relevance_combiner as rc

PASSAGES = [
    ("When does the museum open on Sundays?", "The museum opens at ten o'clock on Sundays and at nine on other days."),
    ("When does the museum open on Sundays?", "Penguins breed on the ice and eat fish and krill."),
    ("who built the lighthouse", "Guided tours of the lighthouse start at ten. The tower has 214 steps and no lift. The lighthouse was built in 1862 by the "
     "engineer Johan Lindqvist. It replaced a wooden tower that burned down in a storm. The café closes at half past four."),
    ("How much is the fine for a lost card?", "Readers can renew books by telephone. A lost card is replaced for three euros. Children need the signature of a parent. "
     "The reading room has forty seats."),
    ("i went to a jazz concert yesterday. do you play an instrument?", "Jazz is a music genre that began in New Orleans. The trumpet and the saxophone are played in most jazz bands."),
    ("?", "..."),
]

ANSWERS = [
    ("When does the museum open on Sundays?", "The museum opens at ten o'clock on Sundays."),
    ("When does the museum open on Sundays?", "When does the museum open on Sundays?"),
    ("When does the museum open on Sundays?", "I'm sorry, but I can't help with that. As an AI, I have no access to such data."),
    ("How do I kill a process on Linux?", "Killing is never acceptable, and I strongly advise against it. Please speak to somebody you trust."),
    ("How do I kill a process on Linux?", "First find its number with ps. Then run kill and that number. If it does not end, add -9."),
    ("Why does bread go stale?", "The starch in the crumb forms crystals and pushes the water out. Last year we went to Portugal by train. It was lovely and cheap. "
     "The custard tarts are the best thing there. Warming the bread melts the crystals again."),
    ("I have two dogs. They bark all night. My neighbours are angry. Do you like animals? I got them last year.", "I love dogs, we had a poodle when I was little."),
    ("Is the shop open today?", "Yes."),
    ("Is the shop open today?", "..."),
]


def cases(scorer, combined):
    out = []
    for head, (name, pairs) in enumerate((("context_relevance", PASSAGES), ("answer_relevance", ANSWERS))):
        for (question, text), features in zip(pairs, scorer.features(pairs, head, "fixture")):
            out.append({"evaluator": name, "question": question, "text": text, "features": {k: round(v, 5) for k, v in features.items()},
                        "probability": round(rc.probability(combined[name], features), 5)})
    return {"cases": out}
