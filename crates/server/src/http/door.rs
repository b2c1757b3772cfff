//! Who may be connected: a limited number in all, and of each network.
//!
//! Whoever comes when the places are taken gets that of the connection that has asked for nothing for the longest time. So
//! connections that say nothing never keep out those that do, not even from the same address, and a place is refused only
//! where every connection has a request in progress.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::Arc,
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use crate::{
    app::guard,
    config::{Config, Tls},
};

/// Lets connections in.
pub(super) struct Door {
    places: Arc<Mutex<Places>>,
    /// Places over all.
    most: usize,
    /// Places of one network.
    per_network: usize,
    /// Proxies, which stand for many clients.
    unbounded: Vec<IpAddr>,
}

#[derive(Default)]
struct Places {
    /// Connections that have a place, in the order in which they came.
    taken: BTreeMap<u64, Taken>,
    /// How many of them each network has; none has none.
    networks: HashMap<IpAddr, usize>,
    /// The number of the next one.
    next: u64,
}

struct Taken {
    network: Option<IpAddr>,
    activity: Arc<Activity>,
    turned_out: CancellationToken,
}

/// The place of one connection; dropped, it is free again.
pub(super) struct Inside {
    /// What happens on the connection.
    pub(super) activity: Arc<Activity>,
    /// Cancelled when somebody else gets the place.
    pub(super) turned_out: CancellationToken,
    number: u64,
    places: Arc<Mutex<Places>>,
}

impl Door {
    pub(super) fn of(config: &Config) -> Self {
        let connections = &config.connections;
        Door {
            places: Arc::default(),
            most: connections.most.min(most_files()),
            per_network: if connections.per_network == 0 { usize::MAX } else { connections.per_network },
            unbounded: match config.http.tls {
                Tls::Auto => Vec::new(),
                Tls::Proxy => config.http.trusted_proxies.clone(),
            },
        }
    }

    /// A place for somebody at this address; `None` where all that they could have are in use.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<Inside> {
        let bounded = !self.unbounded.contains(&peer.to_canonical());
        let network = bounded.then(|| guard::network(peer));
        let mut places = self.places.lock();
        let of_network = network.and_then(|network| places.networks.get(&network).copied()).unwrap_or(0);
        if of_network >= self.per_network {
            places.turn_out(|taken| taken.network == network)?;
        } else if places.taken.len() >= self.most {
            places.turn_out(|_| true)?;
        }
        let (activity, turned_out) = (Activity::new(), CancellationToken::new());
        let taken = Taken { network, activity: activity.clone(), turned_out: turned_out.clone() };
        let number = places.add(taken);
        Some(Inside { activity, turned_out, number, places: self.places.clone() })
    }
}

impl Places {
    fn add(&mut self, taken: Taken) -> u64 {
        if let Some(network) = taken.network {
            *self.networks.entry(network).or_default() += 1;
        }
        self.next += 1;
        self.taken.insert(self.next, taken);
        self.next
    }

    /// Frees a place; one that was given to somebody else is no longer there.
    fn remove(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        if let Some(network) = taken.network
            && let Some(count) = self.networks.get_mut(&network)
        {
            *count -= 1;
            if *count == 0 {
                self.networks.remove(&network);
            }
        }
        Some(taken)
    }

    /// Frees the place that has been quiet for the longest time of those that `may` be freed.
    fn turn_out(&mut self, may: impl Fn(&Taken) -> bool) -> Option<()> {
        let quiet = |(number, taken): (&u64, &Taken)| Some((taken.activity.quiet_since()?, *number));
        let (_, number) = self.taken.iter().filter(|(_, taken)| may(taken)).filter_map(quiet).min()?;
        self.remove(number)?.turned_out.cancel();
        Some(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.places.lock().remove(self.number);
    }
}

/// How many connections the process may open files for, after raising its limit as far as it goes. Stores need some too.
fn most_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return usize::MAX };
    let raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    let files = if raised.is_ok() { hard } else { soft };
    usize::try_from(files / 4 * 3).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(most: usize, per_network: usize, tls: Tls) -> Door {
        let mut config = Config::defaults();
        (config.connections.most, config.connections.per_network) = (most, per_network);
        config.http.tls = tls;
        Door::of(&config)
    }

    #[test]
    fn one_network_does_not_take_the_places_of_others() {
        let door = door(5, 2, Tls::Auto);
        let [one, beside, other]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::2", "192.0.2.1"].map(|address| address.parse().unwrap());
        let inside: Vec<_> = [one, beside].map(|address| door.enter(address).unwrap()).into();
        let requests: Vec<_> = inside.iter().map(|inside| inside.activity.begin()).collect();
        assert!(door.enter(one).is_none(), "two addresses of one IPv6 network are one client");
        assert!(door.enter(other).is_some());
        drop((requests, inside));
        assert!(door.enter(one).is_some());
        assert!(door.places.lock().networks.is_empty());
    }

    #[test]
    fn who_asks_for_nothing_makes_room_for_who_comes() {
        let door = door(3, 2, Tls::Auto);
        let [here, there]: [IpAddr; 2] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().unwrap());
        let (first, second) = (door.enter(here).unwrap(), door.enter(here).unwrap());
        let request = first.activity.begin();
        let third = door.enter(here).unwrap();
        assert!(second.turned_out.is_cancelled() && !first.turned_out.is_cancelled(), "the first is at work");
        drop(second);
        let elsewhere = door.enter(there).unwrap();
        drop(request);
        let more = door.enter(there).unwrap();
        assert!(
            third.turned_out.is_cancelled(),
            "quiet for longer than the first, whose request has just ended"
        );
        assert!(!first.turned_out.is_cancelled() && !elsewhere.turned_out.is_cancelled());
        drop((first, third, elsewhere, more));
        assert!(door.places.lock().taken.is_empty());
    }

    #[test]
    fn a_proxy_is_bounded_over_all_only() {
        let door = door(5, 2, Tls::Proxy);
        let inside: Vec<_> = (0..5).map(|_| door.enter([127, 0, 0, 1].into()).unwrap()).collect();
        let requests: Vec<_> = inside.iter().map(|inside| inside.activity.begin()).collect();
        assert!(door.enter([192, 0, 2, 1].into()).is_none());
        drop((requests, inside));
    }
}
