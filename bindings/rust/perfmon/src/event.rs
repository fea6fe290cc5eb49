// SPDX-License-Identifier: MIT
//! Events as registers, sets of events on counters, registers as events.
use alloc::string::String;
use alloc::vec::Vec;
use crate::context::Context;
use crate::error::{check_text, culprit, empty, Result};
use crate::text::{from_c, to_c, TextArray};
use perfmon_sys as sys;
use core::mem::{size_of, zeroed};
use core::ptr::null;

/// A register and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Register {
    /// `PFM_REG_*`.
    pub kind: u32,
    /// Its number.
    pub number: u32,
    /// Its address (on x86 the MSR), or the number again.
    pub address: u64,
    /// The value to write.
    pub value: u64,
    /// Its name, such as `PERFEVTSEL0`.
    pub name: String,
    /// Index of the first event of its set that needs it.
    pub event: Option<usize>,
}

/// The members of `perf_event_attr` that select an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attr {
    /// `None`: depends on the machine.
    pub kind: Option<u32>,
    /// `config`, `config1` ... `config4`.
    pub config: [u64; 5],
    /// User, kernel, hypervisor.
    pub exclude: [bool; 3],
    /// `precise_ip`.
    pub precise: u8,
    /// False: the kernel cannot count the event.
    pub expressible: bool,
}

/// An encoded event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Number of its PMU.
    pub pmu: i32,
    /// Its number in the PMU.
    pub number: u32,
    /// Levels that are counted: `PFM_PLM*`.
    pub levels: u32,
    /// Control registers, for the lowest counter that can count the event.
    pub registers: Vec<Register>,
    /// Counters that can count it; fixed counter n is bit 32 + n.
    pub counters: u64,
    /// For `perf_event_open(2)`.
    pub attr: Attr,
}

impl Event {
    /// Encodes an event in any notation, with the PMUs of this machine.
    ///
    /// ```
    /// let event = perfmon::Event::encode("skl::MEM_LOAD_RETIRED.L3_MISS:u")?;
    /// assert_eq!(event.registers[0].value, 0x5120d1);
    /// # Ok::<(), perfmon::Error>(())
    /// ```
    pub fn encode(text: &str) -> Result<Event> {
        Context::new()?.encode(text, 0)
    }
}

/// Events placed on counters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Set {
    /// Per event; fixed counter n is 32 + n; -1: needs no counter.
    pub counters: Vec<i32>,
    /// Registers to write.
    pub writes: Vec<Register>,
    /// Registers to read.
    pub reads: Vec<Register>,
}

/// Notations of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// `pmu::EVENT:UMASK:modifier=value`
    Libpfm,
    /// `Event,qualifier=value`
    Libpmc,
    /// `pmu/event=0xc0,umask=1/`
    Perf,
    /// The vendor's names.
    Vendor,
}

fn register(r: &sys::pfm_reg_t) -> Register {
    Register {
        kind: r.kind,
        number: r.num,
        address: r.addr,
        value: r.value,
        name: unsafe { from_c(r.name) },
        event: usize::try_from(r.event).ok(),
    }
}

unsafe fn registers(regs: *const sys::pfm_reg_t, n: u32) -> Vec<Register> {
    (0..n as usize).map(|i| register(&*regs.add(i))).collect()
}

fn attr(a: &sys::perfmon_attr_t) -> Attr {
    Attr {
        kind: if a.type_known != 0 { Some(a.r#type) } else { None },
        config: [a.config, a.config1, a.config2, a.config3, a.config4],
        exclude: [a.exclude_user != 0, a.exclude_kernel != 0, a.exclude_hv != 0],
        precise: a.precise,
        expressible: a.expressible != 0,
    }
}

impl Context {
    /// Encodes an event. @levels: `PFM_PLM*` if the text names none, 0 for the PMU's defaults.
    pub fn encode(&self, text: &str, levels: u32) -> Result<Event> {
        let mut e: sys::pfm_encoding_t = unsafe { zeroed() };
        let mut error = empty();
        e.size = size_of::<sys::pfm_encoding_t>();
        let code = unsafe {
            sys::pfm_encode_event(self.raw, to_c(text).as_ptr(), levels, &mut e, &mut error)
        };
        check_text(self.raw, Some(text), code, &error)?;
        Ok(Event {
            pmu: e.pmu,
            number: e.event,
            levels: e.plm,
            registers: unsafe { registers(e.regs.as_ptr(), e.n_regs) },
            counters: e.counters,
            attr: attr(&e.attr),
        })
    }

    /// Places events on counters that count them together.
    ///
    /// ```
    /// let tables = perfmon::Context::tables()?;
    /// let set = tables.dispatch(&["spr::INST_RETIRED.ANY", "spr::MEM_LOAD_RETIRED.L3_MISS"])?;
    /// assert_eq!(set.counters, [32, 0]);
    /// # Ok::<(), perfmon::Error>(())
    /// ```
    pub fn dispatch<T: AsRef<str>>(&self, texts: &[T]) -> Result<Set> {
        let array = TextArray::new(texts);
        let mut set: *const sys::pfm_set_t = null();
        let mut error = empty();
        error.event = -1;
        let code = unsafe {
            let texts = array.pointers.as_ptr();
            sys::pfm_dispatch_set(&mut set, self.raw, texts, array.len(), null(), &mut error)
        };
        check_text(self.raw, culprit(texts, &error), code, &error)?;
        let out = unsafe {
            Set {
                counters: (0..(*set).n_events as usize).map(|i| *(*set).counter.add(i)).collect(),
                writes: registers((*set).pmcs, (*set).n_pmcs),
                reads: registers((*set).pmds, (*set).n_pmds),
            }
        };
        unsafe { sys::pfm_close_set(set) };
        Ok(out)
    }

    /// Events that a value of a register can mean, the most likely first.
    pub fn decode(&self, pmu: i32, register: &str, value: u64) -> Vec<String> {
        let register = to_c(register);
        let mut out = Vec::new();
        let mut buf = [0; 256];
        while unsafe {
            let (i, buf, len) = (out.len() as u32, buf.as_mut_ptr(), buf.len());
            sys::pfm_decode_event(self.raw, pmu, register.as_ptr(), value, i, buf, len) == 0
        } {
            out.push(unsafe { from_c(buf.as_ptr()) });
        }
        out
    }

    /// Writes an event in another notation.
    pub fn print(&self, text: &str, dialect: Dialect) -> Result<String> {
        let mut buf = [0; 512];
        let mut error = empty();
        let code = unsafe {
            let (text, buf, len) = (to_c(text), buf.as_mut_ptr(), buf.len());
            let dialect = dialect as sys::pfm_dialect_t;
            sys::pfm_print_event(self.raw, text.as_ptr(), dialect, buf, len, &mut error)
        };
        check_text(self.raw, Some(text), code, &error)?;
        Ok(unsafe { from_c(buf.as_ptr()) })
    }
}
