//! What kind of thing a question asks for, and whether a text holds one.

use super::words::{self, Word};

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// How many, how much.
    Number,
    /// How heavy.
    Weight,
    /// What it costs.
    Price,
    /// How long.
    Duration,
    /// When.
    Date,
    /// Who, where.
    Name,
}

/// Words that ask for a kind, in lower case, blanks around them.
const ASKING: &[(Kind, &[&str])] = &[
    (
        Kind::Duration,
        &[
            " how long ",
            " wie lange ",
            " cuánto tiempo ",
            " cuánto dura",
            " combien de temps ",
            " quanto tempo ",
            " quanto dura",
            "多久",
            "多长时间",
            "どのくらいの期間",
            "どれくらいの期間",
            "何年間",
            "何日間",
            " как долго ",
            " сколько времени ",
            " сколько длится ",
            " كم من الوقت ",
            " كم المدة ",
            " ما مدة ",
            " ما هي مدة ",
        ],
    ),
    (
        Kind::Date,
        &[
            " when ",
            " what year ",
            " which year ",
            " what date ",
            " what day ",
            " which day ",
            " wann ",
            " cuándo ",
            " quand ",
            " quando ",
            " qué año ",
            " qué fecha ",
            " quelle année ",
            " quelle date ",
            " que ano ",
            " que data ",
            " welchem jahr ",
            " welches datum ",
            " quale anno ",
            " che anno ",
            "什么时候",
            "何时",
            "哪年",
            "哪一年",
            "几月",
            "いつ",
            "何年",
            "何月",
            " когда ",
            " каком году ",
            " какой год ",
            " متى ",
            " أي عام ",
            " أي سنة ",
            " أي تاريخ ",
        ],
    ),
    (
        Kind::Weight,
        &[
            " how heavy ",
            " weigh ",
            " weighs ",
            " wie schwer ",
            " wiegt ",
            " wiegen ",
            " pesa ",
            " pesan ",
            " pesano ",
            " pesam ",
            " pèse ",
            " pèsent ",
            "多重",
            " весит ",
            " весят ",
        ],
    ),
    (
        Kind::Price,
        &[
            " cost ",
            " costs ",
            " kostet ",
            " kosten ",
            " cuesta ",
            " cuestan ",
            " coûte ",
            " coûtent ",
            " custa ",
            " custam ",
            " costa ",
            " costano ",
            "多少钱",
            " стоит ",
            " стоят ",
        ],
    ),
    (
        Kind::Number,
        &[
            " how many ",
            " how much ",
            " how old ",
            " how far ",
            " how often ",
            " how tall ",
            " how high ",
            " what percent",
            " what number ",
            " which number ",
            " wie viel",
            " wieviel",
            " wie oft ",
            " wie hoch ",
            " wie alt ",
            " wie groß ",
            " cuánt",
            " cuant",
            " combien ",
            " quanto",
            " quanta",
            " quanti",
            " quante ",
            "多少",
            "几个",
            "几名",
            "多大",
            "いくつ",
            "何人",
            "いくら",
            "何個",
            " сколько ",
            " كم ",
        ],
    ),
    (
        Kind::Name,
        &[
            " who ",
            " whom ",
            " whose ",
            " where ",
            " wer ",
            " wen ",
            " wem ",
            " wo ",
            " quién",
            " dónde ",
            " qui ",
            " où ",
            " quem ",
            " onde ",
            " chi ",
            " dove ",
            "谁",
            "哪里",
            "在哪",
            "哪儿",
            "誰",
            "どこ",
            " кто ",
            " кого ",
            " кому ",
            " где ",
            " من هو ",
            " من هي ",
            " من الذي ",
            " أين ",
        ],
    ),
];

