//! The language model that an operator chose: one or none, and its key leaves with it.

use engine::{access::Operating, seams::catalog::ChosenModel};

use super::fresh;

fn model(name: &str, key: Option<&str>) -> ChosenModel {
    ChosenModel { url: "http://127.0.0.1:11434/v1".into(), model: name.into(), key: key.map(Into::into) }
}

#[tokio::test]
async fn a_model_is_chosen_changed_and_given_up() {
    let fresh = fresh();
    let (catalog, operating) = (&fresh.catalog, Operating::for_operator());
    assert_eq!(catalog.chosen_model().await.unwrap(), None);
    for chosen in [Some(model("one", Some("a key"))), Some(model("two", None)), None] {
        catalog.choose_model(&operating, chosen.clone()).await.unwrap();
        assert_eq!(catalog.chosen_model().await.unwrap(), chosen);
    }
    assert!(!format!("{:?}", model("one", Some("a key"))).contains("a key"));
    assert_eq!(catalog.link_secret().await.unwrap().len(), 64, "the other secrets stay");
}
