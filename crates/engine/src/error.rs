//! What can go wrong, whose fault it is and what to do now: the one table of codes behind every error answer.

use std::{fmt, time::Duration};

/// One of the four codes of the API, with its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// `B3002`: the key or the role does not allow it.
    Permissions,
    /// `B3107`: too many requests, or too few intelligence units left.
    Quota,
    /// `B1004`: the request itself is wrong.
    Validation,
    /// `B1000`: our fault.
    Server,
}

impl Code {
    /// The code as sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Permissions => "B3002",
            Code::Quota => "B3107",
            Code::Validation => "B1004",
            Code::Server => "B1000",
        }
    }

    /// The category as sent.
    pub fn category(self) -> &'static str {
        match self {
            Code::Permissions => "permissions",
            Code::Quota => "quota",
            Code::Validation => "validation",
            Code::Server => "server",
        }
    }
}

/// Why a request failed. Names never change, texts may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    KeyMissing,
    KeyInvalid,
    KeyExpired,
    KeyRevoked,
    RoleInsufficient,
    BoxUnknown,
    KeyScope,
    RateLimitKey,
    RateLimitUser,
    OverloadedKey,
    UnitsExhausted,
    MissingParameter,
    InvalidParameter,
    /// The parameters are each well-formed but cannot be served together, or ask for what this server cannot do.
    Unprocessable,
    /// Something with that name exists, or the same work is in progress.
    Conflict,
    NotFound,
    MethodNotAllowed,
    NotReady,
    TooLarge,
    /// As many of something as the account, box or file may have.
    QuotaExceeded,
    /// As many bytes of something as the account or file may have.
    QuotaTooLarge,
    UnsupportedMediaType,
    HttpsRequired,
    IdempotencyMismatch,
    Internal,
    UpstreamUnavailable,
    Overloaded,
    Timeout,
}

impl Reason {
    /// Every reason, for the documentation of all of them.
    pub const ALL: &'static [Self] = {
        use Reason::*;
        &[
            KeyMissing,
            KeyInvalid,
            KeyExpired,
            KeyRevoked,
            RoleInsufficient,
            BoxUnknown,
            KeyScope,
            RateLimitKey,
            RateLimitUser,
            OverloadedKey,
            UnitsExhausted,
            MissingParameter,
            InvalidParameter,
            Unprocessable,
            Conflict,
            NotFound,
            MethodNotAllowed,
            NotReady,
            TooLarge,
            QuotaExceeded,
            QuotaTooLarge,
            UnsupportedMediaType,
            HttpsRequired,
            IdempotencyMismatch,
            Internal,
            UpstreamUnavailable,
            Overloaded,
            Timeout,
        ]
    };

    /// The code that this reason belongs to.
    pub fn code(self) -> Code {
        use Reason::*;
        match self {
            KeyMissing | KeyInvalid | KeyExpired | KeyRevoked => Code::Permissions,
            RoleInsufficient | BoxUnknown | KeyScope => Code::Permissions,
            RateLimitKey | RateLimitUser | OverloadedKey | UnitsExhausted => Code::Quota,
            MissingParameter | InvalidParameter | Unprocessable | Conflict | NotFound => Code::Validation,
            MethodNotAllowed | NotReady | TooLarge | UnsupportedMediaType => Code::Validation,
            HttpsRequired | IdempotencyMismatch | QuotaExceeded | QuotaTooLarge => Code::Validation,
            Internal | UpstreamUnavailable | Overloaded | Timeout => Code::Server,
        }
    }

    /// The HTTP status, before `units.exhausted_status` is applied.
    pub fn status(self) -> u16 {
        use Reason::*;
        match self {
            KeyMissing | KeyInvalid | KeyExpired | KeyRevoked => 401,
            UnitsExhausted => 402,
            RoleInsufficient | BoxUnknown | KeyScope => 403,
            RateLimitKey | RateLimitUser | OverloadedKey => 429,
            MissingParameter | InvalidParameter | HttpsRequired => 400,
            NotFound => 404,
            MethodNotAllowed => 405,
            NotReady | Conflict | QuotaExceeded => 409,
            TooLarge | QuotaTooLarge => 413,
            UnsupportedMediaType => 415,
            IdempotencyMismatch | Unprocessable => 422,
            Internal => 500,
            UpstreamUnavailable | Overloaded => 503,
            Timeout => 504,
        }
    }

    /// The reason as sent; several of ours may share one name there.
    pub fn as_str(self) -> &'static str {
        use Reason::*;
        match self {
            KeyMissing => "key_missing",
            KeyInvalid => "key_invalid",
            KeyExpired => "key_expired",
            KeyRevoked => "key_revoked",
            RoleInsufficient => "role_insufficient",
            BoxUnknown => "box_unknown",
            KeyScope => "key_scope",
            RateLimitKey => "rate_limit_key",
            RateLimitUser => "rate_limit_user",
            OverloadedKey => "overloaded_key",
            UnitsExhausted => "units_exhausted",
            MissingParameter => "missing_parameter",
            InvalidParameter | Unprocessable | Conflict | MethodNotAllowed | UnsupportedMediaType => {
                "invalid_parameter"
            }
            NotFound => "not_found",
            NotReady => "not_ready",
            TooLarge => "too_large",
            QuotaExceeded | QuotaTooLarge => "quota_exceeded",
            HttpsRequired => "https_required",
            IdempotencyMismatch => "idempotency_mismatch",
            Internal => "internal",
            UpstreamUnavailable => "upstream_unavailable",
            Overloaded => "overloaded",
            Timeout => "timeout",
        }
    }

    /// The OpenAI-style `type` of the error.
    pub fn kind(self) -> &'static str {
        use Reason::*;
        match self {
            KeyMissing | KeyInvalid | KeyExpired | KeyRevoked => "authentication_error",
            RoleInsufficient | BoxUnknown | KeyScope => "permission_error",
            RateLimitKey | RateLimitUser | OverloadedKey => "rate_limit_error",
            UnitsExhausted => "insufficient_quota",
            MissingParameter | InvalidParameter | Unprocessable | Conflict | NotFound | MethodNotAllowed
            | NotReady | TooLarge | UnsupportedMediaType | HttpsRequired | IdempotencyMismatch
            | QuotaExceeded | QuotaTooLarge => "invalid_request_error",
            Internal | UpstreamUnavailable | Overloaded | Timeout => "server_error",
        }
    }

    /// A short title for people.
    pub fn summary(self) -> &'static str {
        use Reason::*;
        match self {
            KeyMissing => "API key missing",
            KeyInvalid => "API key invalid",
            KeyExpired => "API key expired",
            KeyRevoked => "API key revoked",
            RoleInsufficient => "Insufficient role",
            BoxUnknown => "No access to this box",
            KeyScope => "Outside the key's scope",
            RateLimitKey | RateLimitUser => "Rate limit exceeded",
            OverloadedKey => "Too many requests at once",
            UnitsExhausted => "Not enough intelligence units",
            MissingParameter => "Missing parameter",
            InvalidParameter | Unprocessable => "Invalid parameter",
            Conflict => "Conflict",
            NotFound => "Not found",
            MethodNotAllowed => "Method not allowed",
            NotReady => "Not ready",
            TooLarge => "Too large",
            QuotaExceeded | QuotaTooLarge => "Quota exceeded",
            UnsupportedMediaType => "Unsupported content type",
            HttpsRequired => "HTTPS required",
            IdempotencyMismatch => "Idempotency key reused",
            Internal => "Unexpected server error",
            UpstreamUnavailable => "Upstream unavailable",
            Overloaded => "Server busy",
            Timeout => "Timed out",
        }
    }
}

