//! Account → Usage: units against the quota, by day and by key, what the account holds, and the state of the rate
//! limits.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Query, State};
use engine::{
    bounds::Bound,
    seams::catalog::{Holding, Month, Operation, UsageLine},
};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    page::{self, Frame, Place, Shown},
    permit::SignedIn,
    show::{self, Moment},
};
use crate::{
    app::App,
    payer::{self, DASHBOARD},
    words::Words,
};

/// The chart, in its own units.
const WIDTH: f32 = 720.0;
const HEIGHT: f32 = 160.0;

/// A day's bar: searches below, answers above.
struct Bar {
    day: u32,
    x: String,
    width: String,
    search_y: String,
    search_height: String,
    chat_y: String,
    chat_height: String,
    words: String,
    /// Whether its number is shown below it.
    named: bool,
    middle: String,
}

/// Somebody's share.
struct Share {
    name: String,
    detail: String,
    calls: String,
    shown: String,
}

/// The state of a window.
struct Window {
    name: String,
    hits: u32,
    limit: u32,
    resets: Option<Moment>,
}

/// What the account has of something bounded.
struct Held {
    name: String,
    used: u64,
    allowed: u64,
    words: String,
}

impl Held {
    fn of(words: Words, holding: Holding) -> Self {
        let Holding { bound, used, allowed } = holding;
        let name = match bound {
            Bound::Boxes => words.plain("account-boxes-owned"),
            Bound::StorageGb => words.plain("account-files-in-them"),
            Bound::QueuedFiles => words.plain("account-files-waiting"),
            Bound::Keys => words.plain("frame-keys"),
            other => other.as_str().to_string(),
        };
        let shown = |amount| match bound {
            Bound::StorageGb => show::size(words, amount),
            _ => words.number(amount),
        };
        let said = words.text("account-of").with("used", shown(used)).with("total", shown(allowed));
        Held { name, used, allowed: allowed.max(1), words: said.plain() }
    }
}

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    frame: Frame,
    month: String,
    earlier: String,
    later: Option<String>,
    used: u64,
    monthly: u64,
    used_words: String,
    monthly_words: String,
    left_words: String,
    resets: Moment,
    top: String,
    bars: Vec<Bar>,
    keys: Vec<Share>,
    operations: Vec<Share>,
    held: Vec<Held>,
    windows: Vec<Window>,
    user_window: Window,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    month: Option<String>,
}

/// Calls and units of one kind.
#[derive(Default, Clone, Copy)]
struct Sum {
    calls: u64,
    units: u64,
}

fn sums<K: Ord>(lines: &[UsageLine], by: impl Fn(&UsageLine) -> K) -> BTreeMap<K, Sum> {
    let mut sums = BTreeMap::<K, Sum>::new();
    for line in lines {
        let sum = sums.entry(by(line)).or_default();
        sum.calls += line.calls;
        sum.units += line.units;
    }
    sums
}

/// The bars of a month, and the number that the highest stands for.
fn bars(words: Words, lines: &[UsageLine], days: u32) -> (Vec<Bar>, u64) {
    let by_day = sums(lines, |line| (line.day.clone(), line.operation));
    let of = |day: u32, operation| {
        let found = by_day.iter().find(|((text, kind), _)| {
            *kind == operation && text.rsplit('-').next().and_then(|day| day.parse().ok()) == Some(day)
        });
        found.map_or(0, |(_, sum)| sum.units)
    };
    // What programs outside have the models do is searching, too.
    let searches = |day| {
        [Operation::Search, Operation::Embeddings, Operation::Rerank].map(|kind| of(day, kind)).iter().sum()
    };
    let pairs: Vec<(u64, u64)> = (1..=days).map(|day| (searches(day), of(day, Operation::Chat))).collect();
    let highest = pairs.iter().map(|(search, chat)| search + chat).max().unwrap_or(0).max(1);
    let step = WIDTH / days as f32;
    let bar = |(at, &(search, chat)): (usize, &(u64, u64))| {
        let day = at as u32 + 1;
        let tall = |units: u64| units as f32 / highest as f32 * HEIGHT;
        let x = step * at as f32;
        Bar {
            day,
            x: format!("{:.1}", x + step * 0.15),
            width: format!("{:.1}", step * 0.7),
            search_y: format!("{:.1}", HEIGHT - tall(search)),
            search_height: format!("{:.1}", tall(search)),
            chat_y: format!("{:.1}", HEIGHT - tall(search) - tall(chat)),
            chat_height: format!("{:.1}", tall(chat)),
            words: words
                .text("account-bar")
                .with("day", day)
                .with("searches", search)
                .with("answers", chat)
                .plain(),
            named: day == 1 || day.is_multiple_of(5),
            middle: format!("{:.1}", x + step / 2.0),
        }
    };
    (pairs.iter().enumerate().map(bar).collect(), highest)
}

