//! The tile unit: asking the kernel for it, shaping its registers, and the products of 2×2 tiles in assembly.
//!
//! A tile is 16 rows of 64 bytes. `tmm0`–`tmm3` hold 16×16 sums in f32 or i32, `tmm4`/`tmm5` two blocks of rows
//! (16×32 in bf16, 16×64 in bytes), `tmm6`/`tmm7` two blocks of columns (two or four rows interleaved). The compiler
//! never touches tile registers, so they keep their values from one `asm!` to the next.

use std::arch::asm;

/// Elements of one 16×32 tile of bf16: one kilobyte.
pub(super) const TILE: usize = 512;
/// Elements of one 16×64 tile of bytes: one kilobyte.
pub(super) const BYTES: usize = 1024;

/// Asks Linux to let this process use tile registers: they enlarge every thread's saved state, so it wants to know.
#[cfg(target_os = "linux")]
pub(super) fn permitted() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: the call takes two numbers and changes nothing but the permission.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn permitted() -> bool {
    false
}

/// Tile registers shaped for this thread, and handed back on drop so that idle threads save no tile state.
pub(super) struct Tiles(());

impl Tiles {
    /// All eight registers as 16 rows of 64 bytes.
    ///
    /// # Safety
    /// The processor must have AMX and [`permitted`] must have said yes.
    pub(super) unsafe fn shape() -> Self {
        #[repr(C, align(64))]
        struct Configuration([u8; 64]);
        let mut configuration = Configuration([0; 64]);
        configuration.0[0] = 1; // the only palette
        for tile in 0..8 {
            configuration.0[16 + 2 * tile] = 64; // bytes a row
            configuration.0[48 + tile] = 16; // rows
        }
        // SAFETY: the configuration is 64 valid bytes; the caller vouches for AMX.
        unsafe { asm!("ldtilecfg [{}]", in(reg) configuration.0.as_ptr(), options(nostack, readonly)) };
        Tiles(())
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: a `Tiles` exists only where AMX does.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// Sets the four sums to zero.
///
/// # Safety
/// Tiles must be shaped on this thread.
#[inline(always)]
pub(super) unsafe fn zero() {
    // SAFETY: tiles are shaped, says the caller.
    unsafe {
        asm!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3", options(nostack, nomem))
    };
}

/// Products of 2×2 and of 1×2 tiles with one instruction.
macro_rules! products {
    ($two:ident, $one:ident, $element:ty, $instruction:literal) => {
        /// Adds the products of one row tile at `rows` and two column tiles.
        ///
        /// # Safety
        /// Tiles must be shaped; every pointer must be readable for one tile.
        #[inline(always)]
        pub(super) unsafe fn $one(rows: *const $element, left: *const $element, right: *const $element) {
            // SAFETY: the caller vouches for the pointers; each load reads 16 rows 64 bytes apart, one kilobyte.
            unsafe {
                asm!(
                    "tileloadd tmm6, [{left} + {stride}]",
                    "tileloaddt1 tmm4, [{rows} + {stride}]",
                    concat!($instruction, " tmm0, tmm4, tmm6"),
                    "tileloadd tmm7, [{right} + {stride}]",
                    concat!($instruction, " tmm1, tmm4, tmm7"),
                    rows = in(reg) rows, left = in(reg) left, right = in(reg) right, stride = in(reg) 64usize,
                    options(nostack, readonly)
                );
            }
        }

        /// The same with two row tiles, the second a kilobyte on.
        ///
        /// # Safety
        /// Tiles must be shaped; `rows` must be readable for two tiles, `left` and `right` for one each.
        #[inline(always)]
        pub(super) unsafe fn $two(rows: *const $element, left: *const $element, right: *const $element) {
            // SAFETY: as above; the column tiles are still in their registers.
            unsafe {
                $one(rows, left, right);
                asm!(
                    "tileloaddt1 tmm5, [{rows} + {stride} + 1024]",
                    concat!($instruction, " tmm2, tmm5, tmm6"),
                    concat!($instruction, " tmm3, tmm5, tmm7"),
                    rows = in(reg) rows, stride = in(reg) 64usize,
                    options(nostack, readonly)
                );
            }
        }
    };
}

// bf16 × bf16 into f32, and unsigned × signed bytes into i32.
products!(floats_2x2, floats_1x2, u16, "tdpbf16ps");
products!(bytes_2x2, bytes_1x2, u8, "tdpbusd");

/// Writes the four sums: tile after tile, 256 numbers of four bytes each, in the order top left, top right, bottom left and right.
///
/// # Safety
/// Tiles must be shaped; `sums` must be writable for 1,024 floats or 32-bit integers.
#[inline(always)]
pub(super) unsafe fn store_2x2<T>(sums: *mut T) {
    // SAFETY: the caller vouches for four kilobytes.
    unsafe {
        asm!(
            "tilestored [{sums} + {stride}], tmm0",
            "tilestored [{sums} + {stride} + 1024], tmm1",
            "tilestored [{sums} + {stride} + 2048], tmm2",
            "tilestored [{sums} + {stride} + 3072], tmm3",
            sums = in(reg) sums, stride = in(reg) 64usize,
            options(nostack)
        );
    }
}
