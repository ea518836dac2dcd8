"""Invented facts in several wordings each: they teach that other words can say the same and that one slot changes everything.

A relation has wordings ({s} subject, {o} object, both names or values) that mean the same. Facts about invented people, firms,
places and works make a premise; a wording of one fact is entailed, the same wording with another value contradicts it, and a fact
that the premise does not tell is neutral. All names are put together at random.
"""

FIRST = ("Anna Boris Clara David Elena Frank Grace Henry Irene James Karen Louis Maria Nathan Olga Peter Rosa Samuel Tanya Victor Wendy "
         "Yusuf Zoe Amir Bianca Carlos Daria Emeka Farah Goran Hana Ivan Jade Kofi Lena Mateo Nadia Oscar Priya Quentin Rafael Sofia "
         "Tomas Uma Viktor Xenia Yara Arjun Beth Chen Diego").split()
LAST = ("Adler Brandt Castillo Dorsey Eriksen Falk Grant Holloway Ito Jensen Kowalski Lambert Moreau Nakamura Okafor Petrov Quinn Rossi "
        "Schmidt Tanaka Ueda Vargas Whitman Young Zeller Abbott Barlow Cruz Dalton Easton Forster Gallo Hale Ingram Jarvis Kemp Lowe "
        "Marsh Novak Osborne Pratt Ramos Shaw Thorne Upton Vance Webb Yates Mehta Okoye").split()
CITY = ("Lisbon Oslo Denver Kyoto Nairobi Prague Bogota Dublin Hamburg Lyon Seville Cardiff Tampa Austin Boston Perth Quito Turin Gdansk "
        "Malmo Leeds Osaka Delhi Lima Accra Porto Ghent Basel Graz Izmir Split Riga Tulsa Omaha Calgary").split()
COUNTRY = ("Portugal Norway Japan Kenya Colombia Ireland Germany France Spain Peru Ghana Belgium Austria Turkey Croatia Latvia Canada "
           "Chile Egypt India Poland Sweden Mexico Brazil Greece Hungary Iceland Morocco").split()
FIRM = ("Norvex Bluemark Tarrant Quillon Ostara Helix Brightwater Corvane Delphin Evergate Fenwick Galorn Hartwell Ironleaf Juniper "
        "Kestrel Lumora Meridian Nimbus Orchard Pinnacle Redstone Solara Trident Umbra Vantage Westbrook Zephyr").split()
KIND = ["Systems", "Foods", "Motors", "Energy", "Labs", "Airlines", "Media", "Bank", "Textiles", "Robotics", "Pharma", "Games"]
TITLE_A = "Silent Broken Golden Hidden Last Northern Burning Frozen Distant Lost Crimson Paper Hollow Velvet Iron".split()
TITLE_B = "River Garden Letter Mirror Harbor Winter Crown Bridge Orchard Station Shadow Machine Island Empire Lantern".split()
FIELD = "physics chemistry history law medicine biology economics philosophy mathematics architecture linguistics geology".split()
JOB = "a teacher;a lawyer;a nurse;a pilot;an architect;a journalist;a carpenter;an engineer;a chemist;a farmer;a baker;a judge".split(";")
INSTRUMENT = "the violin;the piano;the cello;the trumpet;the guitar;the flute;the drums;the harp".split(";")
SPORT = "tennis;chess;football;basketball;hockey;cricket;volleyball;rugby".split(";")
PRODUCT = "electric bicycles;solar panels;frozen pizza;medical scanners;running shoes;coffee machines;office furniture;video games;" \
          "garden tools;hearing aids;batteries;cheese".split(";")
ANIMAL = "wolves;beavers;otters;eagles;foxes;storks;seals;lynxes".split(";")
COLOR = "red blue green yellow white black purple orange".split()
LANGUAGE = "Spanish French German Japanese Arabic Russian Polish Swedish Portuguese Turkish".split()
MATERIAL = "wood;steel;glass;brick;concrete;granite;marble;bamboo".split(";")

