//! "Copy as …": the same search through the API, in three languages.

use serde_json::json;

use super::certificate::NAME;

/// A search as somebody's program would ask it. The key stays out: it comes from the environment.
pub(super) struct Snippets {
    pub(super) curl: String,
    pub(super) python: String,
    pub(super) javascript: String,
}

impl Snippets {
    /// With `certificate`, programs are told to trust this server's own, which can be downloaded.
    pub(super) fn of(at: &str, certificate: bool, query: &str, mode: &str, top_k: usize) -> Self {
        let mut body = json!({"query": query, "top_k": top_k});
        if mode != "hybrid" {
            body["mode"] = json!(mode);
        }
        let body = body.to_string();
        let url = format!("{at}/retrieve-documents");
        let with = |text: String| if certificate { text } else { String::new() };
        let (flag, trust) = (with(format!("--cacert {NAME} ")), with(format!("cafile=\"{NAME}\"")));
        let environment = with(format!("// NODE_EXTRA_CA_CERTS={NAME} node search.mjs\n"));
        // In a shell a quote ends the text, stands by itself, and begins it again.
        let quoted = body.replace('\'', r"'\''");
        Snippets {
            curl: format!(
                "curl {flag}\\\n  -H \"Authorization: Bearer $QUIRE_API_KEY\" \\\n  \
                 -H 'Content-Type: application/json' \\\n  -d '{quoted}' \\\n  {url}\n"
            ),
            // JSON's texts and numbers are Python's too.
            python: format!(
                "import json, os, ssl, urllib.request\n\n\
                 request = urllib.request.Request(\n    \"{url}\",\n    data=json.dumps({body}).encode(),\n    \
                 headers={{\"Authorization\": \"Bearer \" + os.environ[\"QUIRE_API_KEY\"],\n             \
                 \"Content-Type\": \"application/json\"}})\n\
                 trust = ssl.create_default_context({trust})\n\
                 with urllib.request.urlopen(request, context=trust) as answer:\n    \
                 for hit in json.load(answer)[\"data\"][\"documents\"][0][\"documents\"]:\n        \
                 print(hit[\"score\"], hit[\"fileName\"], hit[\"page\"], hit[\"text\"])\n"
            ),
            javascript: format!(
                "{environment}\
                 const answer = await fetch(\"{url}\", {{\n  method: \"POST\",\n  headers: {{\n    \
                 Authorization: `Bearer ${{process.env.QUIRE_API_KEY}}`,\n    \"Content-Type\": \"application/json\",\n  }},\n  \
                 body: JSON.stringify({body}),\n}});\n\
                 const {{ data }} = await answer.json();\n\
                 for (const hit of data.documents[0].documents) {{\n  \
                 console.log(hit.score, hit.fileName, hit.page, hit.text);\n}}\n"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_a_query_end_no_snippet() {
        let snippets = Snippets::of("https://h/boxes/box_1", true, "what's \"new\"?", "hybrid", 10);
        assert!(snippets.curl.contains(r#"what'\''s \"new\"?"#), "{}", snippets.curl);
        assert!(snippets.python.contains(r#""what's \"new\"?""#), "{}", snippets.python);
        assert!(!snippets.curl.contains("\"mode\""));
        assert!(snippets.curl.contains("--cacert quire-cert.pem"));
        let known = Snippets::of("https://h/boxes/box_1", false, "x", "keyword", 5);
        assert!(known.javascript.contains("\"keyword\""));
        let all = [known.curl, known.python, known.javascript].concat();
        assert!(!all.contains(".pem"), "a certificate that is known everywhere needs none: {all}");
    }
}
