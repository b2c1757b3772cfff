//! Pages as they look: where on them hits and citations stand, and their pictures.

use engine::{access::Role, ids::BoxId};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

/// A PDF of one page of 600 by 800 points for each list of lines: their text, left edge and height above the bottom.
fn pdf(pages: &[&[(&str, u32, u32)]]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_string(),
    ];
    for (at, lines) in pages.iter().enumerate() {
        let text: String = lines
            .iter()
            .map(|(line, left, up)| format!("BT /F1 20 Tf 1 0 0 1 {left} {up} Tm ({line}) Tj ET\n"))
            .collect();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * at
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{text}endstream", text.len()));
    }
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(pdf.len());
        pdf.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let start = pdf.len();
    pdf.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    offsets.iter().for_each(|offset| pdf.extend(format!("{offset:010} 00000 n \n").bytes()));
    let size = objects.len() + 1;
    pdf.extend(format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    pdf
}

async fn uploaded(app: &TestApp, box_id: BoxId, key: &str, name: &str, bytes: &[u8]) -> String {
    let answer = app.upload(box_id, key, name, bytes, &[]).await;
    let id = answer.body["data"]["fileId"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_string();
    let settled = app.settled(key, &id).await;
    assert!(settled["status"].as_str().unwrap().starts_with("ready"), "{settled}");
    id
}

pub(crate) async fn manual(app: &TestApp, box_id: BoxId, key: &str) -> String {
    let pages: [&[(&str, u32, u32)]; 2] = [
        &[("The warranty lasts two years.", 60, 700), ("Repairs are made in Lyon.", 60, 400)],
        &[("Nothing else is said here.", 60, 700)],
    ];
    uploaded(app, box_id, key, "manual.pdf", &pdf(&pages)).await
}

/// Left, top, right and bottom of a region of the first page, in hundredths.
fn edges(region: &Value) -> [i64; 4] {
    assert_eq!(region["page"], 1, "{region}");
    let share = |name: &str| region[name].as_f64().unwrap() * 100.0;
    let (left, top) = (share("x"), share("y"));
    [left, top, left + share("w"), top + share("h")].map(|edge| edge.round() as i64)
}

#[tokio::test]
async fn hits_highlights_and_citations_say_where_on_the_page_they_are() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    manual(&app, box_id, &key).await;
    app.text_file(box_id, &key, "notes.txt", "The warranty of the kettle lasts for ages.").await;
    let body = json!({"query": "warranty", "top_k": 5});
    let answer = app.post(&format!("/boxes/{box_id}/retrieve-documents"), &key, body).await;
    let hits = answer.body["data"]["documents"][0]["documents"].as_array().unwrap().clone();
    let of =
        |name: &str| hits.iter().find(|hit| hit["fileName"] == name && hit["page"] == 1).unwrap().clone();
    let (hit, plain) = (of("manual.pdf"), of("notes.txt"));
    assert!(plain.get("regions").is_none() && plain["highlights"][0].get("regions").is_none(), "{plain}");
    let regions = hit["regions"].as_array().unwrap();
    let [left, top, right, bottom] = edges(&regions[0]);
    // The line starts at 60 of 600 points, and its baseline is 100 of 800 points below the top.
    assert!(
        left == 10 && (10..=11).contains(&top) && bottom == 13 && right > 30 && right < 70,
        "{regions:?}"
    );
    let marked = &hit["highlights"][0]["regions"];
    let [from, _, to, _] = edges(&marked[0]);
    assert!(left < from && from < to && to < right, "{marked}");

    let body = json!({"model": box_id.to_string(), "messages": [{"role": "user", "content": "How long does the warranty last?"}]});
    let answer = app.post("/chat/completions", &key, body).await;
    let cited = answer.body["citations"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    let cited = cited.iter().find(|citation| citation["fileName"] == "manual.pdf");
    if let Some(citation) = cited {
        assert!(citation["quote"].as_str().unwrap().contains("two years"));
        assert_eq!(edges(&citation["regions"][0])[1], top, "{citation}");
    }
    let body = json!({"model": box_id.to_string(), "messages": [{"role": "user", "content": "Where are repairs made?"}]});
    let answer = app.post("/chat/completions", &key, body).await;
    let citation = &answer.body["citations"][0];
    assert_eq!(citation["fileName"], "manual.pdf", "{answer:?}");
    assert!((48..=50).contains(&edges(&citation["regions"][0])[1]), "{citation}");
}

#[tokio::test]
async fn whole_documents_say_where_their_lines_are_if_asked() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let id = manual(&app, box_id, &key).await;
    let path = format!("/boxes/{box_id}/retrieve-full-documents");
    let plain = app.post(&path, &key, json!({"sources": [id]})).await;
    assert!(plain.body["data"]["documents"][0]["pages"][0].get("regions").is_none(), "{plain:?}");
    let answer = app.post(&path, &key, json!({"sources": [id], "regions": true})).await;
    let page = &answer.body["data"]["documents"][0]["pages"][0];
    let text: Vec<char> = page["text"].as_str().unwrap().chars().collect();
    let said = |line: &Value| -> String {
        let at = |name: &str| line[name].as_u64().unwrap() as usize;
        text[at("start")..at("end")].iter().collect()
    };
    let regions = page["regions"].as_array().unwrap();
    let lines: Vec<(String, i64)> = regions.iter().map(|line| (said(line), edges(line)[1] / 10)).collect();
    let expected = [("The warranty lasts two years.", 1), ("Repairs are made in Lyon.", 4)];
    assert_eq!(lines, expected.map(|(line, top)| (line.to_owned(), top)));
}

