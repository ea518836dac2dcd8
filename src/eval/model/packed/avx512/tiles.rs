//! Eight-bit products in tiles of sixteen rows, on processors and systems that have them (AMX).
//!
//! A tile of weights is sixteen rows of 64 bytes, which is how [`Line`]s lie already. The sums are the same whole numbers as
//! those of the vector instructions.

use super::super::lines::{Line, PANEL};
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Rows of a tile.
const TILE: usize = 16;

/// Rows that are computed together, in two tiles.
pub(super) const PAIR: usize = 2 * TILE;

/// Bytes of a tile's row: so much of the depth is one step.
const STEP: usize = 64;

/// From one row of sums to the next, and from one row of a tile of weights to the next: both have [`PANEL`] columns.
const STRIDE: usize = 4 * PANEL;

/// The sums of [`PAIR`] rows in a panel.
#[repr(align(64))]
pub(super) struct Sums(pub [[i32; PANEL]; PAIR]);

impl Default for Sums {
    fn default() -> Self {
        Self([[0; PANEL]; PAIR])
    }
}

/// Whether the processor has tiles and the system lets this program use them.
pub(super) fn are_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| has_tiles() && is_allowed())
}

/// What the processor says of itself: tiles and eight-bit products of them (leaf 7), and in palette 1 at least eight tiles of
/// sixteen rows of 64 bytes (leaf 0x1D), which a virtual machine may keep to itself.
fn has_tiles() -> bool {
    const BOTH: u32 = (1 << 24) | (1 << 25);
    if __cpuid(0).eax < 0x1D || __cpuid_count(7, 0).edx & BOTH != BOTH || __cpuid_count(0x1D, 0).eax < 1 {
        return false;
    }
    let palette = __cpuid_count(0x1D, 1);
    let (bytes, tiles, rows) = (palette.ebx & 0xFFFF, palette.ebx >> 16, palette.ecx & 0xFFFF);
    bytes >= 64 && tiles >= 8 && rows >= 16
}

/// Linux asks programs to ask for the eight kilobytes a thread that it keeps of the tiles; all threads may use them then.
#[cfg(target_os = "linux")]
fn is_allowed() -> bool {
    const ASK: libc::c_long = 0x1023; // ARCH_REQ_XCOMP_PERM
    const TILE_DATA: libc::c_long = 18; // XFEATURE_XTILE_DATA
    // SAFETY: the call takes two numbers and changes nothing but what this process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ASK, TILE_DATA) == 0 }
}

/// Nothing is known of other systems.
#[cfg(not(target_os = "linux"))]
fn is_allowed() -> bool {
    false
}

