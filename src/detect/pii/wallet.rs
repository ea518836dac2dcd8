//! Checks of Bitcoin addresses.

use sha2::{Digest, Sha256};

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// Version, twenty bytes of hash, four of checksum.
const ADDRESS_BYTES: usize = 25;

/// Whether `text` is an address in Base58Check: its last four bytes begin the double SHA-256 of the others.
pub fn is_base58check(text: &str) -> bool {
    let mut bytes = [0u8; ADDRESS_BYTES];
    for c in text.bytes() {
        let Some(value) = BASE58.iter().position(|b| *b == c) else { return false };
        let mut carry = value as u32;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let (body, check) = bytes.split_at(ADDRESS_BYTES - 4);
    Sha256::digest(Sha256::digest(body))[..4] == *check
}

/// Whether `text` is a segregated-witness address: the BCH code of BIP 173, or that of BIP 350.
pub fn is_bech32(text: &str) -> bool {
    const BECH32_CONSTANT: u32 = 1;
    const BECH32M_CONSTANT: u32 = 0x2bc8_30a3;
    let lower = text.to_ascii_lowercase();
    let Some((prefix, data)) = lower.rsplit_once('1') else { return false };
    let mut state = 1;
    for c in prefix.bytes() {
        state = step(state, u32::from(c) >> 5);
    }
    state = step(state, 0);
    for c in prefix.bytes() {
        state = step(state, u32::from(c) & 31);
    }
    for c in data.chars() {
        let Some(value) = BECH32.find(c) else { return false };
        state = step(state, value as u32);
    }
    matches!(state, BECH32_CONSTANT | BECH32M_CONSTANT)
}

/// One step of the division by the code's generator polynomial.
fn step(state: u32, value: u32) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let top = state >> 25;
    let mut next = ((state & 0x1ff_ffff) << 5) ^ value;
    for (i, term) in GENERATOR.iter().enumerate() {
        if top >> i & 1 == 1 {
            next ^= term;
        }
    }
    next
}
