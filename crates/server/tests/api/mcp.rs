//! `/mcp` and `/boxes/{box_id}/mcp`, in the protocols of 2025 and of 2026.

use engine::{access::Role, ids::BoxId};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    support::{Answer, TestApp},
    wires::{spent, two_documents},
};

const MODERN: &str = "2026-07-28";

/// A request of 2025, after whatever `initialize` it had.
async fn legacy(app: &TestApp, key: &str, path: &str, method: &str, params: Value) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    app.post(path, key, body).await
}

/// A request of 2026, with these headers in place of the right ones.
async fn modern(app: &TestApp, key: &str, method: &str, params: Value, headers: &[(&str, &str)]) -> Answer {
    let mut params = params;
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let name = params["name"].as_str().unwrap_or("").to_string();
    let body = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
    let mut request = app.client.post(app.url("/mcp")).bearer_auth(key).json(&body);
    for (header, value) in [("mcp-protocol-version", MODERN), ("mcp-method", method), ("mcp-name", &name)] {
        let value = headers.iter().find(|(other, _)| *other == header).map_or(value, |(_, value)| *value);
        if !value.is_empty() {
            request = request.header(header, value);
        }
    }
    Answer::of(request.send().await.unwrap()).await
}

/// What a tool gave back: its structured content, which is also its text.
fn content(answer: &Answer) -> &Value {
    let result = &answer.body["result"];
    assert_eq!(result["isError"], false, "{answer:?}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    &result["structuredContent"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_2025_searches_and_fetches() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, _) = two_documents(&app).await;
    for path in ["/mcp".to_string(), format!("/boxes/{box_id}/mcp")] {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let answer = legacy(&app, &key, &path, "initialize", params).await;
        assert_eq!((answer.status, &answer.body["id"]), (200, &json!(7)));
        assert_eq!(answer.body["result"]["protocolVersion"], "2025-06-18");
        assert!(!answer.headers.contains_key("mcp-session-id"), "there are no sessions");
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(app.post(&path, &key, note).await.status, 202);
        assert_eq!(legacy(&app, &key, &path, "ping", json!({})).await.body["result"], json!({}));
        let tools = legacy(&app, &key, &path, "tools/list", json!({})).await;
        let tools = tools.body["result"]["tools"].as_array().unwrap().clone();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["search", "fetch", "list_boxes", "list_files", "read_pages", "ask"]);
        assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
        let names_box = tools[0]["inputSchema"]["properties"].get("box").is_some();
        assert_eq!(names_box, path == "/mcp");

        let call = json!({"name": "search", "arguments": {"query": "How long does the warranty last?"}});
        let found = legacy(&app, &key, &path, "tools/call", call).await;
        let first = content(&found)["results"][0].clone();
        assert_eq!((&first["title"], &first["file_id"]), (&json!("warranty.md"), &json!(warranty)));
        assert!(first["url"].as_str().unwrap().ends_with("#page=1"), "{first}");
        assert_eq!(found.body["result"]["_meta"]["quire/usage"]["intelligence_units_consumed"], 1);
        for id in [first["id"].clone(), json!(warranty)] {
            let call = json!({"name": "fetch", "arguments": {"id": id}});
            let fetched = legacy(&app, &key, &path, "tools/call", call).await;
            let fetched = content(&fetched);
            assert!(fetched["text"].as_str().unwrap().contains("two years"), "{fetched}");
            assert_eq!((&fetched["id"], &fetched["title"]), (&id, &json!("warranty.md")));
            assert_eq!(fetched["metadata"]["page_count"], 1);
        }
    }
    assert_eq!(spent(&app, &key).await, 2, "only the searches");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_2026_needs_no_handshake() {
    let app = TestApp::start().await;
    let (_, key, _, _) = two_documents(&app).await;
    let answer = modern(&app, &key, "server/discover", json!({}), &[]).await;
    let result = &answer.body["result"];
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("private")),
        "{answer:?}"
    );
    assert_eq!(result["supportedVersions"][0], MODERN);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "quire");
    let answer = modern(&app, &key, "tools/list", json!({}), &[]).await;
    assert!(answer.body["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    let call = json!({"name": "search", "arguments": {"query": "holidays"}});
    let answer = modern(&app, &key, "tools/call", call.clone(), &[]).await;
    assert_eq!(content(&answer)["results"][0]["title"], "holidays.md");
    assert_eq!(answer.body["result"]["resultType"], "complete");

    for (headers, status, code) in [
        (&[("mcp-protocol-version", "2025-06-18")][..], 400, -32020),
        (&[("mcp-method", "tools/list")], 400, -32020),
        (&[("mcp-method", "")], 400, -32020),
        (&[("mcp-name", "fetch")], 400, -32020),
    ] {
        let answer = modern(&app, &key, "tools/call", call.clone(), headers).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (status, &json!(code)), "{headers:?}");
    }
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let answer = modern(&app, &key, method, json!({}), &[]).await;
        assert_eq!(answer.body["result"][list], json!([]), "{answer:?}");
    }
    for method in ["ping", "initialize", "logging/setLevel", "nonsense"] {
        let answer = modern(&app, &key, method, json!({}), &[]).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (404, &json!(-32601)), "{method}");
    }
    assert_eq!(spent(&app, &key).await, 1);
}

