//! What a turn compares: "Compare the warranty of A and B", "Which is heavier, A or B?", "A vs B".

use super::words;
use crate::seams::answerer::Side;

/// Things compared at most; a longer list is a question about a list.
const MOST_SIDES: usize = 4;
/// Words before a "versus" at most.
const LONGEST_BEFORE: usize = 8;

/// The things that a text compares; `None` where it compares none.
pub(super) fn of(text: &str) -> Option<Vec<Side>> {
    const COMPARING: &str = "compare|compare the|contrast|comparison of|comparison between|difference between|\
        differences between|differ between|vergleiche|vergleich|vergleichen sie|unterschied zwischen|\
        unterschiede zwischen|unterscheidet sich zwischen|compara|comparar|comparación entre|\
        diferencia entre|diferencias entre|comparez|comparer|différence entre|différences entre|\
        comparaison entre|comparação entre|diferença entre|diferenças entre|confronta|confrontare|\
        differenza tra|differenza fra|differenze tra|differenze fra|сравни|сравните|сравнить|разница между|\
        различия между|отличие между|قارن بين|قارن|الفرق بين|الفروق بين|مقارنة بين";
    let text = text.trim().trim_end_matches(['?', '.', '!', ' ', '؟', '？', '。']);
    if let Some(sides) = unspaced(text) {
        return Some(sides);
    }
    let lower = text.to_lowercase();
    // Offsets of the lower-case text are used below, so both must have the same bytes.
    if lower.len() != text.len() {
        return None;
    }
    if let Some(sides) = told_apart(text, &lower) {
        return Some(sides);
    }
    let starts = |phrase: &str| {
        let at = lower.find(&format!("{phrase} "))?;
        let before = lower[..at].trim_end();
        (before.is_empty() || at > 0 && lower[..at].ends_with(' ')).then_some((at, at + phrase.len() + 1))
    };
    let found = COMPARING.split('|').filter_map(starts).max_by_key(|(_, end)| *end);
    let (body, aspect) = match found {
        Some((at, end)) => {
            // "the price difference between A and B": the price is what is compared.
            let before = words::telling(&text[..at]);
            let aspect: Vec<&str> =
                before.iter().map(|word| word.text).filter(|word| !is_polite(word)).collect();
            (&text[end..], aspect.join(" "))
        }
        None => {
            // A long question that mentions one thing versus another is about something else: "How does … explain A versus B?"
            let versus = [" versus ", " vs. ", " vs ", " contra ", " gegenüber "]
                .iter()
                .filter_map(|sign| lower.find(sign))
                .any(|at| lower[..at].split(' ').count() <= LONGEST_BEFORE);
            let choice = chosen_from(text, &lower)?;
            if !versus && choice.1.is_empty() {
                return None;
            }
            choice
        }
    };
    read(body, &aspect)
}

/// "How does A differ from B?", "Is A heavier than B?".
fn told_apart(text: &str, lower: &str) -> Option<Vec<Side>> {
    let first = lower.split(' ').next()?;
    let named = |side: &str| {
        words::telling(side)
            .iter()
            .any(|word| words::is_number(word.text) || word.text.starts_with(char::is_uppercase))
    };
    let (before, after, aspect) = if let (true, Some(at)) = (first == "how", lower.find(" differ from ")) {
        let before = text[..at].split_once(' ').map(|(_, rest)| rest.trim())?;
        let before = before.split_once(' ').map_or(before, |(_, rest)| rest);
        (before, &text[at + " differ from ".len()..], "")
    } else if let (true, Some(at)) = (matches!(first, "is" | "are" | "was" | "were"), lower.find(" than ")) {
        let (before, aspect) = text[..at].rsplit_once(' ')?;
        let before = before.split_once(' ').map(|(_, rest)| rest)?;
        (before.trim_end_matches(" more"), &text[at + " than ".len()..], aspect)
    } else {
        return None;
    };
    let (before, after) = (without_article(before), without_article(after));
    (named(before) && named(after))
        .then(|| [before, after].iter().map(|name| side(name, before, aspect)).collect())
}

