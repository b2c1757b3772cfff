//! Layers settings: defaults, then a file, then the environment. What the defaults do not name is refused.

use std::path::Path;

use toml::{Table, Value};

use super::{Config, ConfigError, telemetry::STANDARD};

/// The file that documents and supplies every setting.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");
/// Environment variables that start so are settings.
const MARK: &str = "QUIRE__";

/// Reads a settings file.
pub(super) fn read_file(path: &Path) -> Result<(String, Table), ConfigError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|e| ConfigError::new(format_args!("cannot read {name}: {e}")))?;
    let table = text.parse().map_err(|e| ConfigError::new(format_args!("{name}: {e}")))?;
    Ok((name, table))
}

/// Merges the layers.
pub(super) fn layered(
    file: Option<(String, Table)>,
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut settings: Table = DEFAULTS.parse().expect("the built-in defaults are TOML");
    if let Some((name, table)) = file {
        for (section, keys) in table {
            let Value::Table(keys) = keys else {
                return Err(unknown(&name, &section, settings.keys().map(String::as_str)));
            };
            for (key, value) in keys {
                *place(&mut settings, &name, &section, &key)? = value;
            }
        }
    }
    let environment: Vec<_> = environment.collect();
    for (standard, key) in STANDARD {
        if let Some((variable, text)) = environment.iter().find(|(variable, _)| variable == standard) {
            *place(&mut settings, variable, "telemetry", key)? = Value::String(text.clone());
        }
    }
    for (variable, text) in environment {
        let Some(path) = variable.strip_prefix(MARK) else { continue };
        let path = path.to_lowercase();
        let (section, key) = path.split_once("__").unwrap_or((&path, ""));
        let place = place(&mut settings, &variable, section, key)?;
        *place = typed_like(place, &text)
            .ok_or_else(|| ConfigError::new(format_args!("{variable}: `{text}` is not {}", kind(place))))?;
    }
    serde_path_to_error::deserialize(Value::Table(settings)).map_err(|error| {
        let path = error.path().to_string();
        ConfigError::new(format_args!("setting {path}: {}", error.into_inner().message()))
    })
}

/// Where a setting lives, or an error that names the nearest one.
fn place<'a>(
    settings: &'a mut Table,
    origin: &str,
    section: &str,
    key: &str,
) -> Result<&'a mut Value, ConfigError> {
    let known = known_paths(settings);
    let found = settings.get_mut(section).and_then(Value::as_table_mut).and_then(|keys| keys.get_mut(key));
    found.ok_or_else(|| unknown(origin, &format!("{section}.{key}"), known.iter().map(String::as_str)))
}

fn known_paths(settings: &Table) -> Vec<String> {
    let paths = settings.iter().filter_map(|(section, keys)| Some((section, keys.as_table()?)));
    paths.flat_map(|(section, keys)| keys.keys().map(move |key| format!("{section}.{key}"))).collect()
}

fn unknown<'a>(origin: &str, path: &str, known: impl Iterator<Item = &'a str>) -> ConfigError {
    let nearest = nearest(path, known).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    ConfigError::new(format_args!("{origin}: there is no setting {path}{nearest}"))
}

/// How similar two names must be for one to count as a typo of the other: `topk` and `top_k` are (0.95), `colour` and
/// `cursor`
/// are not (0.7).
const ALIKE: f64 = 0.8;

/// The known name that `wanted` resembles, if there is one.
pub(crate) fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.map(|name| (strsim::jaro_winkler(name, wanted), name));
    alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// What a setting must be, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list with commas",
        Value::String(_) | Value::Datetime(_) | Value::Table(_) => "a text",
    }
}

