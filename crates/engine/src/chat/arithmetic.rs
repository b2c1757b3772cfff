//! Sums that need no documents: "What is 2+2?", "15 % of 80", "wie viel ist 3 mal 4?".

/// A sum and what it comes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sum {
    /// As it is written in the answer.
    pub(super) written: String,
    /// `None` where it divides by nothing.
    pub(super) result: Option<f64>,
}

/// Words before and around a sum, in lower case.
const AROUND: &str = "what|whats|what's|is|how|much|calculate|compute|the|result|equals|please|can|you|tell|me|was|ist|\
    wie|viel|wieviel|sind|ergibt|macht|berechne|rechne|bitte|cuánto|cuanto|es|son|calcula|combien|font|\
    fait|ça|calcule|quanto|é|são|dá|fa|fanno|calcola|qual|equal|to";
/// Words that stand for operators.
const OPERATORS: &[(&str, char)] = &[
    ("plus", '+'),
    ("más", '+'),
    ("mais", '+'),
    ("più", '+'),
    ("minus", '-'),
    ("menos", '-'),
    ("moins", '-'),
    ("meno", '-'),
    ("times", '*'),
    ("mal", '*'),
    ("fois", '*'),
    ("vezes", '*'),
    ("por", '*'),
    ("per", '*'),
    ("x", '*'),
    ("×", '*'),
    ("·", '*'),
    ("÷", '/'),
    ("over", '/'),
    ("durch", '/'),
    ("entre", '/'),
    ("diviso", '/'),
    ("−", '-'),
    ("–", '-'),
];
/// Numbers written out, from 0.
const WRITTEN: &[&[&str]] = &[
    &["zero", "null", "cero", "zéro"],
    &["one", "eins", "uno", "un", "um"],
    &["two", "zwei", "dos", "deux", "dois", "due"],
    &["three", "drei", "tres", "trois", "três", "tre"],
    &["four", "vier", "cuatro", "quatre", "quatro", "quattro"],
    &["five", "fünf", "cinco", "cinq", "cinque"],
    &["six", "sechs", "seis", "sei"],
    &["seven", "sieben", "siete", "sept", "sete", "sette"],
    &["eight", "acht", "ocho", "huit", "oito", "otto"],
    &["nine", "neun", "nueve", "neuf", "nove"],
    &["ten", "zehn", "diez", "dix", "dez", "dieci"],
];
/// Longer texts are no sums that somebody asks.
const LONGEST: usize = 120;
/// Results beyond this are no longer exact.
const MOST: f64 = 1e15;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Number(f64),
    Sign(char),
}

/// The sum that a text asks for; `None` where it asks for anything else.
pub(super) fn asked(text: &str) -> Option<Sum> {
    if text.chars().count() > LONGEST {
        return None;
    }
    let tokens = tokens(text)?;
    let numbers = tokens.iter().filter(|token| matches!(token, Token::Number(_))).count();
    let signs = tokens.iter().any(|token| matches!(token, Token::Sign(sign) if !matches!(sign, '(' | ')')));
    if numbers < 2 || !signs {
        return None;
    }
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let result = reader.terms()?;
    if reader.at != tokens.len() || result.is_some_and(|result| result.abs() > MOST) {
        return None;
    }
    Some(Sum { written: written(&tokens), result })
}

/// Reads a text in which nothing but a sum stands.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let lower =
        text.to_lowercase().replace('’', "'").replace(['¿', '?', '!', '=', ':'], " ").replace("percent", "%");
    let lower = lower.replace("divided by", "÷").replace("geteilt durch", "÷").replace("dividido por", "÷");
    let lower = lower.replace("divisé par", "÷").replace("multiplied by", "×").replace("prozent", "%");
    let lower =
        lower.replace("% of", "%*").replace("% von", "%*").replace("% de", "%*").replace("% di", "%*");
    let mut tokens = Vec::new();
    let mut rest = lower.trim().trim_end_matches('.');
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if first.is_ascii_digit() {
            let end = rest
                .find(|next: char| !next.is_ascii_digit() && !matches!(next, '.' | ','))
                .unwrap_or(rest.len());
            let digits = rest[..end].trim_end_matches(['.', ',']);
            let number = number(digits)?;
            rest = &rest[digits.len()..];
            // "2021-2023" and "555-1234" are no sums; "8-3" is one.
            let next = rest.strip_prefix(['-', '–', '/']).unwrap_or("");
            let next = next.bytes().take_while(u8::is_ascii_digit).count();
            if next > 0 && (next >= 4 || digits.len() >= 4 || digits.len() > 1 && digits.starts_with('0')) {
                return None;
            }
            if let Some(after) = rest.trim_start().strip_prefix('%') {
                rest = after;
                tokens.push(Token::Number(number / 100.0));
            } else {
                tokens.push(Token::Number(number));
            }
        } else if matches!(first, '+' | '-' | '*' | '/' | '(' | ')' | '^') {
            tokens.push(Token::Sign(first));
            rest = &rest[1..];
        } else {
            let end = rest
                .find(|next: char| !next.is_alphabetic() && !matches!(next, '\'' | '’'))
                .unwrap_or(rest.len())
                .max(first.len_utf8());
            let word = &rest[..end];
            rest = &rest[end..];
            if let Some((_, sign)) = OPERATORS.iter().find(|(known, _)| *known == word) {
                tokens.push(Token::Sign(*sign));
            } else if let Some(value) = WRITTEN.iter().position(|names| names.contains(&word)) {
                tokens.push(Token::Number(value as f64));
            } else if !AROUND.split('|').any(|known| known == word) {
                return None;
            }
        }
    }
    Some(tokens)
}

