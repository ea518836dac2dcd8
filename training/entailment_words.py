"""Word lists for the self-made pairs. Written for this project."""

_SYNONYMS = """
began=started; begin=start; begins=starts; purchased=bought; purchase=buy; movie=film; movies=films; car=automobile; large=big;
larger=bigger; largest=biggest; small=little; quickly=rapidly; fast=quick; finished=completed; finish=complete; showed=displayed;
shows=displays; required=needed; requires=needs; received=got; obtained=gained; assisted=helped; help=assist; helps=assists;
located=situated; near=close to; approximately=about; around=about; about=roughly; nearly=almost; almost=nearly; said=stated;
says=states; stated=said; announced=declared; created=made; made=produced; founded=established; established=set up;
built=constructed; constructed=built; killed=slain; died=passed away; children=kids; doctor=physician; physicians=doctors;
attorney=lawyer; lawyers=attorneys; company=firm; companies=firms; business=enterprise; city=town; nation=country;
country=nation; countries=nations; area=region; region=area; regions=areas; home=house; job=position; position=post; often=frequently;
frequently=often; usually=typically; typically=usually; sometimes=at times; however=but; important=significant; significant=important;
famous=well-known; well-known=famous; popular=well-liked; different=distinct; various=several; several=a number of; many=numerous;
numerous=many; entire=whole; whole=entire; main=primary; primary=main; major=main; initial=first; final=last; previous=earlier;
previously=earlier; later=afterwards; current=present; currently=at present; presently=now; additionally=in addition; also=as well as that;
because=since; although=even though; while=whereas; allow=let; allows=lets; permitted=allowed; permits=allows; prevent=stop;
prevents=stops; prohibited=banned; banned=prohibited; ended=concluded; ends=concludes; ending=conclusion; won=was victorious in;
victory=win; defeated=beat; beat=defeated; selected=chosen; chose=selected; choose=pick; picked=chose; appointed=named; named=called;
called=named; known=recognized; recognised=known; recognized=known; released=put out; published=issued; issued=published;
received=was given; awarded=given; gave=provided; gives=provides; provided=supplied; provides=supplies; offers=provides; offered=provided;
include=contain; includes=contains; contains=includes; consisted=was made up; featuring=with; joined=became a member of; left=departed;
departed=left; arrived=came; returned=came back; moved=relocated; relocated=moved; remained=stayed; stayed=remained; lived=resided;
resides=lives; lives=resides; worked=was employed; employed=hired; hired=employed; fired=dismissed; dismissed=fired; retired=stepped down;
resigned=stepped down; increased=rose; increase=rise; rose=climbed; grew=expanded; expanded=grew; decreased=fell; decrease=decline;
declined=dropped; dropped=fell; fell=dropped; reduced=cut; reduce=lower; raised=lifted; happened=occurred; occurred=took place;
occurs=happens; discovered=found; found=discovered; searched=looked; tried=attempted; attempted=tried; attempt=try; succeeded=managed;
used=utilized; uses=employs; utilized=used; utilizes=uses; designed=planned; developed=came up with; wrote=penned; written=penned;
author=writer; writer=author; writers=authors; singer=vocalist; vocalist=singer; musician=performer; band=group; album=record; song=track;
songs=tracks; tune=song; actor=performer; director=filmmaker; filmmaker=director; teacher=instructor; students=pupils; pupils=students;
school=academy; college=university; employees=staff; workers=employees; boss=manager; leader=head; head=leader; chief=head; chairman=chair;
founder=creator; creator=maker; owner=proprietor; spouse=partner; wife=spouse; husband=spouse; parents=mother and father; baby=infant;
infants=babies; sick=ill; ill=sick; illness=disease; disease=illness; injured=hurt; hurt=injured; wounded=injured; death=passing;
accident=crash; crash=accident; fire=blaze; blaze=fire; storm=tempest; police=officers; officers=police; arrested=detained; detained=arrested;
accused=charged; convicted=found guilty; jail=prison; prison=jail; murder=killing; murdered=killed; theft=robbery; stole=took;
court=tribunal; trial=court case; law=legislation; legislation=law; government=administration; election=vote; voters=electorate;
money=funds; funds=money; funding=financing; cost=price; price=cost; costs=prices; expensive=costly; cheap=inexpensive; inexpensive=cheap;
wealthy=rich; rich=wealthy; poor=impoverished; difficult=hard; hard=difficult; easy=simple; simple=easy; happy=glad; sad=unhappy;
angry=mad; afraid=scared; scared=frightened; intelligent=smart; smart=clever; strange=odd; odd=strange; beautiful=pretty; ugly=unattractive;
strong=powerful; powerful=strong; weak=feeble; old=aged; ancient=very old; new=recent; recent=new; modern=contemporary; dangerous=hazardous;
safe=secure; secure=safe; correct=right; wrong=incorrect; incorrect=wrong; true=accurate; accurate=correct; false=untrue; full=complete;
empty=vacant; quiet=silent; loud=noisy; huge=enormous; enormous=huge; tiny=very small; tall=high; wide=broad; broad=wide; deep=profound;
rapid=fast; slow=sluggish; slowly=gradually; gradually=slowly; suddenly=abruptly; immediately=at once; instantly=immediately; soon=shortly;
shortly=soon; finally=eventually; eventually=finally; mainly=mostly; mostly=mainly; primarily=mainly; only=just; exactly=precisely;
especially=particularly; particularly=especially; together=jointly; worldwide=around the world; globally=worldwide; international=global;
yearly=annual; annual=yearly; annually=every year; daily=every day; monthly=every month; weekly=every week; begin=commence;
commenced=began; ceased=stopped; stopped=ceased; stop=halt; halted=stopped; continue=go on; continued=went on; continues=goes on;
maintain=keep; maintained=kept; keep=retain; retained=kept; protect=guard; protects=guards; attack=assault; attacked=assaulted;
fought=battled; battle=fight; war=conflict; conflict=fighting; soldiers=troops; troops=soldiers; army=military; weapon=arm; bomb=explosive;
ship=vessel; vessel=ship; boat=craft; plane=aircraft; aircraft=plane; airplane=plane; train=railway; road=street; street=road;
building=structure; structure=building; store=shop; shop=store; shops=stores; restaurant=eatery; food=meals; meal=dish; drink=beverage;
beverages=drinks; clothes=clothing; clothing=garments; game=match; match=game; team=squad; squad=team; coach=trainer; player=athlete;
fans=supporters; supporters=fans; crowd=audience; audience=crowd; show=program; series=show; episode=installment; season=series;
premiered=debuted; debuted=premiered; aired=was broadcast; broadcast=aired; performed=played; performance=show; concert=gig; tour=trip;
trip=journey; journey=trip; travelled=journeyed; traveled=journeyed; visited=went to; met=encountered; married=wed; divorced=split from;
born=delivered; raised=brought up; grew=increased; planted=sown; animal=creature; animals=creatures; creature=animal; forest=woods;
woods=forest; sea=ocean; ocean=sea; river=stream; mountain=peak; hill=rise; rock=stone; stone=rock; picture=image; image=picture;
images=pictures; photo=photograph; photos=photographs; photograph=photo; painting=artwork; book=volume; novel=book; article=piece;
newspaper=paper; report=account; reported=said; reports=says; study=research; research=study; scientist=researcher; scientists=researchers;
researchers=scientists; test=trial; tests=trials; results=findings; findings=results; evidence=proof; proof=evidence; reason=cause;
cause=reason; causes=leads to; caused=led to; effect=result; impact=effect; method=way; way=manner; approach=method; goal=aim; aim=goal;
purpose=aim; plan=scheme; plans=intends; idea=concept; concept=idea; opinion=view; view=opinion; believe=think; believes=thinks;
believed=thought; thought=believed; considered=regarded; regarded=considered; argued=contended; claimed=asserted; claims=asserts;
denied=rejected; refused=declined; agreed=consented; accepted=agreed to; rejected=turned down; approved=passed; suggested=proposed;
proposed=suggested; recommended=advised; advised=counselled; warned=cautioned; asked=requested; requested=asked for; answered=replied;
replied=responded; responded=replied; explained=clarified; described=depicted; told=informed; spoke=talked; talk=speak; talked=spoke;
wanted=wished; wants=wishes; hoped=wished; likes=enjoys; enjoys=likes; loved=adored; hated=detested; fear=dread; feared=was afraid of;
ability=capability; able=capable; possible=feasible; likely=probable; probably=likely; perhaps=maybe; maybe=perhaps; certain=sure;
huge=massive; massive=huge; total=overall; overall=total; amount=quantity; number=count; portion=part; part=section; section=part;
group=bunch; member=part; members=participants; participants=members; community=neighborhood; people=persons; individuals=people;
man=guy; woman=lady; women=ladies; boy=young man; girl=young woman; friend=pal; friends=companions; enemy=foe; enemies=foes;
kinds=types; type=kind; types=kinds; variety=range; range=variety; version=edition; edition=version; item=thing; items=things;
device=gadget; machine=device; tool=instrument; computer=PC; software=program; website=site; site=website; internet=web; phone=telephone;
customers=clients; clients=customers; buyers=purchasers; sells=markets; sold=marketed; profit=earnings; earnings=profits; salary=pay;
pay=salary; earned=made; spent=paid; debt=liabilities; bank=lender; tax=levy; market=marketplace; trade=commerce; industry=sector;
sector=industry; factory=plant; plant=facility; facility=site; goods=products; products=goods; product=item; headquarters=main office;
headquartered=based; based=headquartered; branch=office; branches=offices; merged=combined; acquired=bought; bought=acquired; owned=possessed;
owns=possesses; has=possesses; funded=financed; financed=funded; invested=put money; supported=backed; backed=supported; opposed=was against;
"""

