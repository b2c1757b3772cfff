//! Writes equations of Office documents (OMML) as LaTeX, which people and models both read.

use crate::xml::Node;

/// The LaTeX of an `oMath` element, without dollar signs.
pub(crate) fn latex(node: &Node) -> String {
    let mut out = String::new();
    children(node, &mut out);
    let spaced: Vec<&str> = out.split_whitespace().collect();
    spaced.join(" ")
}

fn children(node: &Node, out: &mut String) {
    for child in node.nodes() {
        element(child, out);
    }
}

fn part(node: &Node, name: &str) -> String {
    node.child(name).map(latex).unwrap_or_default()
}

fn property<'a>(node: &'a Node, properties: &str, name: &str) -> Option<&'a str> {
    node.path(&[properties, name]).and_then(|found| found.attribute("val"))
}

fn element(node: &Node, out: &mut String) {
    match node.name.as_str() {
        "r" => run(node, out),
        "f" => fraction(node, out),
        "sSup" => out.push_str(&format!("{}^{{{}}}", part(node, "e"), part(node, "sup"))),
        "sSub" => out.push_str(&format!("{}_{{{}}}", part(node, "e"), part(node, "sub"))),
        "sSubSup" => {
            out.push_str(&format!("{}_{{{}}}^{{{}}}", part(node, "e"), part(node, "sub"), part(node, "sup")));
        }
        "sPre" => out.push_str(&format!(
            "{{}}_{{{}}}^{{{}}}{}",
            part(node, "sub"),
            part(node, "sup"),
            part(node, "e")
        )),
        "rad" => match part(node, "deg") {
            degree if degree.is_empty() => out.push_str(&format!("\\sqrt{{{}}}", part(node, "e"))),
            degree => out.push_str(&format!("\\sqrt[{degree}]{{{}}}", part(node, "e"))),
        },
        "nary" => large_operator(node, out),
        "d" => delimiters(node, out),
        "func" => out.push_str(&format!("{}({})", function_name(&part(node, "fName")), part(node, "e"))),
        "limLow" => out.push_str(&format!("{}_{{{}}}", function_name(&part(node, "e")), part(node, "lim"))),
        "limUpp" => out.push_str(&format!("{}^{{{}}}", function_name(&part(node, "e")), part(node, "lim"))),
        "acc" => {
            out.push_str(&format!("\\{}{{{}}}", accent(property(node, "accPr", "chr")), part(node, "e")))
        }
        "bar" => {
            let name = if property(node, "barPr", "pos") == Some("bot") { "underline" } else { "overline" };
            out.push_str(&format!("\\{name}{{{}}}", part(node, "e")));
        }
        "groupChr" => {
            let name =
                if property(node, "groupChrPr", "pos") == Some("top") { "overbrace" } else { "underbrace" };
            out.push_str(&format!("\\{name}{{{}}}", part(node, "e")));
        }
        "m" => {
            let rows: Vec<String> =
                node.nodes().filter(|row| row.name == "mr").map(|row| cells(row, " & ")).collect();
            out.push_str(&format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ ")));
        }
        "eqArr" => out.push_str(&format!("\\begin{{array}}{{c}}{}\\end{{array}}", cells(node, " \\\\ "))),
        "t" => out.push_str(&symbols(&node.text())),
        name if name.ends_with("Pr") || name == "del" || name == "delText" => {}
        _ => children(node, out),
    }
}

fn cells(row: &Node, separator: &str) -> String {
    row.nodes().filter(|cell| cell.name == "e").map(latex).collect::<Vec<_>>().join(separator)
}

fn run(node: &Node, out: &mut String) {
    let plain = node.path(&["rPr", "nor"]).is_some();
    for child in node.nodes().filter(|child| child.name == "t") {
        let text = child.text();
        if plain && text.chars().any(char::is_alphabetic) {
            out.push_str(&format!(" \\text{{{text}}} "));
        } else {
            out.push_str(&symbols(&text));
        }
    }
}

fn fraction(node: &Node, out: &mut String) {
    let (above, below) = (part(node, "num"), part(node, "den"));
    match property(node, "fPr", "type") {
        Some("noBar") => out.push_str(&format!("\\binom{{{above}}}{{{below}}}")),
        Some("lin") => out.push_str(&format!("{above}/{below}")),
        _ => out.push_str(&format!("\\frac{{{above}}}{{{below}}}")),
    }
}

fn large_operator(node: &Node, out: &mut String) {
    // The default of the format is the integral.
    let operator = property(node, "naryPr", "chr").unwrap_or("∫");
    out.push_str(symbols(operator).trim());
    for (name, mark) in [("sub", '_'), ("sup", '^')] {
        let bound = part(node, name);
        if !bound.is_empty() {
            out.push_str(&format!("{mark}{{{bound}}}"));
        }
    }
    out.push_str(&part(node, "e"));
}

fn delimiters(node: &Node, out: &mut String) {
    let open = property(node, "dPr", "begChr").unwrap_or("(");
    let close = property(node, "dPr", "endChr").unwrap_or(")");
    let separator = property(node, "dPr", "sepChr").unwrap_or("|");
    let fence = |mark: &str| match mark {
        "" => ".".to_owned(),
        "{" | "}" => format!("\\{mark}"),
        other => other.to_owned(),
    };
    out.push_str(&format!("\\left{}{}\\right{}", fence(open), cells(node, separator), fence(close)));
}

fn function_name(name: &str) -> String {
    const KNOWN: [&str; 20] = [
        "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "csc", "det", "exp", "lim", "ln", "log", "max",
        "min", "sec", "sin", "sinh", "sup", "tan", "tanh",
    ];
    let word = name.split(['_', '^']).next().unwrap_or_default().trim();
    if KNOWN.contains(&word) { format!("\\{}", name.trim()) } else { name.to_owned() }
}

fn accent(character: Option<&str>) -> &'static str {
    match character {
        Some("\u{303}" | "~") => "tilde",
        Some("\u{304}" | "\u{305}" | "¯") => "bar",
        Some("\u{307}" | "˙") => "dot",
        Some("\u{308}" | "¨") => "ddot",
        Some("\u{20d7}" | "→") => "vec",
        _ => "hat",
    }
}