/// Words for lengths of time, and other lengths.
const TIME_UNITS: &str = "metre|metres|meter|meters|m|km|kilometres|kilometers|feet|miles|mile|inches|metern|metros|mètres|metri|cm|mm|\
    second|seconds|minute|minutes|hour|hours|day|days|week|weeks|month|months|year|years|decade|decades|\
    sekunden|minuten|stunde|stunden|tag|tage|tagen|woche|wochen|monat|monate|monaten|jahr|jahre|jahren|\
    segundos|minutos|hora|horas|día|días|semana|semanas|mes|meses|año|años|secondes|heure|heures|jour|\
    jours|semaine|semaines|mois|an|ans|année|années|dia|dias|mês|ano|anos|ore|giorno|giorni|settimana|\
    settimane|mese|mesi|anno|anni|min|h|century|centuries|年|月|日|天|周|週|时|時|分|秒|米|год|года|лет|месяц|месяца|месяцев|\
    день|дня|дней|неделя|недели|недель|неделю|час|часа|часов|минута|минуты|минут|секунд|секунды|век|века|веков|метр|метра|метров|\
    километр|километра|километров|км|سنة|سنوات|عام|عاما|أعوام|شهر|شهرا|أشهر|شهور|يوم|يوما|أيام|أسبوع|أسابيع|ساعة|ساعات|دقيقة|دقائق|ثانية|\
    ثوان|قرن|قرون|متر|مترا|أمتار|كيلومتر|كيلومترا|كم";

/// Words and signs for weights, for money, and for none.
const WEIGHTS: &str = "kg|g|mg|gram|grams|gramme|grammes|gramm|gramos|gramas|grammi|kilo|kilos|kilogram|kilograms|kilogramm|kilogramme|kilogrammes|\
    kilogramos|kilogramas|chilo|chili|chilogrammi|pound|pounds|lb|lbs|pfund|libras|livres|ounce|ounces|oz|onzas|ton|tons|tonne|tonnen|tonnes|\
    toneladas|tonnellate|t|stone|zentner|quintal|公斤|千克|克|吨|кг|г|грамм|грамма|граммов|килограмм|килограмма|килограммов|тонна|тонны|тонн";
const MONEY: &str = "eur|euro|euros|usd|dollar|dollars|dólares|gbp|pound|pounds|pence|chf|franc|francs|franken|jpy|yen|cny|yuan|rmb|brl|real|reais|\
    cent|cents|centimes|centavos|céntimos|centesimi|rappen|peso|pesos|rupees|kr|元|块|рубль|рубля|рублей|руб";
const FREE: &str = "free|gratis|kostenlos|gratuit|gratuite|gratuito|gratuita|grátis|бесплатно|免费";
const SIGNS_OF_MONEY: [char; 6] = ['€', '$', '£', '¥', '₽', '₹'];

/// Words for points in time besides numbers.
const TIMES: &str = "january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|\
    jun|jul|aug|sep|sept|oct|nov|dec|monday|tuesday|wednesday|thursday|friday|saturday|sunday|januar|\
    februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|\
    sonntag|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|\
    lunes|martes|miércoles|jueves|viernes|sábado|domingo|janvier|février|mars|avril|juin|juillet|août|\
    septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janeiro|\
    fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|segunda|terça|quarta|quinta|\
    sexta|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|century|jahrhundert|\
    siglo|siècle|noon|midnight|daily|weekly|annually|monthly|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|\
    ноября|декабря|понедельник|вторник|среда|среду|четверг|пятница|пятницу|суббота|субботу|воскресенье|век|веке|يناير|فبراير|مارس|أبريل|\
    مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد|القرن";

/// A number of another kind: neither a time nor a length, or no weight, or no money.
const UNLIKELY: f32 = -0.5;

/// What kind of thing a question asks for, where its words tell.
pub(super) fn asked(question: &str) -> Option<Kind> {
    let lower = question.to_lowercase().replace(['¿', '?', ',', '.', '!', ':', '؟', '？', '。', '،'], " ");
    let lower = format!(" {lower} ");
    // "How many of them cost more?"
    let counts = COUNTING.iter().any(|sign| lower.contains(sign));
    let mut kinds = ASKING.iter().filter(|(kind, _)| !counts || !matches!(kind, Kind::Weight | Kind::Price));
    kinds.find(|(_, words)| words.iter().any(|word| lower.contains(word))).map(|(kind, _)| *kind)
}

