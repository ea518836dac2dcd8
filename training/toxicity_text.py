"""What happens to a text before it is tokenised (emoji become words, as the program does it from models/toxicity/emoji.tsv),
and the spelling noise that training adds.

WordPiece knows no emoji: each is [UNK]. `normalise` replaces them by words; look-alike letters become letters. The
table has one line per entry: code points in hex, a tab, the replacement. Words stand between spaces; a replacement that
begins with + is joined to its neighbours without spaces (+ alone deletes).

Usage: python toxicity_text.py OUTPUT.tsv
"""

import random
import re
import sys
import unicodedata

DELETED = [0xFE0E, 0xFE0F, 0x200B, 0x200D, 0x2060, 0x20E3, 0xAD, *range(0xE0020, 0xE0080)]
WORDS = """👨 man|👩 woman|👦 boy|👧 girl|👶 baby|👴 old man|👵 old woman|🧑 person|🧓 old person|👬 gay couple|👭 lesbian couple
👫 man and woman|💏 kiss|💑 couple|👪 family|👯 bunny girls|👳 person with turban|🧕 woman with headscarf|👲 man with chinese cap
👮 police officer|💂 guard|👷 construction worker|👸 princess|🤴 prince|👰 bride|🤵 groom|🎅 santa|🧔 man with beard|👱 blond person
🤰 pregnant woman|🤱 breastfeeding|💩 shit|🖕 middle finger|🤡 clown|🤮 vomit|🤢 disgusting|🤬 swearing|😡 angry|😠 angry|😤 furious
🔪 knife|🗡 stab|🔫 gun|💣 bomb|💥 explosion|🔥 fire|☠ death|💀 dead|⚰ coffin|🪓 axe|🧨 dynamite|🪦 grave|⚔ fight|🩸 blood|💉 injection
💊 pill|🤣 laughing|😂 laughing|😭 crying|😢 sad|🙄 rolling eyes|😒 annoyed|😍 in love|🥰 in love|😘 kiss|💋 kiss|😉 wink|😊 smiling
😀 happy|😃 happy|😄 happy|😁 happy|😆 laughing|😅 laughing|🙂 smiling|😇 angel|😎 cool|🤩 excited|🥳 party|😜 joking|🤪 crazy|😝 joking
🤔 thinking|🤨 doubtful|😐 neutral|😑 annoyed|😏 smirk|😬 awkward|🤥 liar|😴 sleep|😷 ill with mask|🤒 ill|🤕 hurt|🤧 sick|😱 scared
😨 scared|😳 embarrassed|🥺 please|😔 sad|😞 sad|😩 tired|😫 tired|🤯 shocked|👿 devil|😈 devil|👹 monster|👺 monster|👽 alien|👻 ghost
🤖 robot|❤ love|💛 love|💚 love|💙 love|💜 love|🧡 love|🖤 black heart|🤍 white heart|🤎 brown heart|💔 broken heart|💕 love|💖 love|💗 love
💓 love|💯 hundred percent|👍 good|👎 bad|👌 ok|✌ peace|🤞 good luck|🙏 praying|💪 strong|👊 punch|✊ fist|🤛 fist|🤜 fist|👏 applause
🙌 celebrate|👋 waving|🤝 handshake|🤷 shrug|🤦 facepalm|🙅 no|🙆 ok|🙋 raising hand|🙇 bowing|💁 sassy person|🙎 pouting person
🙍 frowning person|🏃 running|🚶 walking|💃 dancing|🏋 weightlifter|🏌 golfer|🚫 forbidden|⛔ forbidden|❌ no|❎ no|✖ no|✅ yes|✔ yes|❓ question
🗑 trash|🚮 trash|♿ disabled|🦽 wheelchair|🧏 deaf person|🦯 blind|🦻 hearing aid|✡ jew star of david|🕎 menorah|🕍 synagogue
☪ islam|🕌 mosque|🕋 kaaba|✝ christian cross|⛪ church|🛕 hindu temple|🕉 hindu|☸ buddhist|🌈 gay rainbow|⚧ transgender|♂ man|♀ woman
🚹 men|🚺 women|🚻 toilet|🚬 cigarette fag|🍆 eggplant penis|🍑 peach butt|💦 wet|🍌 banana|👅 tongue|🐒 monkey|🐵 monkey|🦍 gorilla|🙈 monkey
🙉 monkey|🙊 monkey|🐀 rat|🐁 mouse|🐖 pig|🐷 pig|🐽 pig|🐍 snake|🐕 dog|🐶 dog|🐩 poodle|🐈 cat|🐱 cat|🐮 cow|🐄 cow|🐪 camel|🐫 camel
🐐 goat|🐑 sheep|🐓 chicken|🐔 chicken|🦇 bat|🕷 spider|🪳 cockroach|🦠 virus|🐜 ant|🐛 bug|🐌 snail|🐢 turtle|🦊 fox|🐺 wolf|🐻 bear|🐳 whale
🐋 whale|🐘 elephant|🦧 orangutan|🌍 africa|🌎 america|🌏 asia|✈ plane|🚀 rocket|🏫 school|🏥 hospital|🏠 house|⛓ chains|🍚 rice|🍛 curry
🥡 chinese food|🌮 taco|🍔 burger|🍗 chicken|🍉 watermelon|🍳 cooking|💰 money|💸 money|💵 money|🤑 greedy|💤 sleeping|🧠 brain|👀 look
👁 eye|🎉 party|🎂 birthday|🎓 graduation|🏳 flag|🏴 flag|🏁 finish flag|⬛ black|⚫ black|⬜ white|⚪ white|🟤 brown|🟡 yellow
🔞 adults only|⚕ medical|⚖ judge|🌾 farmer|⭐ star|✨ sparkles|☀ sun|🌞 sun|🗿 stone face|🧟 zombie|🧛 vampire|💄 lipstick|💅 nails
🏻 light skin|🏼 light skin|🏽 brown skin|🏾 dark skin|🏿 dark skin|🏳🌈 gay pride flag|🏳⚧ trans pride flag"""
LETTERS = {"🅰": "a", "🅱": "b", "🅾": "o", "🅿": "p", "🆎": "ab", "ℹ": "i", "Ⓜ": "m", "🆖": "ng", "🆗": "ok", "🆒": "cool",
           "🆓": "free", "🆕": "new", "🆘": "sos", "🆙": "up", "🆚": "vs", "💲": "s", "❗": "!", "❕": "!", "‼": "!!", "❔": "?",
           "⁉": "!?", "⭕": "o", "♏": "m", "✝": None}