/// The same where words have no blanks between them: "比较A和B", "AとBの違いは何ですか".
fn unspaced(text: &str) -> Option<Vec<Side>> {
    const STARTS: &[&str] = &["请比较", "比较一下", "比较", "对比一下", "对比"];
    const ENDS: &[&str] = &[
        "有什么区别",
        "有什么不同",
        "有何区别",
        "有何不同",
        "的区别是什么",
        "的不同之处",
        "的区别",
        "的差别",
        "を比較してください",
        "を比較して",
        "を比べてください",
        "を比べて",
        "の違いは何ですか",
        "の違いは",
        "の違いを教えてください",
        "の比較",
    ];
    const JOINS: &[char] = &['和', '与', '跟', '、', 'と'];
    let start = STARTS.iter().find_map(|start| text.strip_prefix(start));
    let end = ENDS.iter().find_map(|end| start.unwrap_or(text).strip_suffix(end));
    let body = end.or(start)?.trim();
    // "Aurora的重量和Borealis的重量": what is asked stands in each side by itself.
    let names: Vec<&str> = body.split(JOINS).map(str::trim).filter(|name| !name.is_empty()).collect();
    let sides = || names.iter().map(|name| side(name, names[0], "")).collect();
    (2..=MOST_SIDES).contains(&names.len()).then(sides)
}

fn is_polite(word: &str) -> bool {
    const POLITE: &str = "please|can|could|you|give|show|explain|describe|main|big|key|bitte|kannst|könnten|explica|explique|\
        puedes|pouvez|peux|pode|puoi|favor|make|list|there|difference|differences|gibt|hay|existe|\
        comparison|quel|quelle|principal|principales|principaux";
    POLITE.split('|').any(|known| known == word.to_lowercase())
}

/// "Which is heavier, A or B?", "A vs B": what is compared, and in what respect.
fn chosen_from<'a>(text: &'a str, lower: &str) -> Option<(&'a str, String)> {
    const CHOOSING: &str = "which|what|who|welche|welcher|welches|was|wer|cuál|qué|quién|lequel|laquelle|quel|quelle|qui|qual|\
        quem|quale|chi|is|does";
    const OR: &[&str] = &[" or ", " oder ", " o ", " ou "];
    let first = lower.split(|character: char| !character.is_alphanumeric()).find(|word| !word.is_empty())?;
    if CHOOSING.split('|').any(|known| known == first) && OR.iter().any(|or| lower.contains(or)) {
        let comma = text.find([',', ':'])?;
        let aspect: Vec<&str> = words::telling(&text[..comma]).iter().map(|word| word.text).collect();
        return Some((&text[comma + 1..], aspect.join(" ")));
    }
    Some((text, String::new()))
}