impl Kind {
    /// The same of a cell of a table, whose first word has a capital for no other reason than that it is a name.
    pub(super) fn held_by_cell(self, cell: &str, asked: &[Word<'_>]) -> f32 {
        let named = self == Kind::Name && words::telling(cell).first().is_some_and(|word| is_name(word.text));
        // What a number is of, its column may say.
        let plain = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | ' ');
        let bare = matches!(self, Kind::Weight | Kind::Price) && !cell.is_empty() && cell.chars().all(plain);
        if named || bare { 1.0 } else { self.held(cell, asked) }
    }

    /// 1 where a text holds what is asked for beside the question's own words, −1 where it does not, 0 where it may.
    pub(super) fn held(self, text: &str, asked: &[Word<'_>]) -> f32 {
        let all = words::telling(text);
        let fresh: Vec<&Word<'_>> = all
            .iter()
            .skip(usize::from(self == Kind::Name))
            .filter(|word| !asked.iter().any(|own| own.text.eq_ignore_ascii_case(word.text)))
            .collect();
        let number = fresh.iter().any(|word| is_number(word.text));
        let numbered = number || text.contains(|letter: char| letter.is_ascii_digit());
        match self {
            Kind::Number if number => 1.0,
            Kind::Weight if numbered && measures(text, WEIGHTS) => 1.0,
            Kind::Price if numbered && (measures(text, MONEY) || text.contains(SIGNS_OF_MONEY)) => 1.0,
            Kind::Price if measures(text, FREE) => 1.0,
            Kind::Weight | Kind::Price if numbered => UNLIKELY,
            Kind::Name if fresh.iter().any(|word| is_name(word.text)) => 1.0,
            // Names cannot be told from other words where no letter is a capital.
            Kind::Name if text.chars().any(char::is_alphabetic) && !text.chars().any(has_case) => 0.0,
            Kind::Number | Kind::Weight | Kind::Price | Kind::Name => -1.0,
            Kind::Duration if spans(text) => 1.0,
            Kind::Date if fresh.iter().any(|word| is_time(word.text)) => 1.0,
            Kind::Duration | Kind::Date if number => UNLIKELY,
            Kind::Duration | Kind::Date => -1.0,
        }
    }
}

/// Whether a word may be a name: one with a capital that is no sign of a currency or a unit.
fn is_name(word: &str) -> bool {
    const SIGNS: &[&str] =
        &["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "BRL", "W", "V", "A", "C", "F", "KG", "MB", "GB"];
    word.starts_with(char::is_uppercase) && !SIGNS.contains(&word)
}

fn has_case(letter: char) -> bool {
    letter.is_lowercase() || letter.is_uppercase()
}

/// Whether a word is a number, in digits or written out.
pub(super) fn is_number(word: &str) -> bool {
    words::is_number(word) || words::is_number_word(&word.to_lowercase())
}

/// A year, a date or the name of a time.
fn is_time(word: &str) -> bool {
    let year = word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1000..2200).contains(&year));
    year || is_time_name(&word.to_lowercase())
        || word.contains([':', '.']) && word.chars().filter(char::is_ascii_digit).count() > 2
        || word.contains('-') && words::is_number(word)
}

/// Whether a word in lower case names a time: a month, a day of the week, or several of them.
pub(super) fn is_time_name(lower: &str) -> bool {
    let one = lower.strip_suffix('s').unwrap_or(lower);
    TIMES.split('|').any(|time| time == lower || time == one)
}

/// Whether a number of seconds, days, years or metres is said.
fn spans(text: &str) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    let words: Vec<&str> = text.unicode_words().collect();
    let unit = |word: &str| TIME_UNITS.split('|').any(|unit| unit == word.to_lowercase());
    words.iter().enumerate().any(|(at, word)| {
        let next = words[at + 1..].iter().take(2);
        (is_number(word)
            || matches!(
                word.to_lowercase().as_str(),
                "one" | "a" | "an" | "ein" | "eine" | "un" | "une" | "una" | "um" | "uma"
            ))
            && next.into_iter().any(|word| unit(word))
    })
}

