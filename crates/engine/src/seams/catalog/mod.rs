//! Users, boxes, roles, keys, sign-ins, files, jobs, usage and the audit log: the small, precious records.

mod arrivals;
mod attempts;
mod audit;
mod boxes;
mod conversations;
mod deletion;
mod evaluation;
mod files;
mod filter;
mod grants;
mod jobs;
mod keys;
mod language;
mod model;
mod nodes;
mod onetime;
mod passkeys;
mod questions;
mod reindex;
mod retention;
mod second_factor;
mod sessions;
mod signin;
mod sources;
mod units;
mod uploads;
mod users;
mod webhooks;

pub use arrivals::{Arrivals, ArrivingFile, BoxSettings, NewArrival, WaitingVersion};
pub use attempts::{Attempts, Begun, IdempotencyKey, KeptAnswer, NewAttempt};
pub use audit::{Action, Audit, AuditPage, Entry, NewEntry};
pub use boxes::{BoxName, BoxRecord, BoxTotals, Boxes, Member};
pub use conversations::{ConversationRecord, Conversations, NewTurn, SharedConversation, Turn};
pub use deletion::{Deletion, Deletions};
pub use evaluation::{
    DETAILED_RUNS, EvaluationQuestion, EvaluationRun, Evaluations, Figures, MOST_QUESTIONS, MOST_RUNS,
    NewEvaluationQuestion, NewEvaluationRun,
};
pub use files::{
    CursorValue, Extent, FileChanges, FileCursor, FileName, FilePage, FileProgress, FileQuery, FileRecord,
    FileStatus, Files, NewFile, SortKey, UploadOutcome, Uploaded,
};
pub use filter::{Bound, DateField, FileFields, Filter, Metadata, Part, Test, Values, entry, moment};
pub use grants::{Client, Exchange, Grants, NewClient, NewCode, NewTokens, Refresh, Refreshed};
pub use jobs::{Finished, Job, JobOutcome, Jobs};
pub use keys::{Exposure, KeyName, KeyRecord, KeyState, Keys, NewKey, Secret, StoredKey};
pub use language::{BoxLanguage, Languages, SHORT_TEXT};
pub use model::{Choices, ChosenModel};
pub use nodes::{Change, Claim, Held, Nodes};
pub use onetime::{
    Inviters, MostInvitations, NewOneTimeLink, Newcomer, OneTimeLink, OneTimeLinks, Purpose, Wanted,
};
pub use passkeys::{Challenge, MOST_PASSKEYS, NewPasskey, Passkey, PasskeyName, Passkeys};
pub use questions::{
    LOW_SCORE, NewQuestion, Outcome, Question, QuestionId, QuestionQuery, Questions, Rating, Trouble,
};
pub use reindex::{RecentQuery, ReindexAction, ReindexState, Reindexing};
pub use retention::{MOST_DAYS, Retention};
pub use second_factor::{SECRET_BYTES, SecondFactor, SecondFactors};
pub use sessions::{NewSession, Session, SessionRecord, Sessions, TokenHash};
pub use signin::{Guest, Identity, Place, SignIns, Stored, Subject};
pub use sources::{NewSource, Source, SourceItem, SourceKind, SourceReport, SourceSettings, Sources};
pub use units::{Account, Balance, Month, NewReservation, Operation, Reservation, Units, UsageLine};
pub use uploads::{Batch, Upload, UploadQuery, Uploads};
pub use users::{AccountUse, Email, Holding, NewUser, PersonName, Plan, PlanName, User, UserLanguage, Users};
pub use webhooks::{
    AttemptRecord, Attempted, Delivery, EventKind, NewWebhook, Next, Webhook, WebhookSecret, Webhooks,
};

/// Everything the catalog keeps, as one seam; a method is one transaction.
///
/// Implementations: `stores::catalog::Sql`, in one `SQLite` file for one machine or on a `PostgreSQL` server for many.
pub trait Catalog:
    Users
    + Boxes
    + Languages
    + Keys
    + Grants
    + Files
    + Uploads
    + Deletions
    + Arrivals
    + Retention
    + Jobs
    + Reindexing
    + Units
    + Attempts
    + Sessions
    + SignIns
    + SecondFactors
    + Passkeys
    + OneTimeLinks
    + Audit
    + Nodes
    + Webhooks
    + Questions
    + Sources
    + Conversations
    + Evaluations
    + Choices
{
}

impl<T> Catalog for T where
    T: Users
        + Boxes
        + Languages
        + Keys
        + Grants
        + Files
        + Uploads
        + Deletions
        + Arrivals
        + Retention
        + Jobs
        + Reindexing
        + Units
        + Attempts
        + Sessions
        + SignIns
        + SecondFactors
        + Passkeys
        + OneTimeLinks
        + Audit
        + Nodes
        + Webhooks
        + Questions
        + Sources
        + Conversations
        + Evaluations
        + Choices
{
}
