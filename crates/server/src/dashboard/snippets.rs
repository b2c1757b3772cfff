//! "Copy as …": the same search through the API, in three languages.

use serde_json::json;

use crate::http::BASE;

/// A search as somebody's program would ask it. The key stays out: it comes from the environment.
pub(super) struct Snippets {
    pub(super) curl: String,
    pub(super) python: String,
    pub(super) javascript: String,
}

impl Snippets {
    pub(super) fn of(origin: &str, box_id: &str, query: &str, mode: &str, top_k: usize) -> Self {
        let mut body = json!({"query": query, "top_k": top_k});
        if mode != "hybrid" {
            body["mode"] = json!(mode);
        }
        let body = body.to_string();
        let url = format!("{origin}{BASE}/boxes/{box_id}/retrieve-documents");
        // In a shell a quote ends the text, stands by itself, and begins it again.
        let quoted = body.replace('\'', r"'\''");
        Snippets {
            curl: format!(
                "curl --cacert quire-data/tls/cert.pem \\\n  -H \"Authorization: Bearer $QUIRE_API_KEY\" \\\n  \
                 -H 'Content-Type: application/json' \\\n  -d '{quoted}' \\\n  {url}\n"
            ),
            // JSON's texts and numbers are Python's too.
            python: format!(
                "import json, os, ssl, urllib.request\n\n\
                 request = urllib.request.Request(\n    \"{url}\",\n    data=json.dumps({body}).encode(),\n    \
                 headers={{\"Authorization\": \"Bearer \" + os.environ[\"QUIRE_API_KEY\"],\n             \
                 \"Content-Type\": \"application/json\"}})\n\
                 trust = ssl.create_default_context(cafile=\"quire-data/tls/cert.pem\")\n\
                 with urllib.request.urlopen(request, context=trust) as answer:\n    \
                 for hit in json.load(answer)[\"data\"][\"documents\"][0][\"documents\"]:\n        \
                 print(hit[\"score\"], hit[\"fileName\"], hit[\"page\"], hit[\"text\"])\n"
            ),
            javascript: format!(
                "// NODE_EXTRA_CA_CERTS=quire-data/tls/cert.pem node search.mjs\n\
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
        let snippets = Snippets::of("https://h", "box_1", "what's \"new\"?", "hybrid", 10);
        assert!(snippets.curl.contains(r#"what'\''s \"new\"?"#), "{}", snippets.curl);
        assert!(snippets.python.contains(r#""what's \"new\"?""#), "{}", snippets.python);
        assert!(!snippets.curl.contains("\"mode\""));
        assert!(Snippets::of("https://h", "box_1", "x", "keyword", 5).javascript.contains("\"keyword\""));
    }
}
