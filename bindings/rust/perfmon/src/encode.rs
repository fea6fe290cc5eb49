// SPDX-License-Identifier: MIT
//! One event as registers, without a heap: kernels and firmware call it, too.
use core::fmt;
use core::mem::{size_of, zeroed};
use core::ptr::null;
use perfmon_sys as sys;

const TEXT_MAX: usize = 255;

/// The registers of an event.
#[derive(Clone, Copy)]
pub struct Encoding(sys::pfm_encoding_t);

impl Encoding {
    /// Control registers, for the lowest counter that can count the event.
    pub fn registers(&self) -> &[sys::pfm_reg_t] {
        &self.0.regs[..self.0.n_regs as usize]
    }

    /// Counters that can count it; fixed counter n is bit 32 + n.
    pub fn counters(&self) -> u64 {
        self.0.counters
    }
}

/// Why a text was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// `PFMLIB_ERR_*`.
    pub code: i32,
    /// `PFM_KIND_*`.
    pub kind: u32,
    /// Bytes of the text with the problem.
    pub start: usize,
    /// See `start`.
    pub end: usize,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { code, kind, start, end } = self;
        write!(f, "error {code}, kind {kind}, bytes {start} to {end}")
    }
}

/// Encodes an event of at most 255 bytes with the default context. @levels: `PFM_PLM*` if the text
/// names none, 0 for the PMU's defaults.
///
/// Without the features `std` and `alloc` the crate needs nothing else, and the object that
/// `scripts/freestanding.py` makes is enough to link a program.
///
/// ```
/// let event = perfmon::encode("coreduo::L2_Lines_In,core=all,prefetch=only", 0).unwrap();
/// assert_eq!(event.registers()[0].value, 0x53d024);
/// assert_eq!(perfmon::encode("coreduo::NO_SUCH_EVENT", 0).err().unwrap().start, 9);
/// ```
pub fn encode(text: &str, levels: u32) -> Result<Encoding, Refusal> {
    let mut bytes = [0u8; TEXT_MAX + 1];
    let mut encoding = Encoding(unsafe { zeroed() });
    let mut error: sys::pfm_error_t = unsafe { zeroed() };
    if text.len() > TEXT_MAX {
        let code = sys::PFMLIB_ERR_INVAL;
        return Err(Refusal { code, kind: sys::PFM_KIND_SYNTAX, start: TEXT_MAX, end: text.len() });
    }
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    encoding.0.size = size_of::<sys::pfm_encoding_t>();
    error.size = size_of::<sys::pfm_error_t>();
    let code = unsafe {
        sys::pfm_encode_event(null(), bytes.as_ptr().cast(), levels, &mut encoding.0, &mut error)
    };
    if code == sys::PFMLIB_SUCCESS {
        return Ok(encoding);
    }
    let (start, end) = (error.start as usize, error.end as usize);
    Err(Refusal { code, kind: error.kind, start, end })
}