# kind of subject, kind of object, wordings
RELATIONS = [
    ("person", "city", ["{s} was born in {o}.", "{s} is a native of {o}.", "{o} is the birthplace of {s}.", "{s} came into the world in {o}.",
                        "The birthplace of {s} is {o}."]),
    ("person", "year", ["{s} was born in {o}.", "The year of birth of {s} is {o}.", "{s}, born in {o}, grew up in modest circumstances.",
                        "{s} has been alive since {o}."]),
    ("person", "job", ["{s} works as {o}.", "{s} is {o} by profession.", "{s} earns a living as {o}.", "The job of {s} is that of {o}."]),
    ("person", "field", ["{s} studied {o} at university.", "{s} has a degree in {o}.", "{s} holds a university degree in {o}.",
                         "At university, {s} read {o}.", "The subject that {s} studied was {o}."]),
    ("person", "person", ["{s} is married to {o}.", "{s} and {o} are married.", "{o} is the spouse of {s}.", "{o} is married to {s}.",
                          "{s} and {o} are a married couple."]),
    ("person", "person2", ["{s} taught {o}.", "{o} was taught by {s}.", "{o} was a student of {s}.", "{s} was the teacher of {o}."]),
    ("person", "person3", ["{s} defeated {o} in the final.", "{o} lost the final to {s}.", "In the final, {s} beat {o}.",
                           "{o} was beaten by {s} in the final.", "{s} won the final against {o}."]),
    ("person", "person4", ["{s} hired {o}.", "{o} was hired by {s}.", "{s} gave {o} a job.", "{o} got a job from {s}."]),
    ("person", "person5", ["{s} is older than {o}.", "{o} is younger than {s}.", "{s} was born before {o}.", "{o} was born after {s}."]),
    ("person", "person6", ["{s} sued {o}.", "{o} was sued by {s}.", "{s} took {o} to court.", "{s} brought a lawsuit against {o}."]),
    ("person", "instrument", ["{s} plays {o}.", "{o} is the instrument of {s}.", "{s} can play {o}.", "{s} performs on {o}."]),
    ("person", "sport", ["{s} plays {o} professionally.", "{s} is a professional {o} player.", "{s} makes money by playing {o}."]),
    ("person", "language", ["{s} speaks {o}.", "{s} is a speaker of {o}.", "{s} knows {o}.", "{o} is a language that {s} speaks."]),
    ("person", "country", ["{s} moved to {o} as a child.", "As a child, {s} moved to {o}.", "{s} emigrated to {o} in childhood.",
                           "{s} was still a child when the family relocated to {o}."]),
    ("person", "age", ["{s} died at the age of {o}.", "{s} lived to be {o} years old.", "{s} was {o} years old at the time of death.",
                       "At {o}, {s} passed away."]),
    ("person", "children", ["{s} has {o} children.", "{s} is the parent of {o} children.", "There are {o} children in the family of {s}."]),
    ("person", "firm", ["{s} founded {o}.", "{o} was founded by {s}.", "{s} is the founder of {o}.", "{s} set up {o}.",
                        "{o} is a company that {s} started."]),
    ("person", "firm2", ["{s} works for {o}.", "{s} is employed by {o}.", "{o} employs {s}.", "{s} has a job at {o}.", "{s} is an employee of {o}."]),
    ("person", "firm3", ["{s} is the chief executive of {o}.", "{s} is the CEO of {o}.", "{o} is led by {s}.", "{s} heads {o}.", "{s} runs {o}."]),
    ("person", "firm4", ["{s} left {o} last year.", "{s} quit working for {o} last year.", "Last year, {s} resigned from {o}.",
                         "{s} no longer works for {o}."]),
    ("person", "work", ["{s} wrote {o}.", "{o} was written by {s}.", "{s} is the author of {o}.", "{o} is a work by {s}."]),
    ("person", "work2", ["{s} directed {o}.", "{o} was directed by {s}.", "{s} is the director of {o}.", "{o} is a film by {s}."]),
    ("person", "work3", ["{s} played the lead in {o}.", "{s} starred in {o}.", "{o} starred {s}.", "The leading role in {o} was played by {s}."]),
    ("work", "year", ["{s} came out in {o}.", "{s} was released in {o}.", "The release year of {s} is {o}.", "{o} saw the release of {s}."]),
    ("work", "money", ["{s} earned ${o} million.", "{s} brought in ${o} million.", "The takings of {s} were ${o} million.",
                       "{s} grossed {o} million dollars."]),
    ("work", "city", ["{s} is set in {o}.", "The story of {s} takes place in {o}.", "{o} is where {s} is set.", "{s} tells a story from {o}."]),
    ("work", "pages", ["{s} has {o} pages.", "{s} is {o} pages long.", "There are {o} pages in {s}."]),
    ("firm", "city", ["{s} is based in {o}.", "{s} has its headquarters in {o}.", "The headquarters of {s} are in {o}.",
                      "{o} is home to the head office of {s}.", "{s} is headquartered in {o}."]),
    ("firm", "year", ["{s} was founded in {o}.", "{s} has existed since {o}.", "The founding of {s} took place in {o}.",
                      "{s} was set up in {o}.", "{s} was started in {o}."]),
    ("firm", "people", ["{s} employs {o} people.", "{s} has {o} employees.", "{o} people work for {s}.", "The workforce of {s} counts {o} people.",
                        "The staff of {s} is {o} strong."]),
    ("firm", "product", ["{s} makes {o}.", "{s} produces {o}.", "{o} are made by {s}.", "{s} is a maker of {o}.", "{s} manufactures {o}."]),
    ("firm", "firm", ["{s} bought {o}.", "{o} was bought by {s}.", "{s} acquired {o}.", "{o} was taken over by {s}.", "{s} is the new owner of {o}.",
                      "{o} now belongs to {s}."]),
    ("firm", "firm2", ["{s} sold its shares to {o}.", "{o} bought the shares from {s}.", "The shares of {s} went to {o}."]),
    ("firm", "firm3", ["{s} is a competitor of {o}.", "{s} competes with {o}.", "{s} and {o} are rivals.", "{o} is a rival of {s}."]),
    ("firm", "percent", ["Sales of {s} grew by {o} percent.", "{s} increased its sales by {o} percent.", "{s} sold {o} percent more than before.",
                         "The sales of {s} rose {o}%."]),
    ("firm", "percent2", ["Profits of {s} fell by {o} percent.", "The profits of {s} dropped {o}%.", "{s} earned {o} percent less than before.",
                          "{s} saw its profits shrink by {o} percent."]),
    ("firm", "money", ["{s} raised ${o} million.", "Investors put ${o} million into {s}.", "{s} received {o} million dollars from investors."]),
    ("city", "count", ["{s} has {o} inhabitants.", "The population of {s} is {o}.", "{o} people live in {s}.", "{s} is home to {o} people."]),
    ("city", "person", ["{o} is the mayor of {s}.", "The mayor of {s} is {o}.", "{s} has {o} as its mayor.", "{s} is governed by mayor {o}."]),
    ("city", "animal", ["{o} live in the park of {s}.", "The park of {s} is home to {o}.", "In the park of {s} one can see {o}."]),
    ("city", "city", ["{s} is larger than {o}.", "{o} is smaller than {s}.", "{s} is the bigger of the two, {o} the smaller.",
                      "{o} is not as large as {s}."]),
    ("city", "city2", ["{s} lies north of {o}.", "{o} lies south of {s}.", "{o} is to the south of {s}.", "{s} is to the north of {o}."]),
    ("city", "material", ["The town hall of {s} is made of {o}.", "The town hall of {s} was built from {o}.", "{s} has a town hall made of {o}."]),
    ("city", "color", ["The buses in {s} are {o}.", "{s} has {o} buses.", "People in {s} ride {o} buses."]),
    ("city", "weekday", ["The market in {s} is held on {o}.", "{s} has its market on {o}.", "On {o} there is a market in {s}."]),
    ("city", "time", ["The museum of {s} opens at {o}.", "The museum of {s} is open from {o} on.", "Visitors can enter the museum of {s} from {o} on."]),
    ("city", "price", ["A ticket to the museum of {s} costs {o} euros.", "Visitors pay {o} euros for the museum of {s}.",
                       "The price of a ticket to the museum of {s} is {o} euros."]),
]

