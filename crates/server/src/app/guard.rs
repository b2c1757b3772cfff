//! Slows down whoever keeps sending wrong keys, by address; bounded in memory and in waiting requests.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

use engine::{Fault, Reason};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Wrong keys that an address may send in a minute before it is slowed down: a misconfigured client retrying.
const FREE: u32 = 50;
const WINDOW: Duration = Duration::from_secs(60);
/// Each further wrong key waits this much longer …
const STEP: Duration = Duration::from_millis(10);
/// … up to this: enough to make guessing pointless, short enough to hold no connection for long.
const LONGEST: Duration = Duration::from_millis(200);
/// Addresses remembered; about 1 MB.
const MOST_ADDRESSES: usize = 10_000;
/// Requests that may be waiting at once.
const MOST_WAITING: usize = 256;

/// Counts wrong keys by address.
pub struct Guard {
    addresses: Mutex<HashMap<IpAddr, (Instant, u32)>>,
    waiting: Semaphore,
}

impl Default for Guard {
    fn default() -> Self {
        Guard { addresses: Mutex::default(), waiting: Semaphore::new(MOST_WAITING) }
    }
}

impl Guard {
    /// Counts one wrong key and waits as long as its sender has earned.
    pub async fn wrong_key(&self, address: IpAddr) -> Result<(), Fault> {
        let wait = self.count(network(address), Instant::now());
        if wait.is_zero() {
            return Ok(());
        }
        let Ok(_permit) = self.waiting.try_acquire() else {
            let cause = "too many requests with invalid keys came from your network; wait a moment, then send a valid key";
            return Err(Fault::new(Reason::RateLimitKey, cause).retry_after(Duration::from_secs(1)));
        };
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// How many wrong keys an address has sent in its minute.
    pub fn counted(&self, address: IpAddr) -> u32 {
        self.addresses.lock().get(&network(address)).map_or(0, |(_, wrong)| *wrong)
    }

    fn count(&self, address: IpAddr, now: Instant) -> Duration {
        let mut addresses = self.addresses.lock();
        if addresses.len() >= MOST_ADDRESSES && !addresses.contains_key(&address) {
            addresses.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
            // Still full: a flood from everywhere. Forgetting all costs each address one free burst.
            if addresses.len() >= MOST_ADDRESSES {
                addresses.clear();
            }
        }
        let (since, wrong) = addresses.entry(address).or_insert((now, 0));
        if now.duration_since(*since) >= WINDOW {
            (*since, *wrong) = (now, 0);
        }
        *wrong = wrong.saturating_add(1);
        (STEP * wrong.saturating_sub(FREE).min(1_000)).min(LONGEST)
    }
}

/// One subscriber usually owns a whole IPv6 /64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_then_each_wrong_key_waits_longer_up_to_a_limit() {
        let guard = Guard::default();
        let (address, now) = (IpAddr::from([10, 0, 0, 1]), Instant::now());
        let waits: Vec<_> = (0..100).map(|_| guard.count(address, now)).collect();
        assert!(waits[..50].iter().all(Duration::is_zero));
        assert_eq!(waits[50], STEP);
        assert_eq!(waits[99], LONGEST);
        assert!(guard.count(IpAddr::from([10, 0, 0, 2]), now).is_zero(), "others are not slowed down");
        assert!(guard.count(address, now + WINDOW).is_zero(), "a new minute starts from zero");
    }

    #[test]
    fn memory_stays_bounded() {
        let guard = Guard::default();
        for n in 0..30_000u32 {
            guard.count(IpAddr::from(n.to_be_bytes()), Instant::now());
        }
        assert!(guard.addresses.lock().len() <= MOST_ADDRESSES);
    }

    #[test]
    fn a_whole_ipv6_network_counts_as_one() {
        let one: IpAddr = "2001:db8:1:2::1".parse().unwrap();
        let two: IpAddr = "2001:db8:1:2:ffff::9".parse().unwrap();
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(network(one), network(two));
        assert_eq!(network(mapped), IpAddr::from([10, 0, 0, 1]));
    }
}