/// Whether a text has one of these units, as a word or right behind a number: "19.5kg".
fn measures(text: &str, units: &str) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    let bare = |word: &str| {
        word.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','))
            .to_lowercase()
    };
    text.unicode_words().map(bare).any(|word| units.split('|').any(|unit| unit == word))
        // Where words are not told apart, the sign stands behind the number.
        || text.contains(|letter: char| is_han(letter) && units.split('|').any(|unit| unit.chars().eq([letter])))
}

fn is_han(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

/// The place in a list that is asked for: "the second step".
pub(super) fn ordinal(question: &str) -> Option<u32> {
    const NAMES: &[&str] = &[
        "first 1st erste ersten erster primer primero primera premier première primeiro primeira primo prima",
        "second 2nd zweite zweiten zweiter segundo segunda deuxième seconde secondo seconda",
        "third 3rd dritte dritten dritter tercer tercero tercera troisième terceiro terceira terzo terza",
        "fourth 4th vierte vierten vierter cuarto cuarta quatrième quarto quarta",
        "fifth 5th fünfte fünften fünfter quinto quinta cinquième",
    ];
    const STEPS: &str = "step|stage|point|item|rule|schritt|punkt|regel|paso|punto|regla|étape|point|règle|passo|ponto|regra|fase|phase";
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|character: char| !character.is_alphanumeric()).collect();
    words.windows(2).find_map(|pair| {
        let place = NAMES.iter().position(|names| names.split(' ').any(|name| name == pair[0]))?;
        STEPS.split('|').any(|step| step == pair[1]).then_some(place as u32 + 1)
    })
}

/// The word behind "which" or "what": what is sought.
pub(super) fn sought(question: &str) -> Option<String> {
    const ASKING: &str = "which|what|welche|welcher|welches|welchen|welchem|quel|quelle|quels|quelles|qué|cuál|que|qual|quais|quale|quali";
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut pairs = words.windows(2);
    let pair =
        pairs.find(|pair| ASKING.split('|').any(|asking| asking == pair[0]) && !words::is_empty(pair[1]))?;
    Some(words::stem(pair[1]))
}

/// How it is asked for something of a thing, in each language: the words before what is asked for, one of each, and the word behind it.
const OF: &[[&str; 4]] = &[
    ["what", "is|are|was|were", "the", "of|on|for"],
    ["wie|was|welches", "ist|sind|war|lautet|lauten|heißt", "der|die|das", "von|vom|des|der|für"],
    ["cuál|cuáles", "es|son|era|fue", "el|la|los|las", "de|del"],
    ["quel|quelle|quels|quelles", "est|sont|était", "le|la|les", "de|du|des"],
    ["qual|quais", "é|são|era|foi", "o|a|os|as", "de|do|da|dos|das"],
    ["qual|quali", "è|sono|era", "il|lo|la|i|gli|le", "di|del|dello|della|dei|degli|delle"],
];

/// The same before and behind what a thing is of: "¿De qué color es el coche?"
const OF_WHICH: &[[&str; 3]] = &[
    ["de", "qué", "es|son|era"],
    ["de", "quel|quelle", "est|sont|était"],
    ["de", "que", "é|são|era"],
    ["di", "che", "è|sono|era"],
];

