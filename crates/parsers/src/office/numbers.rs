//! Numbers as spreadsheets show them.

/// A number without the noise of binary fractions: 15 digits are what spreadsheets show at most.
pub(crate) fn float(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() <= 15 {
        return plain;
    }
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_the_noise_of_binary_fractions() {
        assert_eq!(float(0.1 + 0.2), "0.3");
        assert_eq!(float(12.0), "12");
        assert_eq!(float(1234.5), "1234.5");
    }
}