_ANTONYMS = """
increased/decreased; increase/decrease; increases/decreases; rose/fell; rising/falling; rise/fall; higher/lower; highest/lowest; high/low;
more/less; most/least; larger/smaller; largest/smallest; large/small; big/small; bigger/smaller; biggest/smallest; longer/shorter;
longest/shortest; long/short; older/younger; oldest/youngest; old/young; old/new; newer/older; better/worse; best/worst; good/bad;
faster/slower; fast/slow; quickly/slowly; stronger/weaker; strong/weak; heavy/light; hot/cold; warm/cool; wet/dry; hard/soft; rich/poor;
early/late; earlier/later; earliest/latest; first/last; before/after; above/below; over/under; inside/outside; within/outside;
north/south; northern/southern; east/west; eastern/western; northeast/southwest; northwest/southeast; left/right; top/bottom; upper/lower;
front/back; won/lost; win/lose; wins/loses; winning/losing; winner/loser; victory/defeat; success/failure; successful/unsuccessful;
successfully/unsuccessfully; began/ended; begins/ends; begin/end; started/ended; start/end; opened/closed; open/closed; opening/closing;
opens/closes; accepted/rejected; accept/reject; approved/rejected; approve/reject; agreed/refused; agree/disagree; agrees/disagrees;
allowed/forbade; allow/forbid; allows/forbids; permitted/prohibited; supported/opposed; support/oppose; supports/opposes; supporters/opponents;
admitted/denied; admit/deny; confirmed/denied; confirm/deny; confirms/denies; arrived/departed; arrival/departure; entered/left; joined/left;
bought/sold; buy/sell; buys/sells; buyer/seller; borrowed/lent; gave/received; give/receive; sent/received; taught/learned; teacher/student;
parent/child; father/son; mother/daughter; father/mother; son/daughter; brother/sister; husband/wife; king/queen; prince/princess;
actor/actress; man/woman; men/women; boy/girl; boys/girls; male/female; he/she; his/her; him/her; uncle/aunt; nephew/niece; born/died;
birth/death; alive/dead; living/dead; married/divorced; guilty/innocent; guilty/not guilty; convicted/acquitted; arrested/released;
hired/fired; appointed/dismissed; employed/unemployed; promoted/demoted; gained/lost; gain/loss; gains/losses; profit/loss; profits/losses;
earned/lost; spent/saved; cheap/expensive; cheaper/more expensive; free/paid; public/private; domestic/foreign; national/international;
local/global; urban/rural; legal/illegal; legally/illegally; lawful/unlawful; official/unofficial; formal/informal; natural/artificial;
common/rare; commonly/rarely; often/rarely; often/seldom; always/never; usually/rarely; frequently/rarely; sometimes/never; ever/never;
all/none of the; all/some; some/all; many/few; most/few; every/no; everyone/no one; everybody/nobody; everything/nothing; both/neither of;
several/no; only/not only; possible/impossible; able/unable; likely/unlikely; probable/improbable; certain/uncertain; necessary/unnecessary;
important/unimportant; significant/insignificant; popular/unpopular; famous/unknown; known/unknown; similar/different; same/different;
equal/unequal; true/false; correct/incorrect; right/wrong; accurate/inaccurate; real/fake; positive/negative; positively/negatively;
active/inactive; safe/dangerous; safer/more dangerous; healthy/sick; happy/sad; friendly/hostile; friend/enemy; allies/enemies; ally/enemy;
peace/war; attack/defense; attacked/defended; attacking/defending; offense/defense; built/demolished; built/destroyed; created/destroyed;
constructed/demolished; founded/dissolved; established/abolished; introduced/abolished; expanded/shrank; expansion/contraction; grew/shrank;
growing/shrinking; growth/decline; improved/worsened; improve/worsen; improvement/deterioration; raised/lowered; raise/lower; added/removed;
add/remove; included/excluded; include/exclude; includes/excludes; including/excluding; remembered/forgot; found/lost; hidden/visible;
visible/invisible; clear/unclear; simple/complex; simple/complicated; easy/difficult; easily/with difficulty; easier/harder; full/empty;
complete/incomplete; completed/abandoned; finished/abandoned; continued/stopped; continue/stop; continues/stops; remained/left; stayed/left;
permanent/temporary; permanently/temporarily; major/minor; majority/minority; main/secondary; primary/secondary; minimum/maximum; at least/at most;
more than/less than; up to/at least; over/less than; ancient/modern; traditional/modern; summer/winter; spring/autumn; morning/evening;
day/night; daily/weekly; weekly/monthly; monthly/yearly; annual/monthly; single/double; once/twice; half/double; twice/three times;
first/second; second/third; third/fourth; fourth/fifth; one/two; two/three; three/five; four/six; five/four; six/eight; seven/nine; ten/twelve;
million/billion; billion/million; thousand/million; hundred/thousand; million/thousand; miles/kilometers; kilometers/meters; feet/meters;
meters/centimeters; inches/feet; pounds/kilograms; tons/pounds; hours/days; days/weeks; weeks/months; months/years; years/months; years/decades;
minutes/hours; seconds/minutes; dollars/euros; percent/percentage points; gold/silver; silver/bronze; black/white; red/blue; blue/green;
green/yellow; dark/bright; water/oil; land/sea; president/vice president; democratic/republican; democrat/republican; liberal/conservative;
left-wing/right-wing; christian/muslim; catholic/protestant; praised/criticized; praise/criticism; positive/mixed; loved/hated; likes/dislikes;
like/dislike; respected/despised; trusted/distrusted; optimistic/pessimistic; voluntary/forced; voluntarily/by force; accidentally/deliberately;
accidental/intentional; directly/indirectly; direct/indirect; together/separately; jointly/separately; united/divided; alone/together;
despite/because of; although/because; because/although; with/without; for/against; from/to; to/from; into/out of; could/could not; may/will;
might/will; could/will; can/must; should/must; will/might; must/may; considered/confirmed; proposed/approved; plans/refuses; planned/refused;
expected/unexpected; announced/denied; claimed/proved; suggested/proved; possibly/definitely; reportedly/certainly; partly/entirely;
partially/completely; slightly/greatly; nearly/exactly; almost/more than; about/exactly; mostly/entirely; mainly/exclusively; primarily/exclusively;
"""

