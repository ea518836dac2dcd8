//! Every language once, and what is no text.

use super::*;
use crate::eval::cpu::{between, spent};

/// Article 1 of the declaration of human rights, or a sentence of its own where neighbours share that one.
const SENTENCES: &[(&str, &str)] = &[
    ("afr", "Alle menslike wesens word vry, met gelyke waardigheid en regte, gebore."),
    ("ara", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق."),
    ("aze", "Bütün insanlar ləyaqət və hüquqlarına görə azad və bərabər doğulurlar."),
    ("bel", "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах."),
    ("ben", "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।"),
    (
        "bos",
        "Također, historija Sarajeva i cijele Bosne i Hercegovine uopće nije jednostavna, a Bošnjaci to dobro znaju.",
    ),
    ("bul", "Всички хора се раждат свободни и равни по достойнство и права."),
    ("cat", "Tots els éssers humans neixen lliures i iguals en dignitat i en drets."),
    ("ces", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv."),
    ("cmn", "人人生而自由，在尊严和权利上一律平等。"),
    ("cym", "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau."),
    ("dan", "Alle mennesker er født frie og lige i værdighed og rettigheder."),
    ("deu", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."),
    ("ell", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα."),
    ("eng", "All human beings are born free and equal in dignity and rights."),
    ("epo", "Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj."),
    ("est", "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt."),
    ("eus", "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela."),
    ("fin", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan."),
    ("fra", "Tous les êtres humains naissent libres et égaux en dignité et en droits."),
    ("gle", "Saolaítear na daoine uile saor agus comhionann ina ndínit agus ina gcearta."),
    ("guj", "પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે."),
    ("heb", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם."),
    ("hin", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।"),
    ("hrv", "Tko želi znati što se događalo u Hrvatskoj prošloga tjedna, neka pričeka izvješće u kolovozu."),
    ("hun", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van."),
    ("hye", "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։"),
    ("ind", "Kami bisa bekerja di kota karena pemerintah Indonesia sudah menyediakan uang dan kantor."),
    ("isl", "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum."),
    ("ita", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti."),
    ("jpn", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
    ("kat", "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით."),
    ("kaz", "Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып дүниеге келеді."),
    ("kor", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
    ("lat", "Omnes homines dignitate et iure liberi et pares nascuntur."),
    ("lav", "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās."),
    ("lit", "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis."),
    ("lug", "Abantu bazaalibwa nga balina eddembe n'obuyinza ebyenkanankana."),
    ("mar", "सर्व मानवी व्यक्ति जन्मतःच स्वतंत्र आहेत व त्यांना समान प्रतिष्ठा व समान अधिकार आहेत."),
    ("mkd", "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права."),
    ("mon", "Хүн бүр төрж мэндлэхдээ эрх чөлөөтэй, адилхан нэр төртэй, ижил эрхтэй байдаг."),
    ("mri", "E tauriterite ana hoki nga mana me nga tika o nga tangata katoa."),
    ("msa", "Semua manusia dilahirkan bebas dan samarata dari segi kemuliaan dan hak-hak."),
    ("nld", "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren."),
    ("nno", "Alle menneske er fødde til fridom og med same menneskeverd og menneskerettar."),
    ("nob", "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter."),
    ("pan", "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ, ਸ਼ਾਨ ਅਤੇ ਹੱਕਾਂ ਦੇ ਪੱਖੋਂ ਜਨਮ ਤੋਂ ਹੀ ਆਜ਼ਾਦ ਹੈ।"),
    ("pes", "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند."),
    ("pol", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw."),
    ("por", "Todos os seres humanos nascem livres e iguais em dignidade e em direitos."),
    ("ron", "Toate ființele umane se nasc libere și egale în demnitate și în drepturi."),
    ("rus", "Все люди рождаются свободными и равными в своем достоинстве и правах."),
    ("slk", "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv."),
    ("slv", "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice."),
    ("sna", "Vanhu vese vanoberekwa vakasununguka uyewo vakaenzana pahunhu nekodzero dzavo."),
    ("som", "Aadanaha dhammaantiis wuxuu dhashaa isagoo xor ah kana siman xagga sharafta iyo xuquuqada."),
    ("sot", "Batho bohle ba tswetswe ba lokolohile mme ba lekana ka botho le ditokelo."),
    ("spa", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."),
    ("sqi", "Të gjithë njerëzit lindin të lirë dhe të barabartë në dinjitet dhe në të drejta."),
    ("srp", "Сва људска бића рађају се слободна и једнака у достојанству и правима."),
    ("swa", "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa."),
    ("swe", "Alla människor är födda fria och lika i värde och rättigheter."),
    ("tam", "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்."),
    ("tel", "ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు."),
    ("tgl", "Ang lahat ng tao'y isinilang na malaya at pantay-pantay sa karangalan at mga karapatan."),
    ("tha", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"),
    ("tsn", "Batho botlhe ba tsetswe ba gololosegile le go lekalekana ka seriti le ditshwanelo."),
    ("tso", "Vanhu hinkwavo va tswariwa va ri na ntshunxeko, va ringana hi xindzhuti ni timfanelo."),
    ("tur", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar."),
    ("ukr", "Всі люди народжуються вільними і рівними у своїй гідності та правах."),
    ("urd", "تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔"),
    ("vie", "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi."),
    ("xho", "Bonke abantu bazalwa bekhululekile belingana ngesidima nangokweemfanelo."),
    ("yor", "Gbogbo ènìyàn ni a bí ní òmìnira; iyì àti ẹ̀tọ́ kọ̀ọ̀kan sì dọ́gba."),
    ("zul", "Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo."),
    // Scripts of one language, without statistics.
    ("amh", "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።"),
    ("kan", "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ."),
    ("mal", "മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും സ്വാതന്ത്ര്യത്തോടുംകൂടി ജനിച്ചവരാണ്."),
    ("sin", "සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත."),
    ("yid", "יעדער מענטש ווערט געבוירן פֿרײַ און גלײַך אין כּבֿוד און רעכט."),
];

fn guess(text: &str) -> Guess {
    identify(text).unwrap()
}

#[test]
fn every_language_is_identified() {
    let wrong: Vec<String> = SENTENCES
        .iter()
        .map(|(code, text)| (code, guess(text)))
        .filter(|(code, guess)| guess.code != Some(code))
        .map(|(code, guess)| format!("{code} as {:?} ({:.2})", guess.code, guess.probability))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(SENTENCES.len() >= 75);
}

#[test]
fn what_is_sure_is_right_and_most_sentences_are_sure() {
    let sure = SENTENCES.iter().filter(|(_, text)| guess(text).is_sure).count();
    assert!(sure * 10 >= SENTENCES.len() * 8, "{sure} of {}", SENTENCES.len());
}

#[test]
fn what_is_no_text_is_not_told() {
    for text in [
        "",
        " \n\t",
        "42",
        "Paris",
        "Paris.",
        "OK",
        "?!…",
        "\u{0}\u{1}\u{fffd}",
        "😀😀😀 👩‍👩‍👧",
        "https://example.org/the-way-of-the-world",
        "`let the = of + and;`",
        "```\nfor the of and in the house do\n```",
        "<div class=\"the one\">",
        "the@of.and 17 #that",
        "é",
        "ß ß ß",
    ] {
        assert!(!guess(text).is_sure, "{text}: {:?}", guess(text));
    }
}

#[test]
fn mixed_text_is_not_told() {
    for text in [
        "привет the world of words",
        "How many people live in the capital of the country? Die Hauptstadt hat mehr als zwei Millionen Einwohner.",
        "Los seres humanos nacen libres e iguales en dignidad. Alle mensen worden vrij en gelijk geboren.",
    ] {
        assert!(!guess(text).is_sure, "{text}: {:?}", guess(text).code);
    }
}

#[test]
fn names_and_code_inside_do_not_count() {
    for (code, text) in [
        ("rus", "Компания OpenAI выпустила модель GPT-4 в марте, сообщает Reuters."),
        ("jpn", "Python の list は append() で要素を追加できます。"),
        (
            "deu",
            "Rufen Sie `the_quick_brown_fox()` auf, siehe https://example.com/how-to-do-that für die Einzelheiten.",
        ),
        ("cmn", "請問台灣的首都有多少人居住？"),
    ] {
        assert_eq!(guess(text).code, Some(code), "{text}");
    }
}

#[test]
fn a_long_text_is_read_from_its_beginning_and_the_same_each_time() {
    let long = "Все люди рождаются свободными и равными в своем достоинстве и правах. ".repeat(20_000);
    assert_eq!(guess(&long).code, Some("rus"));
    let one_word = "a".repeat(1 << 20);
    assert_eq!(guess(&one_word), guess(&one_word));
    for (_, text) in SENTENCES {
        assert_eq!(guess(text), guess(text));
    }
}

#[test]
fn short_texts_are_quick() {
    guess("The table is opened at the first use.");
    let begun = spent();
    SENTENCES.iter().for_each(|(_, text)| drop(guess(text)));
    let each = between(begun, spent()) / SENTENCES.len() as u32;
    // Half a millisecond is the aim of a release build alone on its core; this one is neither.
    assert!(each.as_millis() < 50, "{each:?} a text");
}
