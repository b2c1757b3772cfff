//! JSON answers: read with the order of their keys, checked text by text, and made where nothing was found.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Value;

/// A JSON value whose objects keep the order of their keys.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    /// Numbers, truth values and null.
    Other(Value),
}

/// A text of an answer, with what it stands beside.
pub(super) struct Leaf<'a> {
    pub(super) text: &'a mut String,
    /// Which object it belongs to, from 0.
    pub(super) object: usize,
    /// Whether the schema lists the texts that may stand here.
    pub(super) listed: bool,
}

impl Node {
    /// Every text, in order.
    pub(super) fn texts<'a>(&'a mut self, schema: Option<&Value>) -> Vec<Leaf<'a>> {
        let (mut leaves, mut objects) = (Vec::new(), 0);
        self.collect(schema, 0, &mut objects, &mut leaves);
        leaves
    }

    fn collect<'a>(
        &'a mut self,
        schema: Option<&Value>,
        object: usize,
        objects: &mut usize,
        leaves: &mut Vec<Leaf<'a>>,
    ) {
        match self {
            Node::Object(fields) => {
                *objects += 1;
                let object = *objects;
                for (name, node) in fields {
                    node.collect(
                        schema.map(|schema| &schema["properties"][name.as_str()]),
                        object,
                        objects,
                        leaves,
                    );
                }
            }
            Node::Array(nodes) => {
                for node in nodes {
                    node.collect(schema.map(|schema| &schema["items"]), object, objects, leaves);
                }
            }
            Node::Text(text) => {
                let listed =
                    schema.is_some_and(|schema| !schema["enum"].is_null() || !schema["const"].is_null());
                leaves.push(Leaf { text, object, listed });
            }
            Node::Other(_) => {}
        }
    }

    /// The same with keys in the order in which the schema requires them, others behind.
    pub(super) fn ordered(self, schema: &Value) -> Self {
        match self {
            Node::Object(fields) => {
                let required: Vec<&str> =
                    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let place =
                    |name: &str| required.iter().position(|known| *known == name).unwrap_or(usize::MAX);
                let inner = |(name, node): (String, Node)| {
                    let node = node.ordered(&schema["properties"][name.as_str()]);
                    (name, node)
                };
                let mut fields: Vec<(String, Node)> = fields.into_iter().map(inner).collect();
                fields.sort_by_key(|(name, _)| place(name));
                Node::Object(fields)
            }
            Node::Array(nodes) => {
                Node::Array(nodes.into_iter().map(|node| node.ordered(&schema["items"])).collect())
            }
            other => other,
        }
    }

    /// A value of this schema that says nothing but this sentence, in the first text that may hold it.
    pub(super) fn nothing(schema: Option<&Value>, sentence: &str) -> Self {
        let mut sentence = Some(sentence.to_string());
        match schema {
            Some(schema) => Self::empty(schema, &mut sentence),
            None => Node::Object(vec![("answer".into(), Node::Text(sentence.unwrap_or_default()))]),
        }
    }

    fn empty(schema: &Value, sentence: &mut Option<String>) -> Self {
        if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
            return Node::Other(first.clone());
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            Value::String(one) => vec![one.as_str()],
            _ if schema["properties"].is_object() => vec!["object"],
            _ => vec!["null"],
        };
        if types.contains(&"null") {
            return Node::Other(Value::Null);
        }
        match types.first() {
            Some(&"object") => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let field =
                    |name: &str| (name.to_string(), Self::empty(&schema["properties"][name], sentence));
                Node::Object(required.map(field).collect())
            }
            Some(&"array") => Node::Array(Vec::new()),
            Some(&"string") => Node::Text(sentence.take().unwrap_or_default()),
            Some(&"boolean") => Node::Other(Value::Bool(false)),
            Some(&"integer" | &"number") => Node::Other(Value::from(0)),
            _ => Node::Other(Value::Null),
        }
    }
}

/// The schema itself, out of what OpenAI's `json_schema` wraps it in.
pub(super) fn unwrapped(wrapped: &Value) -> &Value {
    if wrapped["schema"].is_object() { &wrapped["schema"] } else { wrapped }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, node) in fields {
                    map.serialize_entry(name, node)?;
                }
                map.end()
            }
            Node::Array(nodes) => {
                let mut array = serializer.serialize_seq(Some(nodes.len()))?;
                for node in nodes {
                    array.serialize_element(node)?;
                }
                array.end()
            }
            Node::Text(text) => serializer.serialize_str(text),
            Node::Other(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = array.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Array(nodes))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_string()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_keep_the_order_of_the_schema() {
        let node: Node = serde_json::from_str(r#"{"b": 1, "z": [{"y": "t", "x": null}], "a": 2.5}"#).unwrap();
        assert_eq!(serde_json::to_string(&node).unwrap(), r#"{"b":1,"z":[{"y":"t","x":null}],"a":2.5}"#);
        let schema =
            json!({"required": ["z", "a", "b"], "properties": {"z": {"items": {"required": ["x", "y"]}}}});
        let ordered = serde_json::to_string(&node.ordered(&schema)).unwrap();
        assert_eq!(ordered, r#"{"z":[{"x":null,"y":"t"}],"a":2.5,"b":1}"#);
    }

    #[test]
    fn texts_know_their_object() {
        let mut node: Node =
            serde_json::from_str(r#"{"tasks": [{"t": "roof", "o": "Anna"}, {"t": "wall"}], "k": "low"}"#)
                .unwrap();
        let schema = json!({"properties": {"k": {"enum": ["low", "high"]}}});
        let leaves = node.texts(Some(&schema));
        let seen: Vec<(&str, usize, bool)> =
            leaves.iter().map(|leaf| (leaf.text.as_str(), leaf.object, leaf.listed)).collect();
        assert_eq!(seen, [("roof", 2, false), ("Anna", 2, false), ("wall", 3, false), ("low", 1, true)]);
    }

    #[test]
    fn nothing_found_is_json_too() {
        let schema = json!({"type": "object", "required": ["answer", "note", "years", "list", "sure"], "properties": {
            "answer": {"type": "string"}, "note": {"type": ["string", "null"]}, "years": {"type": "integer"},
            "list": {"type": "array"}, "sure": {"type": "boolean"}}});
        let nothing = serde_json::to_string(&Node::nothing(Some(&schema), "No.")).unwrap();
        assert_eq!(nothing, r#"{"answer":"No.","note":null,"years":0,"list":[],"sure":false}"#);
        assert_eq!(serde_json::to_string(&Node::nothing(None, "No.")).unwrap(), r#"{"answer":"No."}"#);
        assert_eq!(
            unwrapped(&json!({"name": "n", "schema": {"type": "object"}})),
            &json!({"type": "object"})
        );
    }
}