/// How large each tile is, as the processor reads it.
#[repr(C, align(64))]
struct Shape {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

thread_local! {
    /// Whether there are [`Tiles`] of this thread: a thread has one set, and others would change how it is set up.
    static TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// The tiles of this thread, set up for so many rows; given back when this goes.
///
/// Tiles 0 to 3 are sums (two by two), 4 and 5 rows, 6 and 7 weights.
pub(super) struct Tiles {
    rows: usize,
    /// No other thread may have it: its own tiles are not set up.
    _here: PhantomData<*const ()>,
}

impl Tiles {
    /// For 1 to [`PAIR`] rows at a time; none where [`are_there`] says no, or while this thread has others.
    pub(super) fn of(rows: usize) -> Option<Self> {
        if !are_there() || !(1..=PAIR).contains(&rows) || TAKEN.get() {
            return None;
        }
        let upper = u8::try_from(rows.min(TILE)).ok()?;
        let lower = u8::try_from(rows.saturating_sub(TILE)).ok()?;
        let mut shape = Shape { palette: 1, start: 0, reserved: [0; 14], bytes: [0; 16], rows: [0; 16] };
        let sizes = [upper, upper, lower, lower, upper, lower, 16, 16];
        for (at, rows) in sizes.into_iter().enumerate().filter(|(_, rows)| *rows > 0) {
            shape.bytes[at] = 64;
            shape.rows[at] = rows;
        }
        // SAFETY: the processor has tiles and the system keeps them for this thread; the shape is one that it knows.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shape, options(nostack, readonly)) };
        TAKEN.set(true);
        Some(Self { rows, _here: PhantomData })
    }

    /// The sums of these rows, as many as the tiles are set up for, with the weights of a panel.
    pub(super) fn products<const DEPTH: usize>(&self, rows: &[[u8; DEPTH]], lines: &[Line], sums: &mut Sums) {
        assert!(rows.len() == self.rows && lines.len() == DEPTH / 2);
        // Both take at least one step.
        assert!(DEPTH >= STEP && DEPTH.is_multiple_of(STEP));
        let (left, weights, out) = (rows.as_ptr().cast::<u8>(), lines.as_ptr(), sums.0.as_mut_ptr());
        if self.rows <= TILE {
            // SAFETY: the tiles of this thread have as many rows as `rows`, and the sums have room for more.
            unsafe { one_tile::<DEPTH>(left, weights, out) };
        } else {
            // SAFETY: as above, and there are more than sixteen rows.
            unsafe { two_tiles::<DEPTH>(left, weights, out) };
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the tiles were set up on this thread, and hold nothing that is still wanted.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
        TAKEN.set(false);
    }
}

/// The sums of up to sixteen rows.
///
/// # Safety
/// The tiles of this thread are set up for so many rows of `DEPTH` bytes as are at `left`, `DEPTH` is a multiple of [`STEP`] and
/// not 0, at `weights` are `DEPTH / 2` lines, and at `out` is room for the sums of the rows.
unsafe fn one_tile<const DEPTH: usize>(left: *const u8, weights: *const Line, out: *mut [i32; PANEL]) {
    // SAFETY: each row and the lines are read to their end. No register but those that are named is changed.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "2:",
            "tileloadd tmm4, [{left} + {depth}*1]",
            "tileloadd tmm6, [{weights} + {stride}*1]",
            "tileloadd tmm7, [{weights} + {stride}*1 + 64]",
            "tdpbusd tmm0, tmm4, tmm6",
            "tdpbusd tmm1, tmm4, tmm7",
            "add {left}, 64",
            "add {weights}, 2048",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{out} + {stride}*1], tmm0",
            "tilestored [{out} + {stride}*1 + 64], tmm1",
            left = inout(reg) left => _,
            weights = inout(reg) weights => _,
            steps = inout(reg) DEPTH / STEP => _,
            depth = in(reg) DEPTH,
            stride = in(reg) STRIDE,
            out = in(reg) out,
            out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}

/// The sums of 17 to [`PAIR`] rows, of which those behind the sixteenth have tiles of their own.
///
/// # Safety
/// As for [`one_tile`], and there are more than sixteen rows.
unsafe fn two_tiles<const DEPTH: usize>(left: *const u8, weights: *const Line, out: *mut [i32; PANEL]) {
    // SAFETY: as above; there is a row behind the sixteenth.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "tileloadd tmm4, [{left} + {depth}*1]",
            "tileloadd tmm6, [{weights} + {stride}*1]",
            "tileloadd tmm7, [{weights} + {stride}*1 + 64]",
            "tileloadd tmm5, [{lower} + {depth}*1]",
            "tdpbusd tmm0, tmm4, tmm6",
            "tdpbusd tmm1, tmm4, tmm7",
            "tdpbusd tmm2, tmm5, tmm6",
            "tdpbusd tmm3, tmm5, tmm7",
            "add {left}, 64",
            "add {lower}, 64",
            "add {weights}, 2048",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{out} + {stride}*1], tmm0",
            "tilestored [{out} + {stride}*1 + 64], tmm1",
            "tilestored [{out} + {stride}*1 + 2048], tmm2",
            "tilestored [{out} + {stride}*1 + 2112], tmm3",
            left = inout(reg) left => _,
            lower = inout(reg) left.add(TILE * DEPTH) => _,
            weights = inout(reg) weights => _,
            steps = inout(reg) DEPTH / STEP => _,
            depth = in(reg) DEPTH,
            stride = in(reg) STRIDE,
            out = in(reg) out,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}