/// A failure: the reason and cause are for the caller, the source is for our log.
pub struct Fault {
    /// Which row of the table this is.
    pub reason: Reason,
    /// What happened, in a sentence for the caller. Never holds internal detail.
    pub cause: String,
    /// The request parameter at fault.
    pub param: Option<String>,
    /// How long to wait, where waiting helps.
    pub retry_after: Option<Duration>,
    /// What really went wrong inside; logged once, never sent.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Fault {
    /// A failure with its cause for the caller.
    pub fn new(reason: Reason, cause: impl Into<String>) -> Self {
        Fault { reason, cause: cause.into(), param: None, retry_after: None, source: None }
    }

    /// Identifies the parameter at fault.
    pub fn param(mut self, name: impl Into<String>) -> Self {
        self.param = Some(name.into());
        self
    }

    /// Adds what to do now, as a second sentence of the cause.
    pub fn hint(mut self, hint: &str) -> Self {
        self.cause.push_str("; ");
        self.cause.push_str(hint);
        self
    }

    /// Says how long to wait before trying again.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Our own failure: the caller learns only that it happened, the log says why.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut fault = Fault::new(
            Reason::Internal,
            "something went wrong on the server; try again, and report the request id if it persists",
        );
        fault.source = Some(source.into());
        fault
    }

    /// A required parameter that is not there.
    pub fn missing(param: &str, what: &str) -> Self {
        Fault::new(Reason::MissingParameter, format!("`{param}` is required: {what}")).param(param)
    }

    /// A parameter that is there but wrong.
    pub fn invalid(param: &str, cause: impl Into<String>) -> Self {
        Fault::new(Reason::InvalidParameter, cause).param(param)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason.summary(), self.cause)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({}: {}", self.reason.as_str(), self.cause)?;
        if let Some(source) = &self.source {
            write!(f, "; source: {source}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
