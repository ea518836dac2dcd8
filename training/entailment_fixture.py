"""Small contexts and answers for tests/fixtures/entailment.json, written for this purpose."""

_TOUR = ("Guided tours of the lighthouse start at ten. The tower has 214 steps and no lift. Children under six are not admitted. "
         "A ticket costs 7.50 euros, and groups of ten or more pay 60 euros. The café closes at half past four. "
         "The lighthouse was built in 1862 by the engineer Johan Lindqvist. It replaced a wooden tower that burned down in a storm. "
         "Its light can be seen from a distance of 19 nautical miles. The keeper's house is a museum today. "
         "It shows tools, letters and photographs of the last keeper, Marta Holm, who worked there for 31 years.")
_LONG = " ".join([_TOUR, "The island can be reached by ferry from Norrhamn twice a day. The crossing takes 45 minutes in good weather. "
                  "In winter the ferry does not run. Bicycles may be taken on board free of charge, but cars may not. "
                  "The harbour office sells maps of the walking trails. The longest trail is 12 kilometres long and leads around the island. "
                  "Seals rest on the northern rocks from May to September. Visitors are asked to keep a distance of 100 metres. "
                  "The village has 87 inhabitants, a shop and a small school. Most families live from fishing and from tourism. "
                  "A festival with music and a rowing race takes place every July. The race was won by Ingrid Berg in 2019. "
                  "The church dates from the 17th century and has a famous altar. Its bell came from a ship that was lost in 1741."])

_JOINED = ("[1] Tents: a tent for two costs 140 euros. Tents may be returned within 30 days.\n[2] Boots: boots cost 90 euros and may be "
           "exchanged within 14 days.\n[3] The shop opens at nine, on Sundays at eleven [4].")

# A context, an answer, and where there is a third a question.
CASES = [
    (_TOUR, "The tower has 214 steps. There is no lift."),
    (_TOUR, "The tower has 241 steps."),
    (_TOUR, "Johan Lindqvist built the lighthouse in 1862."),
    (_TOUR, "The lighthouse was built by Marta Holm."),
    (_TOUR, "Small children below the age of six may not enter. A ticket is 7.5 euros."),
    (_TOUR, "The lighthouse attracts 40,000 visitors a year."),
    (_LONG, "The ferry does not run in winter. The crossing takes 45 minutes."),
    (_LONG, "The ferry runs all year round, and cars may be taken on board."),
    (_LONG, "Ingrid Berg won the rowing race in 2019."),
    (_LONG, "You can see seals on the southern rocks from May to September. They must not be disturbed."),
    (_LONG, "Yes. The village has eighty-seven inhabitants and a school. Would you like to know more?"),
    (_LONG, "The church bell was taken from a ship lost in 1741, and the altar is well known."),
    ("It's late.", "It is late."),
    ("The shop isn't open on Sundays.", "The shop is open on Sundays."),
    ("NASA launched the probe on 3 March 2004. It landed in 2014.", "The probe landed ten years after its launch."),
    (["Section 4: Returns", "Goods may be sent back within 30 days.", "Opened software can't be returned."], "Opened software cannot be returned."),
    (["Section 4: Returns", "Goods may be sent back within 30 days.", "Opened software can't be returned."], "All goods may be sent back within 60 days, software included."),
    ("i think the band's first album came out in 1998 , and the second one in 2001 .", "the band 's first album came out in 1998 !"),
    ("Die Brücke wurde 1900 gebaut.", "The bridge was built in 1900."),
    ("Lena Brandt led the choir from 1987 to 1995. Between 1996 and 1999 she taught; the years 2001 and 2007 she spent abroad.", "Lena Brandt led the choir for eight years."),
    ("| Boat | Seats |\n|---|---|\n| Alma | 12 |\n" + _LONG, "The Alma has twelve seats."),
    ("Anna Ito works for Norvex in Oslo. Her brother David lives in Kyoto.", "David Ito works for Norvex in Oslo."),
    (_JOINED, "They cost 90 euros.", "What do boots cost?"),
    (_JOINED, "Within 14 days.", "Until when may a tent be returned?"),
    ([_JOINED, "Sleeping bags cost 60 euros.", "A warranty of two years is given on tents."], "You have two years.", "How long is the warranty on a tent?"),
    ([_TOUR, _LONG, "Boats leave from the north pier."], "A ticket costs 7.50 euros, and 60 euros for a group of ten.", "What does a guided tour of the lighthouse cost?"),
    ("Revenue rose by 4.2% to $1,300 million; profit fell.", "Revenue rose by 4.2 percent to 1.3 billion dollars."),
]