/// Reads a text as the type that the default has.
fn typed_like(default: &Value, text: &str) -> Option<Value> {
    match default {
        Value::String(_) => Some(Value::String(text.into())),
        Value::Integer(_) => text.trim().parse().ok().map(Value::Integer),
        Value::Float(_) => text.trim().parse().ok().map(Value::Float),
        Value::Boolean(_) => match text.trim().to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(Value::Boolean(true)),
            "false" | "0" | "no" | "off" => Some(Value::Boolean(false)),
            _ => None,
        },
        Value::Array(_) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Some(Value::Array(items.map(|item| Value::String(item.into())).collect()))
        }
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        layered(None, pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())))
    }

    fn file(text: &str) -> Result<Config, ConfigError> {
        layered(Some(("quire.toml".into(), text.parse().unwrap())), std::iter::empty())
    }

    #[test]
    fn the_defaults_are_what_the_contract_says() {
        let config = Config::defaults();
        let limits = (config.limits.key_requests, config.limits.key_window_s);
        assert_eq!(limits, (100, 60));
        assert_eq!((config.limits.user_requests, config.limits.user_window_s), (15_000, 86_400));
        assert_eq!((config.units.monthly, config.units.exhausted_status), (1_000, 402));
        assert_eq!(config.http.listen.to_string(), "127.0.0.1:8443");
        assert!(config.checked().is_ok());
    }

    #[test]
    fn a_collector_is_named_by_its_usual_variables_and_by_ours() {
        let usual = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "k=v, l = w=x"),
        ];
        let config = environment(&usual).unwrap();
        assert_eq!(config.telemetry.address(), Some("http://a:4318"));
        let pairs = [("k", "v"), ("l", "w=x")].map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(config.telemetry.pairs(), pairs);
        assert!(!format!("{config:?}").contains("w=x"));
        let ours = [("QUIRE__TELEMETRY__ENDPOINT", "b:4318"), usual[0]];
        let config = environment(&ours).unwrap();
        assert_eq!(config.telemetry.address(), Some("b:4318"));
        assert!(config.checked().unwrap_err().to_string().contains("telemetry.endpoint"));
        assert_eq!(Config::defaults().telemetry.address(), None);
    }

    #[test]
    fn the_environment_goes_over_the_file() {
        let table: Table = "[limits]\nkey_requests = 7\nuser_requests = 8".parse().unwrap();
        let variables = [("QUIRE__LIMITS__KEY_REQUESTS".to_string(), "9".to_string())];
        let config = layered(Some(("f".into(), table)), variables.into_iter()).unwrap();
        assert_eq!((config.limits.key_requests, config.limits.user_requests), (9, 8));
    }

    #[test]
    fn lists_and_switches_come_from_the_environment() {
        let config = environment(&[
            ("QUIRE__HTTP__TRUSTED_PROXIES", "10.0.0.1, ::1"),
            ("QUIRE__KEYS__REVOKE_EXPOSED", "true"),
            ("QUIRE_URL", "not a setting"),
        ])
        .unwrap();
        assert_eq!(config.http.trusted_proxies.len(), 2);
        assert!(config.keys.revoke_exposed);
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let said = |result: Result<Config, ConfigError>| result.unwrap_err().to_string();
        assert!(said(file("[limits]\nkey_request = 7")).contains("did you mean limits.key_requests?"));
        assert!(said(file("limits = 7")).contains("quire.toml"));
        assert!(said(environment(&[("QUIRE__UNIT__MONTHLY", "7")])).contains("units.monthly"));
        assert!(said(environment(&[("QUIRE__UNITS", "7")])).contains("QUIRE__UNITS"));
    }

    #[test]
    fn a_wrong_value_names_its_setting() {
        let said = |result: Result<Config, ConfigError>| result.unwrap_err().to_string();
        assert!(
            said(environment(&[("QUIRE__LIMITS__KEY_REQUESTS", "many")])).contains("is not a whole number")
        );
        assert!(said(file("[http]\ntls = \"maybe\"")).contains("http.tls"));
        assert!(said(file("[limits]\nkey_requests = -1")).contains("limits.key_requests"));
    }
}