def _pairs(text, separator, both):
    out = {}
    for item in text.replace("\n", " ").split(";"):
        if separator in item:
            a, b = (x.strip() for x in item.split(separator, 1))
            out.setdefault(a, []).append(b)
            if both:
                out.setdefault(b, []).append(a)
    return out


SYNONYMS = _pairs(_SYNONYMS, "=", False)
for _word in "has about around part also near head new old hill show play left rose fell cut since while member total group".split():
    SYNONYMS.pop(_word, None)  # too often another word
ANTONYMS = _pairs(_ANTONYMS, "/", True)
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
CONTRACTIONS = {"is not": "isn't", "are not": "aren't", "was not": "wasn't", "were not": "weren't", "do not": "don't",
                "does not": "doesn't", "did not": "didn't", "has not": "hasn't", "have not": "haven't", "had not": "hadn't",
                "will not": "won't", "would not": "wouldn't", "cannot": "can't", "could not": "couldn't", "it is": "it's",
                "that is": "that's", "he is": "he's", "she is": "she's", "they are": "they're", "we are": "we're",
                "I am": "I'm", "you are": "you're", "I have": "I've", "they have": "they've", "we have": "we've"}
CHAT = ["Yes, ", "Yeah, ", "Well, ", "I think ", "I heard that ", "I read that ", "Did you know that ", "Actually, ", "Oh yes, ",
        "That's right, ", "It seems that ", "I believe ", "Sure! ", "Wow, ", "Yes! ", "I know that ", "Right, ", "So ", "Fun fact: ",
        "Apparently ", "According to the text, ", "The document says that ", "As far as I know, ", "Based on the context, ",
        "I see, ", "Oh, ", "Hmm, ", "It is said that ", "Interestingly, ", "In short, ", "No, ", "Great question! ", "Indeed, "]
