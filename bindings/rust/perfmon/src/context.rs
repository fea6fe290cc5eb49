// SPDX-License-Identifier: MIT
//! Contexts: which PMUs exist.
use alloc::string::String;
use crate::error::{check_text, empty, Result};
use crate::text::{pointer, to_c};
use perfmon_sys as sys;
use core::mem::{size_of, zeroed};
use core::ptr::null_mut;

/// How to open a context.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ContextOptions {
    /// Ignore this machine: every event must name its PMU.
    pub no_host: bool,
    /// Do not search for image files.
    pub no_images: bool,
    /// PMU of names without a prefix.
    pub pmu: Option<String>,
    /// Identify the processor by this string, such as `GenuineIntel-6-8F`.
    pub cpuid: Option<String>,
}

/// A set of PMUs. Threads may share it.
#[derive(Debug)]
pub struct Context {
    pub(crate) raw: *mut sys::pfm_ctx_t,
}

// The library's functions on contexts are thread-safe.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Context {
    /// The PMUs of this machine, and the built-in tables.
    pub fn new() -> Result<Self> {
        Self::open(&ContextOptions::default())
    }

    /// The built-in tables alone, the same on each machine: every event names its PMU.
    ///
    /// ```
    /// let tables = perfmon::Context::tables()?;
    /// let event = tables.encode("skl::INST_RETIRED.ANY_P", 0)?;
    /// assert_eq!(event.registers[0].value, 0x5300c0);
    /// # Ok::<(), perfmon::Error>(())
    /// ```
    pub fn tables() -> Result<Self> {
        Self::open(&ContextOptions { no_host: true, no_images: true, ..Default::default() })
    }

    /// Opens a context with options.
    pub fn open(options: &ContextOptions) -> Result<Self> {
        let pmu = options.pmu.as_deref().map(to_c);
        let cpuid = options.cpuid.as_deref().map(to_c);
        let mut c: sys::pfm_ctx_options_t = unsafe { zeroed() };
        c.size = size_of::<sys::pfm_ctx_options_t>();
        if options.no_host {
            c.flags |= sys::PFM_CTX_NO_HOST;
        }
        if options.no_images {
            c.flags |= sys::PFM_CTX_NO_IMAGES;
        }
        c.pmu = pointer(&pmu);
        c.cpuid = pointer(&cpuid);
        let mut raw = null_mut();
        let mut error = empty();
        let code = unsafe { sys::pfm_open_context(&mut raw, &c, &mut error) };
        check_text(core::ptr::null(), None, code, &error)?;
        Ok(Context { raw })
    }

    /// The number of the PMU with a name or alias.
    pub fn find_pmu(&self, name: &str) -> Option<i32> {
        let n = unsafe { sys::pfm_find_pmu(self.raw, to_c(name).as_ptr()) };
        if n < 0 {
            None
        } else {
            Some(n)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::pfm_close_context(self.raw) }
    }
}
