//! Account → Integrations: how other programs are set up to use this server, ready to be copied. No key is ever in it.

use askama::Template;
use axum::extract::{Query, State};
use engine::{Fault, access::Role, ids::BoxId};
use serde::Deserialize;
use serde_json::json;

use super::{
    certificate,
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
};
use crate::{
    app::App,
    http::{BASE, origin::Origin},
};

/// What stands for the key, and for the box where there is none.
const KEY: &str = "quire_…";
pub(super) const NO_BOX: &str = "BOX_ID";

/// A program, what to do in it, and what to copy into it.
struct Program {
    name: &'static str,
    /// The text that says what to do.
    steps: &'static str,
    /// The text that says what each is, and the thing itself.
    copied: Vec<(&'static str, String)>,
}

/// Where this server is, and the box that is meant.
struct Address {
    /// `https://` and the name.
    origin: String,
    place: String,
    /// What the file with the server's own certificate is called, where programs need it.
    certificate: Option<&'static str>,
}

impl Address {
    fn mcp(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    fn api(&self) -> String {
        format!("{}{BASE}", self.origin)
    }

    fn assistants(&self) -> Vec<Program> {
        let mcp = self.mcp();
        let header = json!({"Authorization": format!("Bearer {KEY}")});
        let server = json!({"mcpServers": {"quire": {"type": "http", "url": mcp, "headers": header}}});
        let add = format!(
            "claude mcp add --transport http quire {mcp} --header \"Authorization: Bearer $QUIRE_API_KEY\""
        );
        vec![
            Program {
                name: "Claude",
                steps: "account-steps-claude",
                copied: vec![("account-address", mcp.clone()), ("account-copied-claude-code", add)],
            },
            Program {
                name: "ChatGPT",
                steps: "account-steps-chatgpt",
                copied: vec![("account-address", mcp.clone())],
            },
            Program {
                name: "Cursor",
                steps: "account-steps-cursor",
                copied: vec![("account-copied-json", format!("{server:#}"))],
            },
        ]
    }

    fn platforms(&self) -> Vec<Program> {
        let api = self.api();
        vec![
            Program {
                name: "Open WebUI",
                steps: "account-steps-open-webui",
                copied: vec![
                    ("account-address", api.clone()),
                    ("account-copied-reranker", format!("{api}/rerank")),
                ],
            },
            Program {
                name: "Dify",
                steps: "account-steps-dify",
                copied: vec![
                    ("account-copied-endpoint", format!("{api}/dify")),
                    ("account-copied-knowledge", self.place.clone()),
                ],
            },
            Program {
                name: "n8n",
                steps: "account-steps-n8n",
                copied: vec![("account-copied-endpoint", self.mcp()), ("account-copied-api", api)],
            },
        ]
    }

    fn own_pages(&self) -> Vec<Program> {
        let tag = format!(
            "<script src=\"{}/widget.js\" data-key=\"{KEY}\" data-box=\"{}\" defer></script>",
            self.origin, self.place
        );
        vec![Program {
            name: "widget.js",
            steps: "account-steps-widget",
            copied: vec![("account-copied-tag", tag)],
        }]
    }

    fn own_programs(&self) -> Vec<Program> {
        let (origin, place) = (&self.origin, &self.place);
        let url = format!("{}/boxes/{place}/retrieve-documents", self.api());
        let flag = self.certificate.map(|name| format!("--cacert {name} ")).unwrap_or_default();
        let trusted = self.certificate.map(|name| format!("export QUIRE_CA={name}\n")).unwrap_or_default();
        let environment = format!("export QUIRE_URL={origin}\nexport QUIRE_API_KEY={KEY}\n{trusted}");
        vec![
            Program {
                name: "curl",
                steps: "account-steps-curl",
                copied: vec![(
                    "account-copied-command",
                    format!(
                        "curl {flag}-H \"Authorization: Bearer $QUIRE_API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
                         -d '{{\"query\": \"How long is the warranty?\"}}' \\\n  {url}"
                    ),
                )],
            },
            Program {
                name: "Python",
                steps: "account-steps-python",
                copied: vec![
                    ("account-copied-environment", environment.clone()),
                    (
                        "account-program",
                        format!(
                            "from quire import Quire\n\nquire = Quire()\nanswer = quire.ask(\"{place}\", \"How long is the \
                             warranty?\")\nprint(answer.text, answer.citations)\n"
                        ),
                    ),
                ],
            },
            Program {
                name: "TypeScript",
                steps: "account-steps-typescript",
                copied: vec![
                    ("account-copied-environment", environment),
                    (
                        "account-program",
                        format!(
                            "import {{ Quire }} from 'quire-sdk';\n\nconst quire = new Quire();\nconst answer = await \
                             quire.ask('{place}', 'How long is the warranty?');\nconsole.log(answer.text, answer.citations);\n"
                        ),
                    ),
                ],
            },
        ]
    }
}

#[derive(Template)]
#[template(path = "integrations.html")]
struct IntegrationsPage {
    frame: Frame,
    /// Boxes that the visitor's keys can use.
    boxes: Vec<(BoxId, String)>,
    chosen: Option<BoxId>,
    /// Programs, by the text that says what they are.
    kinds: Vec<(&'static str, Vec<Program>)>,
    certificate: bool,
}

#[derive(Deserialize)]
pub(super) struct Chosen {
    #[serde(rename = "box")]
    place: Option<String>,
}

/// The boxes that the visitor's keys can use, and the wanted one of them, else the first.
pub(super) async fn usable(
    app: &App,
    who: &SignedIn,
    wanted: Option<String>,
) -> Result<(Vec<(BoxId, String)>, Option<BoxId>), Fault> {
    let records = app.catalog.boxes_of(&who.person().readable()).await?;
    let usable = records.into_iter().filter(|record| who.person().role(record.id) >= Some(Role::Admin));
    let boxes: Vec<_> = usable.map(|record| (record.id, record.name.as_str().to_string())).collect();
    let wanted = wanted.and_then(|id| id.parse::<BoxId>().ok());
    let known = |id: &BoxId| boxes.iter().any(|(known, _)| known == id);
    let chosen = wanted.filter(known).or_else(|| boxes.first().map(|(id, _)| *id));
    Ok((boxes, chosen))
}

/// Shows them, for one of the visitor's boxes.
pub(super) async fn show(
    State(app): State<App>,
    who: SignedIn,
    origin: Origin,
    Query(query): Query<Chosen>,
) -> Shown {
    let (boxes, chosen) = usable(&app, &who, query.place).await?;
    let certificate = certificate::of(&app);
    let address = Address {
        origin: origin.to_string(),
        place: chosen.map_or_else(|| NO_BOX.to_string(), |id| id.to_string()),
        certificate: certificate.then_some(certificate::NAME),
    };
    page::show(&IntegrationsPage {
        frame: Frame::new(&app, &who.0, who.0.words.text("frame-integrations"), Place::Integrations),
        kinds: vec![
            ("account-kind-assistants", address.assistants()),
            ("account-kind-platforms", address.platforms()),
            ("account-kind-pages", address.own_pages()),
            ("account-kind-own", address.own_programs()),
        ],
        boxes,
        chosen,
        certificate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_up_names_this_server_and_no_key() {
        let address = |certificate| Address {
            origin: "https://quire.example.org".into(),
            place: "box_1".into(),
            certificate,
        };
        let all = |address: Address| {
            let programs =
                [address.assistants(), address.platforms(), address.own_pages(), address.own_programs()];
            programs.into_iter().flatten().collect::<Vec<_>>()
        };
        for program in all(address(Some("quire-cert.pem"))) {
            let copied: String = program.copied.iter().map(|(_, text)| text.as_str()).collect();
            assert!(copied.contains("https://quire.example.org"), "{}: {copied}", program.name);
            let keys = copied.replace("$QUIRE_API_KEY", "").replace(KEY, "");
            assert!(!keys.contains("quire_"), "{}: {copied}", program.name);
        }
        let texts = |address| -> String {
            all(address).into_iter().flat_map(|program| program.copied).map(|(_, text)| text).collect()
        };
        assert!(texts(address(Some("quire-cert.pem"))).contains("--cacert quire-cert.pem "));
        assert!(!texts(address(None)).contains(".pem"), "a certificate that is known everywhere needs none");
    }
}