# wordings of a state and of its opposite; both take only a subject
STATES = [
    ("person", ["{s} is still alive.", "{s} has not died.", "{s} is living."], ["{s} is dead.", "{s} has died.", "{s} is no longer alive."]),
    ("person", ["{s} won the election.", "{s} was elected.", "The election was won by {s}."],
     ["{s} lost the election.", "{s} was not elected.", "{s} failed to win the election."]),
    ("person", ["{s} passed the exam.", "{s} succeeded in the exam."], ["{s} failed the exam.", "{s} did not pass the exam."]),
    ("person", ["{s} is single.", "{s} has never married.", "{s} is not married."], ["{s} has a spouse.", "{s} is married."]),
    ("person", ["{s} was found guilty.", "The court convicted {s}."], ["{s} was acquitted.", "The court found {s} not guilty.", "{s} was cleared of all charges."]),
    ("person", ["{s} accepted the offer.", "{s} said yes to the offer.", "{s} agreed to the offer."],
     ["{s} turned down the offer.", "{s} refused the offer.", "{s} did not accept the offer.", "{s} rejected the offer."]),
    ("person", ["{s} eats no meat.", "{s} is a vegetarian.", "{s} does not eat meat."], ["{s} eats meat.", "{s} is not a vegetarian."]),
    ("person", ["{s} is able to swim.", "{s} can swim.", "{s} knows how to swim."], ["{s} cannot swim.", "{s} is unable to swim.", "{s} never learned to swim."]),
    ("person", ["{s} has yet to visit Europe.", "{s} has never been to Europe.", "{s} has not visited Europe."],
     ["{s} has been to Europe.", "{s} has visited Europe."]),
    ("person", ["{s} is an only child.", "{s} has no brothers or sisters.", "{s} has no siblings."],
     ["{s} has a sister.", "{s} has two brothers.", "{s} has several siblings."]),
    ("person", ["{s} was late.", "{s} did not arrive on time.", "{s} failed to come on time."], ["{s} arrived on time.", "{s} was punctual."]),
    ("person", ["{s} supports the plan.", "{s} is in favor of the plan.", "{s} backs the plan."],
     ["{s} opposes the plan.", "{s} is against the plan.", "{s} does not support the plan.", "{s} rejects the plan."]),
    ("person", ["{s} survived the accident.", "{s} did not die in the accident."], ["{s} died in the accident.", "{s} was killed in the accident.",
                                                                              "{s} did not survive the accident."]),
    ("work", ["{s} was a success.", "{s} was a hit.", "{s} did well with the public."], ["{s} was a failure.", "{s} flopped.", "{s} was not a success."]),
    ("work", ["{s} received good reviews.", "Critics liked {s}.", "{s} was praised by critics."],
     ["{s} got bad reviews.", "Critics disliked {s}.", "{s} was panned by critics.", "Critics did not like {s}."]),
    ("work", ["{s} is based on a true story.", "{s} tells of events that really happened."], ["{s} is pure fiction.", "{s} is not based on real events."]),
    ("firm", ["{s} went bankrupt.", "{s} became insolvent.", "{s} could not pay its debts."],
     ["{s} never went bankrupt.", "{s} is solvent.", "{s} avoided bankruptcy."]),
    ("firm", ["{s} is making a profit.", "{s} is profitable.", "{s} earns more than it spends."],
     ["{s} is losing money.", "{s} is not profitable.", "{s} makes a loss."]),
    ("firm", ["{s} is listed on the stock exchange.", "{s} is a public company.", "Shares of {s} are traded on the stock exchange."],
     ["{s} is not listed on the stock exchange.", "{s} is privately held."]),
    ("firm", ["{s} closed its factory.", "{s} shut down its factory.", "The factory of {s} no longer operates."],
     ["{s} kept its factory open.", "The factory of {s} is still running.", "{s} did not close its factory."]),
    ("firm", ["{s} will cut jobs.", "{s} plans to lay off workers.", "{s} is going to reduce its staff."],
     ["{s} will keep all its workers.", "{s} has ruled out layoffs.", "{s} will not lay off anybody."]),
    ("city", ["{s} has an airport.", "There is an airport in {s}.", "One can fly to {s}."], ["{s} has no airport.", "There is no airport in {s}.",
                                                                                   "{s} lacks an airport."]),
    ("city", ["{s} lies by the sea.", "{s} is on the coast.", "{s} is a coastal city."], ["{s} lies far from the sea.", "{s} is not on the coast.",
                                                                                 "{s} is an inland city."]),
    ("city", ["Smoking is forbidden in the parks of {s}.", "One may not smoke in the parks of {s}.", "{s} bans smoking in its parks."],
     ["Smoking is allowed in the parks of {s}.", "One may smoke in the parks of {s}.", "{s} permits smoking in its parks."]),
    ("city", ["Entry to the museum of {s} is free.", "The museum of {s} costs nothing.", "Nobody has to pay for the museum of {s}."],
     ["The museum of {s} charges an entrance fee.", "One has to pay to enter the museum of {s}.", "The museum of {s} is not free."]),
]

