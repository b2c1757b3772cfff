//! The language of the dashboard: the browser's, until somebody chooses one.

use engine::{access::Role, seams::catalog::UserLanguage};
use reqwest::Method;

use super::{Browser, Page};
use crate::support::TestApp;

/// Looks at a page in a browser that asks for a language.
async fn asking_for(browser: &mut Browser, language: &str, path: &str) -> Page {
    let request = browser.request(Method::GET, path).header("accept-language", language);
    browser.send(request.header("accept", "text/html")).await
}

#[tokio::test]
async fn strangers_are_spoken_to_as_their_browser_asks() {
    let app = TestApp::start().await;
    let mut browser = Browser::new(&app);
    for (asked, code, said) in [
        ("es-CO,es;q=0.9,en;q=0.8", "es", "Iniciar sesión"),
        ("de", "de", "Anmelden"),
        ("ja,en;q=0.5", "en", "Sign in"),
    ] {
        let page = asking_for(&mut browser, asked, "/sign-in").await;
        assert!(page.text.contains(&format!("<html lang=\"{code}\">")), "{asked}: {}", page.text);
        assert!(page.text.contains(&format!("<h1>{said}</h1>")), "{asked}: {}", page.text);
    }
    let nowhere = asking_for(&mut browser, "fr", "/nowhere").await;
    assert!(nowhere.text.contains("Aller à la page d’accueil"), "{}", nowhere.text);
}

#[tokio::test]
async fn what_was_chosen_counts_more_than_what_a_browser_asks_for() {
    let app = TestApp::start().await;
    let (_, box_id, _) = app.owner().await;
    let (ada, mut browser) = app.member(box_id, "ada@example.org", Role::Viewer).await;
    let title = |page: Page| page.text.split("<h1>").nth(1).unwrap().split('<').next().unwrap().to_string();
    assert_eq!(title(asking_for(&mut browser, "fr", "/").await), "Boîtes");
    let page = browser.post("/account/language", &[("language", "pt")]).await;
    assert_eq!(page.location(), "/account/profile?done=profile");
    assert_eq!(title(asking_for(&mut browser, "fr", "/").await), "Caixas");
    // A role has one name in addresses and forms, and another to people.
    let members = browser.get(&format!("/boxes/{box_id}/members")).await;
    assert!(members.text.contains("leitor") && members.text.contains("proprietário"), "{}", members.text);
    let wrong = browser.post("/account/language", &[("language", "tlh")]).await;
    assert_eq!(wrong.status, 400);
    browser.post("/account/language", &[("language", "")]).await;
    assert_eq!(title(asking_for(&mut browser, "fr", "/").await), "Boîtes");
    assert_eq!(title(browser.get("/").await), "Boxes");
    app.catalog.set_user_language(ada, Some(UserLanguage::German)).await.unwrap();
    assert_eq!(title(browser.get("/").await), "Boxen", "from the next request on");
}
