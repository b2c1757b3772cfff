//! The description of the API is served, public, and the same as the one in `docs/`.

use serde_json::Value;

use crate::support::{Answer, TestApp};

#[tokio::test]
async fn the_golden_file_is_what_the_server_serves() {
    let app = TestApp::start().await;
    let request = app.client.get(app.url("/api/public/v1/openapi.json"));
    let response = request.header("accept", "application/openapi+json").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers().contains_key("x-ratelimit-hits"));
    assert_eq!(response.headers()["content-type"], "application/openapi+json");
    let served: Value = response.json().await.unwrap();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    assert!(served == kept, "docs/openapi.json is behind the code: run `quire openapi > docs/openapi.json`");
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let document = serde_json::to_value(server::http::routes::description()).unwrap();
    let mut names: Vec<&str> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name =
                operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no name"));
            assert!(!names.contains(&name), "{method} {path} is called {name}, as another is");
            names.push(name);
        }
    }
    assert!(names.len() >= 20, "{names:?}");
}

/// What linters of OpenAPI documents look at first.
#[test]
fn every_component_is_referred_to_and_the_server_is_named() {
    let document = serde_json::to_value(server::http::routes::description()).unwrap();
    assert_eq!(document["servers"][0]["url"], "/");
    let text = document.to_string();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("\"#/components/schemas/{name}\"")), "nothing refers to {name}");
    }
}

#[tokio::test]
async fn like_every_json_answer_it_comes_in_the_envelope() {
    let app = TestApp::start().await;
    let response = app.client.get(app.url("/api/public/v1/openapi.json")).send().await.unwrap();
    let answer = Answer::of(response).await;
    answer.must_be_well_formed();
    assert_eq!(answer.body["data"]["openapi"], answer.body["openapi"], "tools read it at the top level");
    assert!(answer.body["paths"].is_object() && answer.body["data"]["paths"].is_object());
}

#[tokio::test]
async fn only_reading_it_is_public() {
    let app = TestApp::start().await;
    for (method, verdict) in [(reqwest::Method::POST, "405 B1004 invalid_parameter")] {
        let request = app.client.request(method, app.url("/api/public/v1/openapi.json"));
        assert_eq!(Answer::of(request.send().await.unwrap()).await.verdict(), verdict);
    }
}
