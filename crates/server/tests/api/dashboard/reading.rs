//! Reading a page: its picture with the quote marked on it, and its text as it is laid out.

use engine::access::Role;

use super::{Browser, between};
use crate::{pages::manual, support::TestApp};

/// A share of the page that an attribute of the first mark tells.
fn share(html: &str, name: &str) -> f64 {
    let mark = between(html, "<rect ", "/>");
    between(mark, &format!("{name}=\""), "\"").parse().unwrap()
}

#[tokio::test]
async fn the_quote_is_marked_on_the_picture_and_in_the_text() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let file = manual(&app, box_id, &key).await;
    let (_, mut viewer) = app.member(box_id, "viewer@example.org", Role::Viewer).await;
    let place = format!("/boxes/{box_id}/files/{file}");
    let plain = viewer.get(&place).await;
    assert!(
        plain.text.contains(&format!("{place}/pages/1/image")) && !plain.text.contains("<rect"),
        "{plain:?}"
    );
    assert!(!plain.text.contains("Previous page") && plain.text.contains(&format!("{place}?page=2")));
    // "Repairs are made in Lyon." is the second line of the page, halfway down.
    let whole = "The warranty lasts two years.\n\nRepairs are made in Lyon.";
    let start = whole.find("Repairs").unwrap();
    for path in [format!("{place}?page=1&"), format!("{place}/pages/1?")] {
        let page = viewer.get(&format!("{path}start={start}&end={}", whole.len())).await;
        assert!(page.text.contains("<mark data-quote>Repairs are made in Lyon.</mark>"), "{page:?}");
        assert!((share(&page.text, "y") - 0.49).abs() < 0.02, "{page:?}");
        assert!(share(&page.text, "width") > 0.1 && share(&page.text, "height") < 0.05, "{page:?}");
    }
    let image = viewer.get(&format!("{place}/pages/1/image?width=300")).await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
    assert!(image.header("content-security-policy").starts_with("sandbox"));
    assert_eq!(viewer.get(&format!("{place}/pages/3/image")).await.status, 404);
    assert_eq!(viewer.get(&format!("{place}/pages/1/image?width=9999")).await.status, 400);
}

#[tokio::test]
async fn what_has_no_look_is_read_as_text_with_its_tables() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    let text = "# Prices\n\n| part | price |\n|---|---|\n| pump | <b>12</b> |";
    let file = app.text_file(box_id, &key, "prices.md", text).await;
    let mut browser = Browser::of(&app, owner).await;
    let page = browser.get(&format!("/boxes/{box_id}/files/{file}")).await;
    assert!(
        page.text.contains("<td dir=\"auto\">pump</td><td dir=\"auto\">&lt;b&gt;12&lt;/b&gt;</td>"),
        "{page:?}"
    );
    assert!(!page.text.contains("/image"), "{page:?}");
    assert_eq!(browser.get(&format!("/boxes/{box_id}/files/{file}/pages/1/image")).await.status, 422);
}
