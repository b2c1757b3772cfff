//! Tries to sign in: counted before anything is compared, by whose they are and where they come from.

use std::time::Duration;

use engine::{
    Fault, Reason,
    seams::catalog::{Email, Place, Subject, User},
};
use jiff::Timestamp;

use super::{permit::SignedIn, visit::Visit};
use crate::{app::App, sessions, words::Words};

/// The result of a try.
pub(super) enum Tried {
    Right(Box<User>),
    Wrong,
    TooMany(Duration),
}

/// Refuses whoever is signed in to an account with a password and does not know it. Tries are counted like those to sign in.
pub(super) async fn must_know_password(app: &App, who: &SignedIn, password: &str) -> Result<(), Fault> {
    let email = &who.user().email;
    let stored = app.catalog.stored_sign_in(email).await?;
    if stored.is_none_or(|stored| stored.password_hash.is_none()) {
        return Ok(());
    }
    match with_password(app, &who.0, email, password).await? {
        Tried::Right(_) => Ok(()),
        Tried::Wrong => Err(Fault::new(Reason::RoleInsufficient, "the current password is wrong")),
        Tried::TooMany(wait) => {
            Err(Fault::new(Reason::RateLimitUser, too_many(who.0.words, wait)).retry_after(wait))
        }
    }
}

/// Whose tries this one is counted with. Nobody can make the owner of an account wait in a browser in which they have signed
/// in before, nor, from elsewhere, in a network from which they have.
pub(super) async fn counted_with(app: &App, visit: &Visit, email: &Email) -> Result<Vec<Subject>, Fault> {
    if let Some(browser) = visit.browser.as_deref().map(sessions::hash)
        && app.catalog.is_known_place(email, &Place::Browser(browser)).await?
    {
        return Ok(vec![Subject::Browser(email.clone(), browser)]);
    }
    let network = visit.network.clone();
    let known = app.catalog.is_known_place(email, &Place::Network(network.clone())).await?;
    let mut subjects = vec![Subject::From(email.clone(), network.clone()), Subject::Network(network)];
    if !known {
        subjects.push(Subject::Account(email.clone()));
    }
    Ok(subjects)
}

/// An attempt with something that is not an address: it can mean no account, but it counts against the network.
pub(super) async fn of_nobody(app: &App, visit: &Visit) -> Result<Tried, Fault> {
    let network = [Subject::Network(visit.network.clone())];
    let wait = app.catalog.count_try(&network, Timestamp::now()).await?;
    Ok(wait.map_or(Tried::Wrong, Tried::TooMany))
}

/// Counts a try, or refuses it for as long as those who tried before must wait.
pub(super) async fn must_not_wait(app: &App, visit: &Visit, subjects: &[Subject]) -> Result<(), Fault> {
    match app.catalog.count_try(subjects, Timestamp::now()).await? {
        Some(wait) => Err(Fault::new(Reason::RateLimitUser, too_many(visit.words, wait)).retry_after(wait)),
        None => Ok(()),
    }
}

/// Counts the try first, then compares: however many come at once, each is counted.
pub(super) async fn with_password(
    app: &App,
    visit: &Visit,
    email: &Email,
    password: &str,
) -> Result<Tried, Fault> {
    let subjects = counted_with(app, visit, email).await?;
    if let Some(wait) = app.catalog.count_try(&subjects, Timestamp::now()).await? {
        return Ok(Tried::TooMany(wait));
    }
    let stored = app.catalog.stored_sign_in(email).await?;
    let hash = stored.as_ref().and_then(|stored| stored.password_hash.clone());
    let fits = app.passwords.verify(password, hash).await?;
    match stored.filter(|stored| fits && !stored.user.disabled) {
        Some(stored) => {
            // With a second step they are forgiven after it, or else a known password would allow any number of codes.
            if app.catalog.second_factor(stored.user.id).await?.is_none_or(|factor| !factor.confirmed) {
                app.catalog.forgive_tries(&subjects).await?;
            }
            Ok(Tried::Right(Box::new(stored.user)))
        }
        None => Ok(Tried::Wrong),
    }
}

pub(super) fn too_many(words: Words, wait: Duration) -> String {
    match wait.as_secs() + 1 {
        seconds if seconds < 120 => words.count("entry-wait-seconds", seconds),
        seconds => words.count("entry-wait-minutes", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_said_in_words() {
        assert!(too_many(Words::default(), Duration::from_millis(1500)).contains("2 seconds"));
        assert!(too_many(Words::default(), Duration::from_secs(900)).contains("16 minutes"));
    }
}