FLAGS = """AF afghanistan|AL albania|DZ algeria|AR argentina|AM armenia|AU australia|AT austria|AZ azerbaijan|BD bangladesh|BE belgium
BA bosnia|BR brazil|BG bulgaria|CA canada|CL chile|CN china|CO colombia|CM cameroon|CD congo|CI ivory coast|HR croatia|CU cuba|CY cyprus
CZ czech|DK denmark|EG egypt|ET ethiopia|EU europe|FI finland|FR france|GE georgia|DE germany|GH ghana|GR greece|GT guatemala|HT haiti
HU hungary|IS iceland|IN india|ID indonesia|IR iran|IQ iraq|IE ireland|IL israel|IT italy|JM jamaica|JP japan|JO jordan|KZ kazakhstan
KE kenya|KP north korea|KR south korea|KW kuwait|LB lebanon|LY libya|MY malaysia|ML mali|MA morocco|MX mexico|MZ mozambique|MM myanmar
NP nepal|NL netherlands|NZ new zealand|NG nigeria|NO norway|PK pakistan|PS palestine|PE peru|PH philippines|PL poland|PT portugal
QA qatar|RO romania|RU russia|RW rwanda|SA saudi arabia|SN senegal|RS serbia|SG singapore|SK slovakia|SO somalia|ZA south africa
ES spain|LK sri lanka|SD sudan|SE sweden|CH switzerland|SY syria|TW taiwan|TH thailand|TN tunisia|TR turkey|UG uganda|UA ukraine
AE emirates|GB britain|US america|VE venezuela|VN vietnam|YE yemen|ZM zambia|ZW zimbabwe"""
NAMED = [(0x1F300, 0x1F6FF), (0x1F7E0, 0x1F7EB), (0x1F900, 0x1FAFF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x23E9, 0x23FA)]
FOLDED = [(0x1D400, 0x1D7FF), (0xFF01, 0xFF5E), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x2460, 0x2468)]
SQUARED = [(0x1F150, "a"), (0x1F170, "a")]