/// Replaces letters and operators by their LaTeX names.
fn symbols(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match name(character) {
            Some(name) => out.push_str(&format!(" \\{name} ")),
            None => out.push(plain_letter(character)),
        }
    }
    out
}

/// Letters of the mathematical alphabets are the plain letters in another dress.
fn plain_letter(character: char) -> char {
    use unicode_normalization::UnicodeNormalization;
    match character {
        '\u{1d400}'..='\u{1d7ff}' | '\u{210e}' => {
            std::iter::once(character).nfkc().next().unwrap_or(character)
        }
        other => other,
    }
}

fn name(character: char) -> Option<&'static str> {
    const NAMES: [(char, &str); 68] = [
        ('α', "alpha"),
        ('β', "beta"),
        ('γ', "gamma"),
        ('δ', "delta"),
        ('ε', "epsilon"),
        ('ϵ', "epsilon"),
        ('ζ', "zeta"),
        ('η', "eta"),
        ('θ', "theta"),
        ('ι', "iota"),
        ('κ', "kappa"),
        ('λ', "lambda"),
        ('μ', "mu"),
        ('ν', "nu"),
        ('ξ', "xi"),
        ('π', "pi"),
        ('ρ', "rho"),
        ('σ', "sigma"),
        ('τ', "tau"),
        ('υ', "upsilon"),
        ('φ', "phi"),
        ('ϕ', "phi"),
        ('χ', "chi"),
        ('ψ', "psi"),
        ('ω', "omega"),
        ('Γ', "Gamma"),
        ('Δ', "Delta"),
        ('Θ', "Theta"),
        ('Λ', "Lambda"),
        ('Ξ', "Xi"),
        ('Π', "Pi"),
        ('Σ', "Sigma"),
        ('Φ', "Phi"),
        ('Ψ', "Psi"),
        ('Ω', "Omega"),
        ('∑', "sum"),
        ('∏', "prod"),
        ('∫', "int"),
        ('∮', "oint"),
        ('⋃', "bigcup"),
        ('⋂', "bigcap"),
        ('∞', "infty"),
        ('×', "times"),
        ('÷', "div"),
        ('±', "pm"),
        ('∓', "mp"),
        ('⋅', "cdot"),
        ('≤', "leq"),
        ('≥', "geq"),
        ('≠', "neq"),
        ('≈', "approx"),
        ('≡', "equiv"),
        ('∈', "in"),
        ('∉', "notin"),
        ('⊂', "subset"),
        ('∪', "cup"),
        ('∩', "cap"),
        ('→', "to"),
        ('⇒', "Rightarrow"),
        ('∂', "partial"),
        ('∇', "nabla"),
        ('…', "ldots"),
        ('∬', "iint"),
        ('∭', "iiint"),
        ('∯', "oiint"),
        ('∰', "oiiint"),
        ('⋀', "bigwedge"),
        ('⋁', "bigvee"),
    ];
    let upright = plain_letter(character);
    NAMES.iter().find(|(symbol, _)| *symbol == upright).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

    #[test]
    fn fractions_roots_and_sums_are_written() {
        let sum = xml::parse(
            b"<m:oMath xmlns:m='m'><m:nary><m:naryPr><m:chr m:val='&#8721;'/></m:naryPr><m:sub><m:r><m:t>n=1</m:t></m:r></m:sub>\
              <m:sup><m:r><m:t>&#8734;</m:t></m:r></m:sup><m:e><m:f><m:num><m:r><m:t>&#960;</m:t></m:r></m:num>\
              <m:den><m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:den></m:f></m:e></m:nary></m:oMath>",
        );
        assert_eq!(latex(&sum), "\\sum_{n=1}^{\\infty}\\frac{\\pi}{\\sqrt{x}}");
    }
}