/// Reads "the warranty of A and B regarding weight" as sides and what is asked of each.
fn read(body: &str, aspect: &str) -> Option<Vec<Side>> {
    const JOINING: &[&str] = &[
        " and ",
        " with ",
        " to ",
        " versus ",
        " vs. ",
        " vs ",
        " or ",
        " und ",
        " mit ",
        " oder ",
        " y ",
        " con ",
        " o ",
        " et ",
        " avec ",
        " ou ",
        " à ",
        " e ",
        " com ",
        " against ",
        " against the ",
        ", ",
        " contra ",
        " a ",
        " gegenüber ",
        " и ",
        " с ",
        " или ",
        " و ",
        " و",
        " أو ",
    ];
    const RESPECT: &[&str] = &[
        " in terms of ",
        " regarding ",
        " with regard to ",
        " with respect to ",
        " by ",
        " concerning ",
        " when it comes to ",
        " bezüglich ",
        " hinsichtlich ",
        " beim ",
        " bei der ",
        " bei ",
        " in bezug auf ",
        " en cuanto a ",
        " respecto a ",
        " en termes de ",
        " concernant ",
        " quant à ",
        " em termos de ",
        " quanto a ",
        " quanto ao ",
        " in termini di ",
        " per quanto riguarda ",
        " in ",
        " en ",
    ];
    let lower = body.to_lowercase();
    if lower.len() != body.len() {
        return None;
    }
    let respect = RESPECT.iter().filter_map(|sign| Some((lower.rfind(sign)?, sign.len()))).max();
    // A year or another name behind "in" belongs to what is compared.
    let respect = respect.filter(|(at, length)| {
        let after = words::telling(&body[at + length..]);
        !after.is_empty()
            && after
                .iter()
                .all(|word| !words::is_number(word.text) && !word.text.starts_with(char::is_uppercase))
            && JOINING.iter().any(|join| lower[..*at].contains(join))
            && !JOINING.iter().any(|join| lower[at + length - 1..].contains(join))
    });
    let (body, respect) = match respect {
        Some((at, length)) => (&body[..at], &body[at + length..]),
        None => (body, ""),
    };
    let lower = body.to_lowercase();
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for join in JOINING {
        cuts.extend(lower.match_indices(join).map(|(at, _)| (at, at + join.len())));
    }
    cuts.sort_unstable();
    // One kind of word joins them all; " a " and " to " only where nothing clearer does.
    let clear = |cut: &(usize, usize)| {
        !matches!(
            &lower[cut.0..cut.1],
            " a " | " to " | " à " | " o " | " with " | " con " | " mit " | " с " | " و"
        )
    };
    if cuts.iter().any(clear) {
        cuts.retain(clear);
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for (start, end) in cuts {
        if start >= from {
            parts.push(body[from..start].trim());
            from = end;
        }
    }
    parts.push(body[from..].trim());
    parts.retain(|part| !words::telling(part).is_empty());
    if !(2..=MOST_SIDES).contains(&parts.len()) {
        return None;
    }
    // "revenue in 2022 and 2023 of Acme": what stands last is said of all.
    let last = parts[parts.len() - 1];
    let tail = [" of ", " von ", " de ", " du ", " do ", " da ", " di "]
        .iter()
        .find_map(|of| Some((last.find(of)?, of.len())));
    let number = |part: &str| words::telling(part).first().is_some_and(|word| words::is_number(word.text));
    let tail = tail.filter(|(at, _)| number(&last[..*at]));
    let all = tail.map_or("", |(at, length)| last[at + length..].trim());
    if let (Some((at, _)), Some(last)) = (tail, parts.last_mut()) {
        *last = last[..at].trim();
    }
    // "the warranty of A" gives every side its aspect.
    const OF: &[&str] = &[
        " of the ",
        " of ",
        " for the ",
        " for ",
        " des ",
        " der ",
        " von ",
        " vom ",
        " del ",
        " de la ",
        " de los ",
        " de ",
        " du ",
        " do ",
        " da ",
        " di ",
        " della ",
    ];
    let first = parts[0].to_lowercase();
    let of = OF.iter().filter_map(|of| Some((first.find(of)?, of.len()))).min();
    let (shared, named) = match of.filter(|_| first.len() == parts[0].len()) {
        Some((at, length))
            if parts[1..].iter().all(|part| !OF.iter().any(|of| part.to_lowercase().contains(of))) =>
        {
            (parts[0][..at].trim(), parts[0][at + length..].trim())
        }
        _ => ("", parts[0]),
    };
    let names: Vec<&str> =
        [named].into_iter().chain(parts[1..].iter().copied()).map(without_article).collect();
    let asked =
        [aspect, without_article(shared), respect.trim(), all].into_iter().filter(|part| !part.is_empty());
    let asked = asked.collect::<Vec<_>>().join(" ");
    Some(names.iter().map(|name| side(name, names[0], &asked)).collect())
}

/// One side. A bare year or number is one of what the first side names: "Acme in 2022 and 2023".
fn side(name: &str, first: &str, asked: &str) -> Side {
    let bare = |text: &str| words::telling(text).iter().all(|word| words::is_number(word.text));
    let name = if bare(name) && !bare(first) {
        let kept: Vec<&str> =
            first.split(' ').filter(|word| !words::is_number(word.trim_matches(','))).collect();
        format!("{} {name}", kept.join(" "))
    } else {
        name.to_string()
    };
    let question = if asked.is_empty() { name.clone() } else { format!("{asked} {name}") };
    Side { name, question }
}

fn without_article(text: &str) -> &str {
    const ARTICLES: &str = "the|a|an|der|die|das|den|dem|el|la|los|las|le|les|o|os|as|il|lo|gli|i|between|zwischen|entre|tra|\
        del|al";
    let mut text = text.trim();
    while let Some((first, rest)) = text.split_once(' ') {
        if !ARTICLES.split('|').any(|known| known == first.to_lowercase()) {
            break;
        }
        text = rest.trim();
    }
    let text = text.strip_prefix("l'").or_else(|| text.strip_prefix("l’")).unwrap_or(text);
    text.trim_matches([',', ';'])
}

#[cfg(test)]
mod tests {
    #[test]
    fn comparisons_are_split_into_their_sides() {
        let sides = |text: &str| {
            let sides = super::of(text).unwrap_or_else(|| panic!("{text}"));
            sides.into_iter().map(|side| side.question).collect::<Vec<_>>()
        };
        assert_eq!(
            sides("Compare the warranty of the Aurora 300 and the Borealis 500."),
            ["warranty Aurora 300", "warranty Borealis 500"]
        );
        assert_eq!(sides("Compare mallards and teals"), ["mallards", "teals"]);
        assert_eq!(sides("Aurora 300 vs Borealis 500"), ["Aurora 300", "Borealis 500"]);
        let long = "How does the handbook explain the impact of choosing in-network versus other providers on costs?";
        assert!(super::of(long).is_none());
        assert_eq!(
            sides("What is the price difference between the K2-35 and the K2-40?"),
            ["price K2-35", "price K2-40"]
        );
        assert_eq!(sides("Which is heavier, the K2-35 or the K2-40?"), ["heavier K2-35", "heavier K2-40"]);
        assert_eq!(
            sides("Compare the K2-35 with the K2-40 in terms of weight"),
            ["weight K2-35", "weight K2-40"]
        );
        assert_eq!(
            sides("Compare the revenue of Acme in 2022 and 2023"),
            ["revenue Acme in 2022", "revenue Acme in 2023"]
        );
        assert_eq!(
            sides("Compare revenue in 2022 and 2023 of Tessaro"),
            ["Tessaro revenue in 2022", "Tessaro revenue in 2023"]
        );
        assert_eq!(sides("Vergleiche den Preis von Aurora und Borealis"), ["Preis Aurora", "Preis Borealis"]);
        assert_eq!(sides("Compara el peso del K2-35 y del K2-40").len(), 2);
        assert_eq!(sides("Сравни Aurora и Borealis"), ["Aurora", "Borealis"]);
        assert_eq!(sides("ما الفرق بين Aurora و Borealis؟"), ["Aurora", "Borealis"]);
        assert_eq!(sides("比较Aurora和Borealis。"), ["Aurora", "Borealis"]);
        assert_eq!(sides("AuroraとBorealisの違いは何ですか？"), ["Aurora", "Borealis"]);
        assert_eq!(sides("Compare le prix de l'Aurora et de la Borealis").len(), 2);
        for text in
            ["How do prices compare?", "What was the revenue of Acme and Globex?", "Is it red or blue?"]
        {
            assert_eq!(super::of(text), None, "{text}");
        }
    }
}
