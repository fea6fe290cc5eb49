// SPDX-License-Identifier: MIT
//! Sessions: counting events of tasks or CPUs.
use crate::context::Context;
use crate::error::{check, check_text, culprit, empty, Result};
use crate::sampling::Sampling;
use crate::text::{from_c, pointer, to_c, TextArray};
use perfmon_sys as sys;
use std::fmt;
use std::mem::{size_of, zeroed};
use std::ptr::{null, null_mut};

/// How far a count can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quality {
    /// Counted all the time it was enabled.
    Exact,
    /// Shared a counter; extrapolated.
    Scaled,
    /// Some CPUs or tasks were not counted.
    Partial,
    /// No value this time.
    NotCounted,
    /// Cannot be counted here.
    NotSupported,
    /// A value that `pfm pretend` made up.
    Pretended,
    /// An emulator counted it.
    Simulated,
    /// A quality of a later version of the library.
    Other(u32),
}

impl Quality {
    fn from_raw(raw: sys::pfm_quality_t) -> Self {
        match raw {
            sys::PFM_QUALITY_EXACT => Quality::Exact,
            sys::PFM_QUALITY_SCALED => Quality::Scaled,
            sys::PFM_QUALITY_PARTIAL => Quality::Partial,
            sys::PFM_QUALITY_NOT_COUNTED => Quality::NotCounted,
            sys::PFM_QUALITY_NOT_SUPPORTED => Quality::NotSupported,
            sys::PFM_QUALITY_PRETENDED => Quality::Pretended,
            sys::PFM_QUALITY_SIMULATED => Quality::Simulated,
            other => Quality::Other(other),
        }
    }
}

/// A count.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Count {
    /// The event, as the caller wrote it.
    pub name: String,
    /// `None` without a value.
    pub value: Option<u64>,
    /// How far the value can be trusted.
    pub quality: Quality,
    /// Why it is not exact, and empty if it is.
    pub why: String,
    /// The remedy, empty if unknown.
    pub remedy: String,
    /// Nanoseconds enabled and nanoseconds on a counter.
    pub times: (u64, u64),
    /// The value times this is in `unit`.
    pub scale: f64,
    /// Empty for plain counts.
    pub unit: String,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{value} {} ({:?})", self.name, self.quality),
            None => write!(f, "- {} ({:?}: {})", self.name, self.quality, self.why),
        }
    }
}

/// How to open a session. The default counts the calling thread.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// A process or thread; 0: the calling thread.
    pub pid: i32,
    /// Count child processes and threads too.
    pub inherit: bool,
    /// Count every process on the CPUs.
    pub system_wide: bool,
    /// Fail unless every event can be opened.
    pub strict: bool,
    /// A list such as `0,2-3`.
    pub cpus: Option<String>,
    /// Take samples.
    pub sampling: Option<Sampling>,
}

impl SessionOptions {
    fn flags(&self) -> u32 {
        let choices = [
            (self.inherit, sys::PFM_SESSION_INHERIT),
            (self.system_wide, sys::PFM_SESSION_SYSTEM_WIDE),
            (self.strict, sys::PFM_SESSION_STRICT),
        ];
        choices.iter().filter(|(on, _)| *on).map(|(_, flag)| flag).sum()
    }
}

/// Counters of a list of events. One thread at a time uses it.
#[derive(Debug)]
pub struct Session {
    pub(crate) raw: *mut sys::pfm_session_t,
}

unsafe impl Send for Session {}

impl Session {
    /// Opens counters for events, groups in braces and metrics of the calling thread.
    ///
    /// ```
    /// let session = perfmon::Session::new(&["page-faults"])?;
    /// session.start()?;
    /// session.stop()?;
    /// println!("{}", session.read()?[0]);
    /// # Ok::<(), perfmon::Error>(())
    /// ```
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Result<Self> {
        Self::open(None, texts, &SessionOptions::default())
    }

    /// Opens counters with options. Without a context: the default one.
    pub fn open<T: AsRef<str>>(
        context: Option<&Context>,
        texts: &[T],
        options: &SessionOptions,
    ) -> Result<Self> {
        let ctx: *const sys::pfm_ctx_t = context.map_or(null(), |c| c.raw);
        let array = TextArray::new(texts);
        let cpus = options.cpus.as_deref().map(to_c);
        let sampling = options.sampling.as_ref().map(Sampling::to_raw);
        let mut c: sys::pfm_session_options_t = unsafe { zeroed() };
        c.size = size_of::<sys::pfm_session_options_t>();
        c.flags = options.flags();
        c.pid = options.pid;
        c.cpus = pointer(&cpus);
        c.sampling = sampling.as_ref().map_or(null(), |s| s as *const _);
        let mut raw = null_mut();
        let mut error = empty();
        let code = unsafe {
            let texts = array.pointers.as_ptr();
            sys::pfm_open_session(&mut raw, ctx, &c, texts, array.len(), &mut error)
        };
        check_text(ctx, culprit(texts, &error), code, &error)?;
        Ok(Session { raw })
    }

    /// Starts counting.
    pub fn start(&self) -> Result<()> {
        check(unsafe { sys::pfm_start_session(self.raw) })
    }

    /// Stops counting.
    pub fn stop(&self) -> Result<()> {
        check(unsafe { sys::pfm_stop_session(self.raw) })
    }

    /// Sets all counts to 0.
    pub fn reset(&self) -> Result<()> {
        check(unsafe { sys::pfm_reset_session(self.raw) })
    }

    /// Reads all counts.
    pub fn read(&self) -> Result<Vec<Count>> {
        let n = unsafe { sys::pfm_session_size(self.raw) };
        let mut one: sys::pfm_count_t = unsafe { zeroed() };
        one.size = size_of::<sys::pfm_count_t>();
        let mut counts = vec![one; n as usize];
        check(unsafe { sys::pfm_read_session(self.raw, counts.as_mut_ptr(), n) })?;
        counts.iter().enumerate().map(|(i, c)| self.count(i as u32, c)).collect()
    }

    fn count(&self, i: u32, c: &sys::pfm_count_t) -> Result<Count> {
        let mut info: sys::pfm_count_info_t = unsafe { zeroed() };
        info.size = size_of::<sys::pfm_count_info_t>();
        check(unsafe { sys::pfm_describe_count(self.raw, i, &mut info) })?;
        let known = unsafe { sys::pfm_counter_quality(c.quality, c.cause) };
        Ok(Count {
            name: unsafe { from_c(info.name) },
            value: if known <= sys::PFM_QUALITY_PARTIAL { Some(c.value) } else { None },
            quality: Quality::from_raw(c.quality),
            why: unsafe { from_c(info.why) },
            remedy: unsafe { from_c(info.remedy) },
            times: (c.enabled, c.running),
            scale: c.scale,
            unit: unsafe { from_c(info.unit) },
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe { sys::pfm_close_session(self.raw) }
    }
}