/// The stem of what is asked about a thing: "warranty" in "What is the warranty on the headset?"
pub(super) fn attribute(question: &str) -> Option<String> {
    let lower = question.to_lowercase().replace("what's", "what is");
    // Elided articles stand before their noun: "l'autonomie d'un vélo", "qual è l'autonomia".
    let lower = lower.replace(['’', '\''], "e ").replace(['¿', '?', ',', '.'], " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is = |word: &str, any: &str| any.split('|').any(|one| one == word);
    let of = words.windows(5).find(|words| {
        OF.iter().any(|[ask, verb, article, behind]| {
            is(words[0], ask)
                && is(words[1], verb)
                && (is(words[2], article) || words[2] == "le")
                && is(words[4], behind)
        })
    });
    let of_which = || {
        words.windows(4).find(|words| {
            OF_WHICH
                .iter()
                .any(|[of, which, verb]| is(words[0], of) && is(words[1], which) && is(words[3], verb))
        })
    };
    let found = of.map(|words| words[3]).or_else(|| of_which().map(|words| words[2]))?;
    (!words::is_empty(found)).then(|| words::stem(found))
}

/// Whether a question asks where something is.
pub(super) fn asks_where(question: &str) -> bool {
    const ASKING: &str = "where|wo|dónde|où|onde|dove";
    let lower = question.to_lowercase();
    lower
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| ASKING.split('|').any(|asking| asking == word))
}

/// Words for whatever can be counted: what is done, or had, says more.
const ANYBODY: &str = "people|persons|person|personen|menschen|leute|personas|gente|personnes|gens|pessoas|persone|items|things|units";

/// What counting is asked by.
const COUNTING: &[&str] = &[
    "how many ",
    "wie viele ",
    "cuántos ",
    "cuántas ",
    "cuantos ",
    "cuantas ",
    "combien de ",
    "combien d'",
    "combien d’",
    "quantos ",
    "quantas ",
    "quanti ",
    "quante ",
    "number of ",
];

/// The stems of what is counted: the words right after "how many".
pub(super) fn counted(question: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    let Some(after) = COUNTING.iter().find_map(|sign| Some(lower.find(sign)? + sign.len())) else {
        return Vec::new();
    };
    let rest = &lower[after..];
    let mut counted: Vec<String> = Vec::new();
    let mut end = 0;
    for word in words::telling(rest) {
        let at = word.text.as_ptr() as usize - rest.as_ptr() as usize;
        let apart = !rest[end..at].trim().is_empty();
        let anybody = ANYBODY.split('|').any(|anybody| anybody == word.text);
        end = at + word.text.len();
        if !counted.is_empty() && apart || counted.len() == 2 {
            break;
        }
        if !anybody {
            counted.push(word.stem);
        }
    }
    counted
}