CHAT_TAILS = [" Isn't that cool?", " Pretty interesting.", " Have you heard of it?", " I find that interesting.", " What do you think?",
              ", you know.", ", right?", ", I think.", " That's amazing!", " Do you like it?"]
UNSAID = [  # first-person and invented remarks that no context supports
    "I love it, I watch it every weekend with my family.", "I have never been there, but my brother has.", "I grew up listening to it.",
    "I went there last summer and it was great.", "My favourite is still the first one.", "I used to play it in college.",
    "I don't know, I have not seen it yet.", "My dad told me about it when I was a kid.", "I think it is overrated, to be honest.",
    "It is one of the most popular in the world.", "It was the first of its kind.", "It has won many awards since then.",
    "I would like to try it one day, do you?", "They are planning a new one for next year.", "I am a big fan, I have been for years.",
    "It cost a lot of money back then.", "Many people don't know that.", "I met him once at an airport.", "She is my favourite actress.",
    "I have two of them at home.", "It is very expensive nowadays.", "I saw it three times in the theater.", "My kids love it.",
    "It is said to be the best in the country.", "He later became a teacher.", "It was a huge success from the start."]
ADJUNCTS = ["in {year}", "in {month} {year}", "since {year}", "for {n} years", "for the first time", "after a long dispute",
            "at the age of {n}", "on behalf of the government", "together with two partners", "despite strong criticism",
            "because of high costs", "without any warning", "in front of a large crowd", "for ${n} million", "with the help of volunteers",
            "by a wide margin", "twice in a row", "against the advice of experts", "in order to save money", "as a gift",
            "under a new name", "in a small village", "at a conference in {place}", "near {place}", "in {place}", "on {day}",
            "on live television", "for health reasons", "according to a survey", "with a loan from a bank", "as planned",
            "more than {n} times", "during the war", "with great success", "after {n} months of work", "to the surprise of many"]
ADJECTIVES = ("first second famous controversial former late wealthy French German Italian British American Canadian Chinese Indian "
              "Japanese young elderly popular award-winning independent state-owned privately-owned annual secret temporary permanent "
              "unsuccessful expensive free small large new old abandoned well-known local national international").split()
PLACES = ("Paris London Berlin Tokyo Madrid Rome Chicago Boston Texas Toronto Sydney Mumbai Cairo Moscow Brazil Kenya Norway "
          "Vienna Dublin Seattle Florida Mexico Poland Sweden Lisbon Athens").split()
DETERMINED_VERBS = """announced bought sold founded directed produced wrote designed visited attacked defeated married joined left opened
closed launched released reviewed recorded rejected supported opposed acquired funded banned praised criticized invented discovered painted
built destroyed hosted cancelled won lost signed published edited translated trained hired dismissed sued replaced inspired influenced
interviewed arrested rescued elected nominated appointed performed sponsored managed owned rented borrowed copied""".split()
