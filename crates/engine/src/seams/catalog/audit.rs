//! The audit log: who did what, when, from where.

use std::str::FromStr;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    Fault,
    access::{Managing, Operating},
    ids::{BoxId, EntryId, UserId},
};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    SignedIn,
    SignInFailed,
    SignedOut,
    SignedOutEverywhere,
    PasswordChanged,
    ServerSetUp,
    AccountMade,
    AccountDisabled,
    AccountEnabled,
    AccountChanged,
    AccountInvited,
    InvitationWithdrawn,
    PasswordLinkMade,
    IdentityConnected,
    PlanChanged,
    ModelChosen,
    BoxMade,
    BoxRenamed,
    BoxLanguageChanged,
    BoxDeleted,
    BoxHandedOver,
    RetentionChanged,
    BoxExported,
    BoxImported,
    MemberInvited,
    MemberAdded,
    MemberChanged,
    MemberRemoved,
    FileUploaded,
    FileChanged,
    FileReadAgain,
    FileDeleted,
    FileExpired,
    FileDownloaded,
    KeyMade,
    KeyRevoked,
    ProgramLetIn,
    ProgramRevoked,
    WebhookMade,
    WebhookDeleted,
    WebhookSecretRotated,
    SourceMade,
    SourceDeleted,
    AuditExported,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 44] = [
        Action::SignedIn,
        Action::SignInFailed,
        Action::SignedOut,
        Action::SignedOutEverywhere,
        Action::PasswordChanged,
        Action::ServerSetUp,
        Action::AccountMade,
        Action::AccountDisabled,
        Action::AccountEnabled,
        Action::AccountChanged,
        Action::AccountInvited,
        Action::InvitationWithdrawn,
        Action::PasswordLinkMade,
        Action::IdentityConnected,
        Action::PlanChanged,
        Action::ModelChosen,
        Action::BoxMade,
        Action::BoxRenamed,
        Action::BoxLanguageChanged,
        Action::BoxDeleted,
        Action::BoxHandedOver,
        Action::RetentionChanged,
        Action::BoxExported,
        Action::BoxImported,
        Action::MemberInvited,
        Action::MemberAdded,
        Action::MemberChanged,
        Action::MemberRemoved,
        Action::FileUploaded,
        Action::FileChanged,
        Action::FileReadAgain,
        Action::FileDeleted,
        Action::FileExpired,
        Action::FileDownloaded,
        Action::KeyMade,
        Action::KeyRevoked,
        Action::ProgramLetIn,
        Action::ProgramRevoked,
        Action::WebhookMade,
        Action::WebhookDeleted,
        Action::WebhookSecretRotated,
        Action::SourceMade,
        Action::SourceDeleted,
        Action::AuditExported,
    ];

    /// The word in the store and in exports.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::SignedIn => "signed_in",
            Action::SignInFailed => "sign_in_failed",
            Action::SignedOut => "signed_out",
            Action::SignedOutEverywhere => "signed_out_everywhere",
            Action::PasswordChanged => "password_changed",
            Action::ServerSetUp => "server_set_up",
            Action::AccountMade => "account_made",
            Action::AccountDisabled => "account_disabled",
            Action::AccountEnabled => "account_enabled",
            Action::AccountChanged => "account_changed",
            Action::AccountInvited => "account_invited",
            Action::InvitationWithdrawn => "invitation_withdrawn",
            Action::PasswordLinkMade => "password_link_made",
            Action::IdentityConnected => "identity_connected",
            Action::PlanChanged => "plan_changed",
            Action::ModelChosen => "model_chosen",
            Action::BoxMade => "box_made",
            Action::BoxRenamed => "box_renamed",
            Action::BoxLanguageChanged => "box_language_changed",
            Action::BoxDeleted => "box_deleted",
            Action::BoxHandedOver => "box_handed_over",
            Action::RetentionChanged => "retention_changed",
            Action::BoxExported => "box_exported",
            Action::BoxImported => "box_imported",
            Action::MemberInvited => "member_invited",
            Action::MemberAdded => "member_added",
            Action::MemberChanged => "member_changed",
            Action::MemberRemoved => "member_removed",
            Action::FileUploaded => "file_uploaded",
            Action::FileChanged => "file_changed",
            Action::FileReadAgain => "file_read_again",
            Action::FileDeleted => "file_deleted",
            Action::FileExpired => "file_expired",
            Action::FileDownloaded => "file_downloaded",
            Action::KeyMade => "key_made",
            Action::KeyRevoked => "key_revoked",
            Action::ProgramLetIn => "program_let_in",
            Action::ProgramRevoked => "program_revoked",
            Action::WebhookMade => "webhook_made",
            Action::WebhookDeleted => "webhook_deleted",
            Action::WebhookSecretRotated => "webhook_secret_rotated",
            Action::SourceMade => "source_made",
            Action::SourceDeleted => "source_deleted",
            Action::AuditExported => "audit_exported",
        }
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Action::ALL
            .into_iter()
            .find(|action| action.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no action"))
    }
}

/// A line to be written.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// When.
    pub at: Timestamp,
    /// Who, where an account did it.
    pub user: Option<UserId>,
    /// Who, to people: an address, perhaps with the key it was done with.
    pub who: String,
    /// From where.
    pub address: String,
    /// In which box, if any.
    pub box_id: Option<BoxId>,
    /// What.
    pub action: Action,
    /// To what: the name of a file, an account, a box. Never any text of a document.
    pub target: String,
}

/// A line of the log.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Identifies the line; later ones are greater.
    pub id: EntryId,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub who: String,
    /// From where.
    pub address: String,
    /// In which box, if any.
    pub box_id: Option<BoxId>,
    /// What.
    pub action: Action,
    /// To what.
    pub target: String,
}

/// A part of the log.
#[derive(Debug)]
pub struct AuditPage {
    /// The lines, latest first.
    pub entries: Vec<Entry>,
    /// Whether there are older ones.
    pub more: bool,
}

/// The audit log. Lines are only ever added; those of a box that was deleted stay, for operators.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Writes a line. It outlives the process when this returns, but perhaps not a power cut.
    async fn note(&self, entry: NewEntry) -> Result<(), Fault>;

    /// Lines about a box, latest first, older than `before`.
    async fn audit_of_box(
        &self,
        managing: &Managing,
        before: Option<EntryId>,
        limit: u32,
    ) -> Result<AuditPage, Fault>;

    /// Lines about everything, latest first, older than `before`.
    async fn audit_of_all(
        &self,
        operating: &Operating,
        before: Option<EntryId>,
        limit: u32,
    ) -> Result<AuditPage, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_reads_back() {
        for action in Action::ALL {
            assert_eq!(action.as_str().parse(), Ok(action));
            assert_eq!(serde_json::to_value(action).unwrap(), action.as_str());
        }
    }
}