/// Whether a text says a number of one of these: "212 nurses", "nearly 40 registered nurses"; not "35 euros, nurses".
pub(super) fn counts(text: &str, counted: &[String]) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
    let year = |word: &str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    words.iter().enumerate().any(|(at, (start, word))| {
        let together =
            |next: usize| !text[*start + word.len()..next].contains([',', ';', ':', '.', '(', ')']);
        is_number(word)
            && !year(word)
            && words[at + 1..]
                .iter()
                .take(3)
                .any(|(next, other)| counted.contains(&words::stem(other)) && together(*next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_told_by_its_words() {
        assert_eq!(asked("How many cars?"), Some(Kind::Number));
        assert_eq!(asked("Wann war das?"), Some(Kind::Date));
        assert_eq!(asked("How long is the warranty?"), Some(Kind::Duration));
        assert_eq!(asked("Who won?"), Some(Kind::Name));
        assert_eq!(asked("Quem ganhou?"), Some(Kind::Name));
        assert_eq!(asked("Why?"), None);
        assert_eq!(ordinal("What is the second step?"), Some(2));
        assert_eq!(ordinal("Was ist der erste Schritt?"), Some(1));
        assert_eq!(ordinal("Who won first prize?"), None);
        assert_eq!(sought("To which city was it sent?"), Some(words::stem("city")));
        assert_eq!(sought("What was it?"), None);
    }

    #[test]
    fn what_is_asked_about_a_thing_is_told_in_six_languages() {
        for (question, told) in [
            ("What is the warranty on the headset?", "warranty"),
            ("What's the price of the Heron?", "price"),
            ("Wie lautet die Adresse der Werkstatt?", "Adresse"),
            ("¿Cuál es el peso del Delfín?", "peso"),
            ("¿De qué color es el Delfín?", "color"),
            ("Quelle est l'autonomie du vélo ?", "autonomie"),
            ("Quelle est la garantie d’un casque ?", "garantie"),
            ("Qual é o preço da bicicleta?", "preço"),
            ("Qual è l'autonomia della bici?", "autonomia"),
            ("Di che colore è la bici?", "colore"),
        ] {
            assert_eq!(attribute(question), Some(words::stem(told)), "{question}");
        }
        for question in
            ["What is the Heron?", "Who is the owner of it?", "¿Cuál es el más rápido?", "Was ist der Preis?"]
        {
            assert_eq!(attribute(question), None, "{question}");
        }
    }

    #[test]
    fn a_number_of_another_kind_is_unlikely_to_be_a_weight_or_a_price() {
        let held = |question: &str, text: &str| asked(question).unwrap().held(text, &[]);
        assert_eq!(held("How much does it weigh?", "It weighs 19.5kg."), 1.0);
        assert_eq!(held("Wie schwer ist es?", "Das Rad wiegt 19,5 kg."), 1.0);
        assert_eq!(held("Combien pèse le livre ?", "Le livre a 250 pages."), UNLIKELY);
        assert_eq!(held("Wie viel wiegt das Rad?", "Das Rad ist rot."), -1.0);
        assert_eq!(held("What does it cost?", "It is $12 a day."), 1.0);
        assert_eq!(held("Was kostet das Rad?", "Die Miete beträgt 12 Euro."), 1.0);
        assert_eq!(held("¿Cuánto cuesta?", "Tiene 3 plazas."), UNLIKELY);
        assert_eq!(held("多少钱？", "门票20元"), 1.0);
        assert_eq!(held("What does it cost?", "Entry is free."), 1.0);
        assert_eq!(held("What does it cost?", "It is a real bike."), -1.0);
        assert_eq!(asked("How many of the bikes cost more?"), Some(Kind::Number));
        assert_eq!(asked("How much does it weigh?").unwrap().held_by_cell("19.5", &[]), 1.0);
        assert_eq!(asked("How much does it cost?").unwrap().held_by_cell("3 seats", &[]), UNLIKELY);
    }

    #[test]
    fn texts_hold_what_is_asked_for() {
        let held = |kind: Kind, text: &str| kind.held(text, &[]);
        assert_eq!(held(Kind::Duration, "It lasts 24 months."), 1.0);
        assert_eq!(held(Kind::Duration, "Sie gilt zwei volle Jahre."), 1.0);
        assert_eq!(held(Kind::Duration, "It comes in 3 colours."), UNLIKELY);
        assert_eq!(held(Kind::Duration, "The cable is 12 metres long."), 1.0);
        assert_eq!(held(Kind::Date, "It was shipped on 2024-03-05."), 1.0);
        assert_eq!(held(Kind::Date, "It has 3 wheels."), UNLIKELY);
        assert_eq!(held(Kind::Date, "It rolls."), -1.0);
        assert_eq!(held(Kind::Name, "It was won by Denver."), 1.0);
        assert_eq!(held(Kind::Number, "It rolls."), -1.0);
        assert_eq!(held(Kind::Name, "2024-02-02"), -1.0);
        assert_eq!(held(Kind::Name, "249 EUR"), -1.0);
        assert_eq!(held(Kind::Name, "故宫"), 0.0);
    }

    #[test]
    fn what_is_counted_stands_beside_its_number() {
        let nurses = counted("How many nurses took part?");
        assert!(counts("In all, 212 nurses from nine wards were assigned.", &nurses));
        assert!(counts("Forty registered nurses came.", &nurses));
        assert!(!counts("The 2021 nurses survey was long.", &nurses));
        assert!(!counts("Nurses worked 12 hours.", &nurses));
        assert!(!counts("It costs 35 euros, nurses pay less.", &nurses));
        assert_eq!(counted("How many coots were counted?"), [words::stem("coots")]);
        assert_eq!(counted("How many people does it employ?"), [words::stem("employ")]);
        assert_eq!(counted("Wie viele rote Enten sind da?").len(), 2);
    }
}
