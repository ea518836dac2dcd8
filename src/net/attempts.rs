//! How often an address may try to log in.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Failures that an address may have in a row.
const BURST: u32 = 10;

/// After that it may fail once each so long.
const PAUSE: Duration = Duration::from_secs(6);

/// Addresses that are told apart; all others share one count.
const MAX_ADDRESSES: usize = 4_096;

/// Failed logins by address. Each failure is paid back after a pause; who owes ten must wait.
#[derive(Default)]
pub(super) struct Attempts(Mutex<HashMap<IpAddr, Instant>>);

impl Attempts {
    /// Counts an attempt before it is made, so that many at once are not let through together.
    ///
    /// # Errors
    /// How long the address must wait first.
    pub(super) fn take(&self, from: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut owed = self.0.lock();
        let key = key(&mut owed, from, now);
        let until = owed.get(&key).copied().filter(|until| *until > now).unwrap_or(now);
        let over = until.saturating_duration_since(now).saturating_sub(PAUSE * (BURST - 1));
        if !over.is_zero() {
            return Err(over);
        }
        owed.insert(key, until + PAUSE);
        Ok(())
    }

    /// The attempt was no failure: it does not count.
    pub(super) fn give_back(&self, from: IpAddr, now: Instant) {
        let mut owed = self.0.lock();
        let key = key(&mut owed, from, now);
        if let Some(until) = owed.get_mut(&key) {
            *until = until.checked_sub(PAUSE).unwrap_or(now);
        }
    }
}

/// Under which key an address is counted. Whoever has one address of IPv6 has a whole network of them.
fn key(owed: &mut HashMap<IpAddr, Instant>, from: IpAddr, now: Instant) -> IpAddr {
    let network = match from.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
    };
    if owed.len() >= MAX_ADDRESSES && !owed.contains_key(&network) {
        owed.retain(|_, until| *until > now);
        if owed.len() >= MAX_ADDRESSES {
            return IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        }
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn ten_failures_and_then_one_each_pause() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..BURST {
            attempts.take(address(1), start).unwrap();
        }
        assert_eq!(attempts.take(address(1), start), Err(PAUSE));
        assert_eq!(attempts.take(address(2), start), Ok(()), "another address");
        assert_eq!(attempts.take(address(1), start + PAUSE), Ok(()));
        assert_eq!(attempts.take(address(1), start + PAUSE), Err(PAUSE));
        assert_eq!(attempts.take(address(1), start + PAUSE * 100), Ok(()));
    }

    #[test]
    fn what_succeeds_does_not_count() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..100 {
            attempts.take(address(1), now).unwrap();
            attempts.give_back(address(1), now);
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_memory_is_bounded() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for host in 0..u128::from(BURST) {
            attempts.take(IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | host)), now).unwrap();
        }
        let next = IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | 77));
        assert!(attempts.take(next, now).is_err());
        let many = (0u32..20_000).map(|n| IpAddr::V4(Ipv4Addr::from_bits(0x0b00_0000 + n)));
        assert!(many.into_iter().map(|from| attempts.take(from, now)).any(|taken| taken.is_err()));
        assert!(attempts.0.lock().len() <= MAX_ADDRESSES + 1);
        assert_eq!(
            attempts.take(address(9), now + PAUSE * 100),
            Ok(()),
            "those who owe nothing are forgotten"
        );
    }
}