#[tokio::test]
async fn pictures_are_read_without_another_program() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let id = manual(&app, box_id, &key).await;
    let picture = image(&app, &format!("/files/{id}/pages/1/image?width=1200"), Some(&key)).await;
    let scan = uploaded(&app, box_id, &key, "scan.png", &picture.bytes().await.unwrap()).await;
    let body = json!({"sources": [scan], "regions": true});
    let answer = app.post(&format!("/boxes/{box_id}/retrieve-full-documents"), &key, body).await;
    let page = &answer.body["data"]["documents"][0]["pages"][0];
    assert_eq!(page["text"], "The warranty lasts two years.\n\nRepairs are made in Lyon.", "{answer:?}");
    assert!(page["ocr"] == true && page["confidence"].as_f64().unwrap() > 0.9, "{page}");
    let [left, top, right, bottom] = edges(&page["regions"][0]);
    assert!((9..=11).contains(&left) && (9..=11).contains(&top), "{page}");
    assert!((12..=14).contains(&bottom) && (50..=56).contains(&right), "{page}");
}

async fn image(app: &TestApp, path: &str, key: Option<&str>) -> reqwest::Response {
    app.request(Method::GET, path, key).send().await.unwrap()
}

/// Width and height of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

#[tokio::test]
async fn a_page_is_drawn_as_wide_as_asked_and_told_apart_by_its_tag() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = manual(&app, box_id, &key).await;
    let path = format!("/files/{file}/pages/1/image?width=300");
    let first = image(&app, &path, Some(&key)).await;
    assert_eq!(first.status(), 200);
    let headers = first.headers().clone();
    assert_eq!(headers["content-type"], "image/png");
    assert_eq!(headers["cache-control"], "private, no-cache");
    assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    assert!(headers.contains_key("x-ratelimit-hits"));
    let png = first.bytes().await.unwrap();
    assert_eq!(size(&png), (300, 400));
    assert_eq!(
        image(&app, &path, Some(&key)).await.bytes().await.unwrap(),
        png,
        "drawn once, or the same again"
    );
    let tag = headers["etag"].to_str().unwrap();
    let same = app.request(Method::GET, &path, Some(&key)).header("if-none-match", tag).send().await.unwrap();
    assert_eq!((same.status().as_u16(), same.headers()["etag"].to_str().unwrap()), (304, tag));
    let other = image(&app, &format!("/files/{file}/pages/2/image?width=300"), Some(&key)).await;
    assert_ne!(other.headers()["etag"], headers["etag"]);
    assert_ne!(other.bytes().await.unwrap(), png);
    let usual = image(&app, &format!("/files/{file}/pages/2/image"), Some(&key)).await;
    assert_eq!(size(&usual.bytes().await.unwrap()), (1200, 1600));
    // A link to the file shows its pages too.
    let link = app.get(&format!("/files/{file}/signed-url"), &key).await;
    let link = link.body["data"]["url"].as_str().unwrap();
    let linked = app.client.get(format!("{link}?page=1&width=300")).send().await.unwrap();
    assert_eq!(linked.bytes().await.unwrap(), png);
    let beyond = Answer::of(app.client.get(format!("{link}?page=3")).send().await.unwrap()).await;
    assert_eq!(beyond.verdict(), "404 B1004 not_found");
}