def build():
    """{one or two characters: replacement}."""
    table = {}
    for first, last in NAMED:
        for point in range(first, last + 1):
            name = unicodedata.name(chr(point), "").lower()
            name = re.sub(r"\b(face|with|sign|symbol|heavy|of|emoji component)\b", " ", name).replace("-", " ")
            name = " ".join(name.split()[:4])
            if name:
                table[chr(point)] = name
    for first, last in FOLDED:
        for point in range(first, last + 1):
            folded = unicodedata.normalize("NFKC", chr(point))
            if folded != chr(point) and folded.isascii():
                table[chr(point)] = "+" + folded.lower()
    for start, letter in SQUARED:
        for i in range(26):
            table[chr(start + i)] = "+" + chr(ord(letter) + i)
    for i in range(26):
        table[chr(0x1F1E6 + i)] = "+" + chr(ord("a") + i)
    table.update({key: "+" + value for key, value in LETTERS.items() if value})
    table.update(entry.split(" ", 1) for entry in WORDS.replace("\n", "|").split("|"))
    for entry in FLAGS.replace("\n", "|").split("|"):
        code, name = entry.split(" ", 1)
        table["".join(chr(0x1F1E6 + ord(c) - ord("A")) for c in code)] = name
    table.update({chr(point): "+" for point in DELETED})
    return table


def write(path):
    lines = [f"{' '.join(f'{ord(c):X}' for c in key)}\t{value}\n" for key, value in sorted(build().items())]
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)


TABLE = build()
GONE = {point: None for point in DELETED}


def normalise(text):
    """First what is deleted, then the longest match (two characters, then one) from left to right."""
    if text.isascii():
        return text
    text, out, i = text.translate(GONE), [], 0
    while i < len(text):
        size = 2 if text[i:i + 2] in TABLE and i + 1 < len(text) else 1
        value = TABLE.get(text[i:i + size])
        if value is None:
            out.append(text[i])
        else:
            out.append(value[1:] if value.startswith("+") else f" {value} ")
        i += size
    return "".join(out)


# ------------------------------------------------------------------------------------------------------------ noise

LEET = {"a": "4@", "e": "3", "i": "1!", "o": "0", "s": "5$", "t": "7+", "l": "1", "b": "8", "g": "9"}
LETTER_EMOJI = {"a": "🅰️", "b": "🅱️", "o": "🅾️", "i": "ℹ️", "m": "Ⓜ️", "s": "💲", "p": "🅿️"}
COMMON = set("the a an of to and in is are was were you your they them this that it i my we our he she for on with at be".split())


def spoil(word, rng):
    """One word in another spelling."""
    kind, n = rng.randrange(12), len(word)
    at = rng.randrange(1, n - 1)
    if kind == 0:
        return word[:at] + word[at + 1:]
    if kind == 1:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 2:
        return word[:at] + word[at] * rng.randrange(2, 5) + word[at + 1:]
    if kind in (3, 4):
        return "".join(rng.choice(LEET[c]) if c in LEET and rng.random() < 0.6 else c for c in word.lower())
    if kind == 5:
        return " ".join(word)
    if kind == 6:
        return rng.choice(".-_*").join(word)
    if kind == 7:
        return word[0] + "".join(c for c in word[1:] if c.lower() not in "aeiou")
    if kind == 8:
        return "".join(rng.choice("*#-") if 0 < i < n - 1 and c.lower() in "aeiou" else c for i, c in enumerate(word))
    if kind == 9:
        return word[0] + "*" * (n - 2) + word[-1]
    if kind == 10:
        return "".join(LETTER_EMOJI.get(c.lower(), c) if rng.random() < 0.7 else c for c in word)
    return "#" + word


def noisy(text, rng):
    words = text.split(" ")
    spots = [i for i, w in enumerate(words) if w.isalpha() and len(w) > 2 and w.lower() not in COMMON]
    chance = rng.random()
    if chance < 0.08 and len(words) < 12:
        return "".join(words) if rng.random() < 0.5 else "#" + "".join(w.capitalize() for w in words)
    if chance < 0.2 and len(words) > 3:
        i = rng.randrange(len(words) - 1)
        return " ".join(words[:i] + [words[i] + words[i + 1]] + words[i + 2:])
    if chance < 0.24 and len(text) < 40:
        return " ".join(text)
    for i in rng.sample(spots, min(len(spots), rng.choice([1, 1, 2, 3]))):
        words[i] = spoil(words[i], rng)
    return " ".join(words)


if __name__ == "__main__":
    write(sys.argv[1])
