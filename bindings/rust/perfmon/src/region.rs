// SPDX-License-Identifier: MIT
//! Regions: counts of a part of a program, in every thread that runs it.
use crate::error::{check_text, empty, Result};
use crate::text::{pointer, to_c};
use perfmon_sys as sys;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{size_of, zeroed};
use std::os::raw::c_char;
use std::ptr::null;

/// A region: a static object of its call site. The macro [`region!`](crate::region!) makes one.
#[derive(Debug)]
#[repr(transparent)]
pub struct Region(UnsafeCell<sys::pfm_region_t>);

// The library changes a region by atomic operations.
unsafe impl Sync for Region {}

impl Region {
    /// For [`region!`](crate::region!): @name ends with a null byte.
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Self {
        let name = name.as_ptr() as *const c_char;
        Region(UnsafeCell::new(sys::pfm_region_t { name, id: 0, reserved: 0 }))
    }

    /// Begins a visit, which ends when the guard is dropped.
    #[inline]
    pub fn enter(&'static self) -> RegionGuard {
        unsafe { sys::pfm_begin_region(self.0.get()) };
        RegionGuard { region: self, one_thread: PhantomData }
    }
}

/// An open visit of a region, in one thread.
#[derive(Debug)]
pub struct RegionGuard {
    region: &'static Region,
    one_thread: PhantomData<*const ()>,
}

impl Drop for RegionGuard {
    #[inline]
    fn drop(&mut self) {
        unsafe { sys::pfm_end_region(self.region.0.get()) }
    }
}

/// Begins a visit of the region with a name; it ends with the scope of the guard.
///
/// ```
/// {
///     let _solve = perfmon::region!("solve");
///     // the work
/// }
/// ```
#[macro_export]
macro_rules! region {
    ($name:literal) => {{
        static REGION: $crate::Region = $crate::Region::new(concat!($name, "\0"));
        REGION.enter()
    }};
}

/// Starts counting regions: comma-separated events (empty: times alone), and the file that receives
/// the results when the process ends.
pub fn start_regions(events: &str, output: Option<&str>) -> Result<()> {
    let events = if events.is_empty() { None } else { Some(to_c(events)) };
    let output = output.map(to_c);
    let mut options: sys::pfm_regions_options_t = unsafe { zeroed() };
    options.size = size_of::<sys::pfm_regions_options_t>();
    options.events = pointer(&events);
    options.output = pointer(&output);
    let mut error = empty();
    let code = unsafe { sys::pfm_start_regions(&options, &mut error) };
    check_text(null(), None, code, &error)
}

/// Stops counting and keeps the results.
pub fn stop_regions() {
    unsafe { sys::pfm_stop_regions() }
}