/// A number as people write it: `1,200`, `3.5`, `3,5`.
fn number(digits: &str) -> Option<f64> {
    let groups = |sign: char| {
        let mut parts = digits.split(sign);
        let first = parts.next().unwrap_or("");
        (1..=3).contains(&first.len()) && parts.clone().count() > 0 && parts.all(|part| part.len() == 3)
    };
    let plain = match (digits.contains('.'), digits.contains(',')) {
        (false, true) if groups(',') => digits.replace(',', ""),
        (false, true) => digits.replacen(',', ".", 1),
        (true, true) if digits.find('.') < digits.find(',') => digits.replace('.', "").replace(',', "."),
        (true, true) => digits.replace(',', ""),
        _ => digits.to_string(),
    };
    plain.parse().ok()
}

/// Works a sum out as it is read. A result of `Some(None)` is one that divides by nothing.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Reader<'_> {
    fn sign(&self) -> Option<char> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }

    fn terms(&mut self) -> Option<Option<f64>> {
        let mut sum = self.factors()?;
        while let Some(sign @ ('+' | '-')) = self.sign() {
            self.at += 1;
            let next = self.factors()?;
            sum = sum.zip(next).map(|(a, b)| if sign == '+' { a + b } else { a - b });
        }
        Some(sum)
    }

    fn factors(&mut self) -> Option<Option<f64>> {
        let mut product = self.value()?;
        while let Some(sign @ ('*' | '/')) = self.sign() {
            self.at += 1;
            let next = self.value()?;
            product = match (product.zip(next), sign) {
                (Some((a, b)), '*') => Some(a * b),
                (Some((a, b)), _) if b != 0.0 => Some(a / b),
                _ => None,
            };
        }
        Some(product)
    }

    fn value(&mut self) -> Option<Option<f64>> {
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        let value = match token {
            Token::Number(number) => Some(number),
            Token::Sign('-') => self.value()?.map(|value| -value),
            Token::Sign('(') => {
                let inside = self.terms()?;
                if self.sign() != Some(')') {
                    return None;
                }
                self.at += 1;
                inside
            }
            Token::Sign(_) => return None,
        };
        if self.sign() != Some('^') {
            return Some(value);
        }
        self.at += 1;
        let power = self.value()?;
        Some(value.zip(power).map(|(base, power)| base.powf(power)))
    }
}

/// A sum in common signs.
fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| tokens[before]);
        match token {
            Token::Number(number) => text.push_str(&plain(*number)),
            Token::Sign(sign @ ('(' | ')' | '^')) => text.push(*sign),
            Token::Sign('-') if !matches!(before, Some(Token::Number(_) | Token::Sign(')'))) => {
                text.push('−')
            }
            Token::Sign(sign) => {
                let sign = match sign {
                    '*' => '×',
                    '/' => '÷',
                    '-' => '−',
                    other => *other,
                };
                text.push(' ');
                text.push(sign);
                text.push(' ');
            }
        }
    }
    text
}

/// A number without needless digits.
pub(super) fn plain(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded == rounded.trunc() { format!("{rounded:.0}") } else { format!("{rounded}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_worked_out() {
        for (text, result) in [
            ("What is 2+2?", 4.0),
            ("what’s 12 * 7", 84.0),
            ("How much is 15% of 80?", 12.0),
            ("(3 + 4) × 2 - 1 =", 13.0),
            ("Wie viel ist 3 mal 4?", 12.0),
            ("¿Cuánto es 10 dividido por 4?", 2.5),
            ("Combien font 7 fois 8 ?", 56.0),
            ("quanto é 9 menos 4?", 5.0),
            ("Quanto fa 6 più 3?", 9.0),
            ("two plus two", 4.0),
            ("2^10", 1024.0),
            ("1,200 / 3", 400.0),
            ("-3 + 5", 2.0),
        ] {
            assert_eq!(asked(text).unwrap_or_else(|| panic!("{text}")).result, Some(result), "{text}");
        }
        assert_eq!(asked("What is 1/0?").unwrap().result, None);
        assert_eq!(asked("What is 2+2?").unwrap().written, "2 + 2");
        assert_eq!((plain(2.5), plain(4.0), plain(1.0 / 3.0)), ("2.5".into(), "4".into(), "0.333333".into()));
    }

    #[test]
    fn questions_about_documents_are_no_sums() {
        for text in [
            "What happened in 2021-2023?",
            "2021-2023",
            "555-1234",
            "What is K2-35?",
            "What is 42?",
            "How much is the fee?",
            "What is the difference between 3 and 4?",
            "",
            "((((",
            "2 +",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
    }
}