#[tokio::test]
async fn errors_are_json_rpc_whatever_goes_wrong() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let request = |method: Method, path: &str, key: Option<&str>| app.request(method, path, key);
    let unknown = format!("/boxes/{}/mcp", BoxId::generate());
    let own = format!("/boxes/{box_id}/mcp");
    for (request, status) in [
        (request(Method::POST, "/mcp", None).json(&ping), 401),
        (request(Method::POST, &own, Some("quire_12345678_x")).json(&ping), 401),
        (request(Method::POST, &unknown, Some(&key)).json(&ping), 403),
        (request(Method::GET, "/mcp", Some(&key)), 405),
        (request(Method::DELETE, &own, Some(&key)), 405),
        (request(Method::POST, "/mcp", Some(&key)).header("origin", "https://evil.example").json(&ping), 403),
        (request(Method::POST, "/mcp", Some(&key)).body("{"), 400),
        (request(Method::POST, "/mcp", Some(&key)).json(&json!([])), 400),
        (
            request(Method::POST, "/mcp", Some(&key))
                .header("mcp-protocol-version", "1999-01-01")
                .json(&ping),
            400,
        ),
    ] {
        let answer = Answer::of(request.send().await.unwrap()).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.body["jsonrpc"], "2.0", "{answer:?}");
        assert!(answer.body["error"]["code"].as_i64().is_some_and(|code| code < 0), "{answer:?}");
        assert!(!answer.body["error"]["message"].as_str().unwrap().is_empty());
        assert!(answer.headers.contains_key("x-ratelimit-hits"));
        assert_eq!(status == 401, answer.headers.contains_key("www-authenticate"));
    }
    let local =
        request(Method::POST, "/mcp", Some(&key)).header("origin", "http://localhost:6274").json(&ping);
    assert_eq!(Answer::of(local.send().await.unwrap()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_fails_says_so_to_the_model() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, _) = two_documents(&app).await;
    let path = format!("/boxes/{box_id}/mcp");
    for (name, arguments) in [
        ("search", json!({})),
        ("search", json!({"query": ""})),
        ("search", json!({"query": "x", "top_k": 51})),
        ("fetch", json!({"id": "nonsense"})),
        ("fetch", json!({"id": "fil_00000000000000000000000000000000"})),
        ("fetch", json!({"id": warranty.replace("fil_", "chk_") + "_999"})),
        ("list_files", json!({"limit": 0})),
        ("list_files", json!({"cursor": "x"})),
        ("read_pages", json!({"file": warranty, "pages": "3-1"})),
        ("ask", json!({"question": ""})),
    ] {
        let call = json!({"name": name, "arguments": arguments});
        let answer = legacy(&app, &key, &path, "tools/call", call.clone()).await;
        let result = &answer.body["result"];
        assert_eq!((answer.status, &result["isError"]), (200, &json!(true)), "{call}: {answer:?}");
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    }
    let answer = legacy(&app, &key, &path, "tools/call", json!({"name": "delete_everything"})).await;
    assert_eq!(answer.body["error"]["code"], -32602);
    assert_eq!(spent(&app, &key).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_reach_what_the_key_and_the_address_reach() {
    let app = TestApp::start().await;
    let (box_id, key, warranty, holidays) = two_documents(&app).await;
    let call = |path: String, name: &'static str, arguments: Value| {
        let (app, key) = (&app, &key);
        async move { legacy(app, key, &path, "tools/call", json!({"name": name, "arguments": arguments})).await }
    };
    let owner = app.catalog.user(&"owner@example.org".parse().unwrap()).await.unwrap().id;
    let second = app.catalog.add_box("more".parse().unwrap(), owner).await.unwrap().id;
    let other = app.text_file(second, &key, "other.md", "The warranty of the boat lasts ten years.").await;
    let stranger = app.user("stranger@example.org").await;
    let foreign = app.box_of(stranger).await;
    app.grant(foreign, owner, Role::Viewer).await;

    let boxes = call("/mcp".into(), "list_boxes", json!({})).await;
    assert_eq!(content(&boxes)["boxes"].as_array().unwrap().len(), 2, "{boxes:?}");
    let found = call("/mcp".into(), "search", json!({"query": "warranty lasts years"})).await;
    let titles: Vec<_> =
        content(&found)["results"].as_array().unwrap().iter().map(|one| one["title"].clone()).collect();
    assert!(titles.contains(&json!("other.md")) && titles.contains(&json!("warranty.md")), "{titles:?}");
    let scores: Vec<f64> = content(&found)["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["score"].as_f64().unwrap())
        .collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    let named = call("/mcp".into(), "search", json!({"query": "warranty", "box": "MORE"})).await;
    assert!(content(&named)["results"].as_array().unwrap().iter().all(|one| one["title"] == "other.md"));
    let own = format!("/boxes/{box_id}/mcp");
    let outside = call(own.clone(), "fetch", json!({"id": other})).await;
    assert_eq!(outside.body["result"]["isError"], true, "the address names another box");
    assert_eq!(call(format!("/boxes/{foreign}/mcp"), "list_boxes", json!({})).await.status, 403);

    let files = call(own.clone(), "list_files", json!({"limit": 1})).await;
    let files = content(&files).clone();
    assert_eq!((&files["files"][0]["id"], &files["total"]), (&json!(holidays), &json!(2)));
    let rest = call(own.clone(), "list_files", json!({"cursor": files["next_cursor"]})).await;
    assert_eq!(content(&rest)["files"][0]["id"], json!(warranty));
    let pages = call(own.clone(), "read_pages", json!({"file": warranty, "pages": "1"})).await;
    assert!(content(&pages)["pages"][0]["text"].as_str().unwrap().contains("Lyon"));
    let answer = call(own, "ask", json!({"question": "How long does the warranty last?"})).await;
    let answer = content(&answer);
    assert!(answer["answer"].as_str().unwrap().contains("two years"), "{answer}");
    assert_eq!(
        (&answer["citations"][0]["index"], &answer["citations"][0]["file_id"]),
        (&json!(1), &json!(warranty))
    );
    let which = call("/mcp".into(), "ask", json!({"question": "How long?"})).await;
    assert_eq!(which.body["result"]["isError"], true, "two boxes could be meant");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_has_the_tools_that_its_permissions_allow() {
    let app = TestApp::start().await;
    let (box_id, _, warranty, _) = two_documents(&app).await;
    let owner = app.catalog.user(&"owner@example.org".parse().unwrap()).await.unwrap().id;
    for (permissions, tools) in [
        ("search", &["search", "ask"][..]),
        ("read", &["fetch", "list_boxes", "list_files", "read_pages"]),
        ("write,manage", &[]),
    ] {
        let key = app.key_for(owner, permissions).await;
        for path in ["/mcp".to_string(), format!("/boxes/{box_id}/mcp")] {
            let listed = legacy(&app, &key, &path, "tools/list", json!({})).await;
            let listed = listed.body["result"]["tools"].as_array().unwrap().clone();
            let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(names, tools, "{permissions}");
            for (name, arguments) in [
                ("search", json!({"query": "warranty"})),
                ("fetch", json!({"id": warranty})),
                ("list_boxes", json!({})),
                ("list_files", json!({})),
                ("read_pages", json!({"file": warranty})),
                ("ask", json!({"question": "How long does the warranty last?"})),
            ] {
                let call = json!({"name": name, "arguments": arguments});
                let answer = legacy(&app, &key, &path, "tools/call", call).await;
                let failed = answer.body["result"]["isError"].as_bool().unwrap();
                assert_eq!(failed, !tools.contains(&name), "{permissions} {name}: {answer:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_is_filtered_by_metadata_and_by_fields_of_files() {
    let app = TestApp::start().await;
    let (_, key, _, _) = two_documents(&app).await;
    for filter in [json!({"year": 2023}), json!({"$file.name": {"$starts": "holi"}})] {
        let arguments = json!({"query": "warranty and holidays", "filter": filter});
        let call = json!({"name": "search", "arguments": arguments});
        let found = legacy(&app, &key, "/mcp", "tools/call", call).await;
        let found = content(&found)["results"].as_array().unwrap();
        assert!(!found.is_empty() && found.iter().all(|one| one["title"] == "holidays.md"), "{found:?}");
    }
    let wrong = json!({"name": "search", "arguments": {"query": "x", "filter": {"$file.colour": 1}}});
    let answer = legacy(&app, &key, "/mcp", "tools/call", wrong).await;
    assert_eq!(answer.body["result"]["isError"], true);
}