#[tokio::test]
async fn what_cannot_be_drawn_is_said_in_plain_words() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = manual(&app, box_id, &key).await;
    let text = app.text_file(box_id, &key, "notes.txt", "Nothing to see.").await;
    let failed = app.upload(box_id, &key, "x.pdf", b"%PDF-1.7 broken beyond repair", &[]).await;
    let failed = failed.body["data"]["fileId"].as_str().unwrap().to_string();
    app.settled(&key, &failed).await;
    for (path, verdict, says) in [
        (format!("{file}/pages/3/image"), "404 B1004 not_found", "from 1 to 2"),
        (format!("{file}/pages/0/image"), "404 B1004 not_found", "from 1 to 2"),
        (format!("{file}/pages/one/image"), "404 B1004 not_found", "from 1 to 2"),
        (format!("{file}/pages/99999999999/image"), "404 B1004 not_found", "from 1 to 2"),
        (format!("{file}/pages/1/image?width=15"), "400 B1004 invalid_parameter", "16 to 2400"),
        (format!("{file}/pages/1/image?width=1e9"), "400 B1004 invalid_parameter", "16 to 2400"),
        (format!("{file}/pages/1/image?width=-300"), "400 B1004 invalid_parameter", "16 to 2400"),
        (format!("{file}/pages/1/image?width=4294967297"), "400 B1004 invalid_parameter", "16 to 2400"),
        (format!("{text}/pages/1/image"), "422 B1004 invalid_parameter", "have no image"),
        (format!("{failed}/pages/1/image"), "409 B1004 not_ready", "failed"),
        (
            "fil_00000000000000000000000000000000/pages/1/image".into(),
            "404 B1004 not_found",
            "does not exist",
        ),
    ] {
        let answer = app.get(&format!("/files/{path}"), &key).await;
        answer.must_be_well_formed();
        assert_eq!(answer.verdict(), verdict, "{path}: {answer:?}");
        assert!(answer.body["error"].to_string().contains(says), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn only_readers_of_the_box_see_its_pages() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let path = format!("/files/{}/pages/1/image?width=100", manual(&app, box_id, &key).await);
    assert_eq!(image(&app, &path, Some(&key)).await.status(), 200);
    let (stranger, viewer) = (app.user("s@example.org").await, app.user("v@example.org").await);
    app.grant(box_id, viewer, Role::Viewer).await;
    // It was drawn before, which must not matter.
    let unknown = app.get(&path, &app.key(stranger).await).await;
    assert_eq!(unknown.verdict(), "404 B1004 not_found");
    let viewing = app.get(&path, &app.key(viewer).await).await;
    assert_eq!(viewing.verdict(), "403 B3002 role_insufficient");
    let searching = app.get(&path, &app.key_for(owner, "search").await).await;
    assert_eq!(searching.verdict(), "403 B3002 key_scope");
    assert_eq!(image(&app, &path, None).await.status(), 401);
}

#[tokio::test]
async fn many_pages_at_once_are_all_drawn() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = manual(&app, box_id, &key).await;
    let widths = 20..50;
    let pictures = widths.clone().map(|width| {
        let path = format!("/files/{file}/pages/1/image?width={width}");
        let request = app.request(Method::GET, &path, Some(&key));
        async move { size(&request.send().await.unwrap().bytes().await.unwrap()).0 }
    });
    let drawn = futures::future::join_all(pictures).await;
    assert_eq!(drawn, widths.collect::<Vec<u32>>());
    assert_eq!(app.get(&format!("/boxes/{box_id}/files"), &key).await.status, 200);
}
