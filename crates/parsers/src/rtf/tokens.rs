//! Splits RTF into groups, control words and bytes of text.

/// One token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word and its number.
    Word(&'a str, Option<i32>),
    /// A control symbol such as `\~`.
    Symbol(u8),
    /// A byte in the current code page, written `\'e9`.
    Hex(u8),
    /// Bytes of text.
    Text(&'a [u8]),
}

/// Tokens of a document.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Skips raw bytes, as `\bin` asks.
    pub(super) fn jump(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn control(&mut self) -> Option<Token<'a>> {
        let after = &self.rest[1..];
        let (first, _) = after.split_first()?;
        if *first == b'\'' {
            let hex = after.get(1..3).and_then(|hex| std::str::from_utf8(hex).ok());
            let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
            self.jump(if byte.is_some() { 4 } else { 2 });
            return Some(Token::Hex(byte.unwrap_or(b'?')));
        }
        if !first.is_ascii_alphabetic() {
            self.jump(2);
            return Some(Token::Symbol(*first));
        }
        let length = after.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(after.len());
        let name = std::str::from_utf8(&after[..length]).unwrap_or_default();
        let tail = &after[length..];
        let sign = usize::from(tail.first() == Some(&b'-'));
        let digits = tail[sign..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(tail.len() - sign);
        let number = if digits > 0 {
            std::str::from_utf8(&tail[..sign + digits]).ok().and_then(|number| number.parse().ok())
        } else {
            None
        };
        let mut used = 1 + length + if digits > 0 { sign + digits } else { 0 };
        // One blank after a control word belongs to it.
        used += usize::from(self.rest.get(used) == Some(&b' '));
        self.jump(used);
        Some(Token::Word(name, number))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            match self.rest.first()? {
                b'{' => {
                    self.jump(1);
                    return Some(Token::Open);
                }
                b'}' => {
                    self.jump(1);
                    return Some(Token::Close);
                }
                b'\\' => return self.control(),
                b'\r' | b'\n' => self.jump(1),
                _ => {
                    let special = |byte: &u8| matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n');
                    let length = self.rest.iter().position(special).unwrap_or(self.rest.len());
                    let text = &self.rest[..length];
                    self.jump(length);
                    return Some(Token::Text(text));
                }
            }
        }
    }
}