fn month_before(month: Month) -> Month {
    let first = month.to_string();
    let start: jiff::civil::Date = format!("{first}-01").parse().unwrap_or_default();
    let before = start.saturating_sub(jiff::Span::new().days(1));
    Month::of(before.to_zoned(jiff::tz::TimeZone::UTC).map_or(Timestamp::MIN, |zoned| zoned.timestamp()))
}

fn days_of(month: Month) -> u32 {
    let start: jiff::civil::Date = format!("{month}-01").parse().unwrap_or_default();
    start.days_in_month().unsigned_abs().into()
}

fn share(words: Words, name: String, detail: String, sum: Sum) -> Share {
    let calls = words.count("frame-count-calls", sum.calls);
    Share { name, detail, calls, shown: words.number(sum.units) }
}

/// The page of a month.
pub(super) async fn show(State(app): State<App>, who: SignedIn, Query(asked): Query<Asked>) -> Shown {
    let (user, now) = (who.user().id, Timestamp::now());
    let this = Month::of(now);
    let month = asked.month.and_then(|text| text.parse().ok()).unwrap_or(this);
    let balance = payer::balance_in(&app, user, month).await?;
    let lines = app.catalog.usage(user, month).await?;
    let words = who.0.words;
    let (bars, highest) = bars(words, &lines, days_of(month));
    let keys = sums(&lines, |line| (line.key.clone(), line.key_name.clone()));
    let keys = keys.into_iter().map(|((prefix, name), sum)| match prefix.as_str() {
        DASHBOARD => share(words, words.plain("account-dashboard"), String::new(), sum),
        _ => share(words, name, prefix, sum),
    });
    let operations = sums(&lines, |line| line.operation).into_iter().map(|(operation, sum)| {
        let name = match operation {
            Operation::Search => "account-operation-search",
            Operation::Chat => "account-operation-chat",
            Operation::Embeddings => "account-operation-embeddings",
            Operation::Rerank => "account-operation-rerank",
        };
        share(words, words.plain(name), String::new(), sum)
    });
    let (windows, user_window) = windows(&app, &who, now).await?;
    page::show(&UsagePage {
        frame: Frame::new(&app, &who.0, words.text("frame-usage"), Place::Usage),
        month: month.to_string(),
        earlier: month_before(month).to_string(),
        later: (month < this).then(|| Month::of(month.end()).to_string()),
        used: balance.used,
        monthly: balance.monthly.max(1),
        used_words: words.number(balance.used),
        monthly_words: words.number(balance.monthly),
        left_words: words.number(balance.remaining()),
        resets: Moment::of(balance.resets_at()),
        top: words.number(highest),
        bars,
        keys: keys.collect(),
        operations: operations.collect(),
        held: app.catalog.holdings(user).await?.into_iter().map(|one| Held::of(words, one)).collect(),
        windows,
        user_window,
    })
}

/// How the windows of all usable keys stand, and that of the account.
async fn windows(app: &App, who: &SignedIn, now: Timestamp) -> Result<(Vec<Window>, Window), engine::Fault> {
    let limits = app.config.limits.requests();
    let user = who.user().id;
    let mut windows = Vec::new();
    let resets = |hits: u32, at: Timestamp| (hits > 0).then(|| Moment::of(at));
    for key in app.catalog.keys(Some(user)).await? {
        let ended = key.revoked_at.is_some() || key.expires_at.is_some_and(|end| end <= now);
        if ended {
            continue;
        }
        let standing = app.limiter.look(&key.prefix, user, now).await?.key;
        windows.push(Window {
            name: key.name.as_str().to_string(),
            hits: standing.hits,
            limit: limits.key.requests,
            resets: resets(standing.hits, standing.resets_at),
        });
    }
    let standing = app.limiter.look(DASHBOARD, user, now).await?.user;
    let user_window = Window {
        name: who.0.words.plain("account-your-account"),
        hits: standing.hits,
        limit: limits.user.requests,
        resets: resets(standing.hits, standing.resets_at),
    };
    Ok((windows, user_window))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(day: &str, operation: Operation, units: u64) -> UsageLine {
        UsageLine { day: day.into(), key: "k".into(), key_name: "n".into(), operation, calls: 1, units }
    }

    #[test]
    fn the_highest_bar_fills_the_chart() {
        let lines = [
            line("2026-11-02", Operation::Search, 3),
            line("2026-11-02", Operation::Chat, 1),
            line("2026-11-30", Operation::Search, 2),
        ];
        let (bars, highest) = bars(Words::default(), &lines, 30);
        assert_eq!((bars.len(), highest), (30, 4));
        assert_eq!((bars[1].search_height.as_str(), bars[1].chat_y.as_str()), ("120.0", "0.0"));
        assert_eq!(bars[29].search_height, "80.0");
        assert_eq!(bars[0].search_height, "0.0");
    }

    #[test]
    fn months_have_their_days_and_neighbours() {
        let month: Month = "2026-03".parse().unwrap();
        assert_eq!((days_of(month), month_before(month).to_string()), (31, "2026-02".into()));
        assert_eq!(month_before("2026-01".parse().unwrap()).to_string(), "2025-12");
    }
}