# rule, what follows, what contradicts, what stays open: general reasoning over one sentence ({s}, {t} names; {n} a number)
STEPS = [
    ("All members of the {f} club are over {n}, and {s} is a member.", "{s} is over {n}.", "{s} is under {n}.", "{s} founded the club."),
    ("{s} and {t} arrived together.", "{t} arrived.", "{s} arrived alone.", "{t} arrived by train."),
    ("Only {s} knew the code.", "{t} did not know the code.", "{t} knew the code.", "{s} wrote the code down."),
    ("{s} forgot to lock the door.", "{s} did not lock the door.", "{s} locked the door.", "Somebody entered through the door."),
    ("{s} managed to repair the car.", "{s} repaired the car.", "{s} failed to repair the car.", "{s} bought the car."),
    ("{s} regrets selling the house.", "{s} sold the house.", "{s} never sold the house.", "The house was sold at a loss."),
    ("{s} plans to sell the house.", "{s} intends to sell the house.", "{s} has no plans to sell the house.", "{s} sold the house."),
    ("{s} may move to {c}.", "It is possible that {s} moves to {c}.", "It is certain that {s} stays away from {c}.", "{s} moved to {c}."),
    ("{s} claims that {t} stole the money.", "{s} accuses {t} of theft.", "{s} says that {t} is innocent.", "{t} stole the money."),
    ("{s} bought apples and pears.", "{s} bought apples.", "{s} bought only pears.", "{s} bought plums."),
    ("{s} bought either a bike or a boat.", "{s} bought something.", "{s} bought neither a bike nor a boat.", "{s} bought a boat."),
    ("More than {n} people came to see {s}.", "{s} drew more than {n} people.", "Fewer than {n} people came to see {s}.", "{s} sold {n} tickets."),
    ("Some of the students like {s}.", "Not all of the students dislike {s}.", "None of the students like {s}.", "All of the students like {s}."),
    ("Most of the guests left before {s} spoke.", "Many guests did not hear {s} speak.", "All guests heard {s} speak.", "{t} left before {s} spoke."),
    ("None of the tests found a fault.", "No fault was found by the tests.", "Some tests found a fault.", "The tests were cheap."),
    ("{s} gave {t} a book.", "{t} received a book from {s}.", "{s} received a book from {t}.", "{t} read the book."),
    ("{s} lent {t} some money.", "{t} borrowed money from {s}.", "{t} lent money to {s}.", "{t} paid the money back."),
    ("{s}, who lives in {c}, won the prize.", "The winner of the prize lives in {c}.", "{s} did not win the prize.", "{s} was born in {c}."),
    ("After {n} years in {c}, {s} went home.", "{s} spent {n} years in {c}.", "{s} never left {c}.", "{s} liked {c}."),
    ("{s} retired in {y}.", "{s} stopped working in {y}.", "{s} began to work in {y}.", "{s} was ill in {y}."),
    ("{s} was the second person to climb the tower.", "Somebody climbed the tower before {s}.", "{s} was the first person to climb the tower.",
     "{t} was the first person to climb the tower."),
    ("{s} came third, just behind {t}.", "{t} finished ahead of {s}.", "{s} finished ahead of {t}.", "{t} won."),
    ("The bridge was built between {y} and {z}.", "The bridge was finished in {z}.", "The bridge was finished before {y}.", "The bridge was expensive."),
    ("{s} would have won without the fall.", "{s} fell and did not win.", "{s} won.", "{s} was hurt."),
    ("If it rains, {s} stays at home.", "{s} stays at home in case of rain.", "{s} goes out when it rains.", "It rains today."),
    ("{s} denied having met {t}.", "According to {s}, {s} did not meet {t}.", "{s} admitted having met {t}.", "{s} met {t}."),
    ("It took {s} {n} hours to reach {c}.", "{s} reached {c}.", "{s} never reached {c}.", "{s} went to {c} by bus."),
    ("{s} is the youngest of {n} children.", "{s} has older siblings.", "{s} is an only child.", "{s} is the tallest of the children."),
    ("{s} has been vegetarian since {y}.", "{s} became a vegetarian in {y}.", "{s} ate meat after {y}.", "{s} loves animals."),
    ("The price fell from {m} to {n} dollars.", "The price went down.", "The price went up.", "The price was too high."),
]
