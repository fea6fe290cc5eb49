// SPDX-License-Identifier: MIT
//! Plans: the fewest groups that count a list of events and metrics.
use alloc::string::String;
use alloc::vec::Vec;
use crate::context::Context;
use crate::error::{check, check_text, culprit, empty, Result};
use crate::text::{from_c, written, TextArray};
use perfmon_sys as sys;
use core::mem::{size_of, zeroed};
use core::ptr::{null, null_mut};

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Groups, each as a session takes it.
    pub groups: Vec<String>,
    /// Times the counters are reloaded.
    pub rounds: u32,
    /// No plan has fewer groups.
    pub bound: u32,
    /// The proof of the bound.
    pub certificate: String,
}

impl Context {
    /// Plans events, metrics and metric groups.
    ///
    /// ```
    /// let plan = perfmon::Context::tables()?.plan(&["skl::INST_RETIRED.ANY", "skl::L1D.REPLACEMENT"])?;
    /// assert_eq!(plan.groups.len(), 1);
    /// # Ok::<(), perfmon::Error>(())
    /// ```
    pub fn plan<T: AsRef<str>>(&self, texts: &[T]) -> Result<Plan> {
        let array = TextArray::new(texts);
        let mut plan = null_mut();
        let mut error = empty();
        let code = unsafe {
            let texts = array.pointers.as_ptr();
            sys::pfm_create_plan(&mut plan, self.raw, texts, array.len(), null(), &mut error)
        };
        check_text(self.raw, culprit(texts, &error), code, &error)?;
        let mut info: sys::pfm_plan_info_t = unsafe { zeroed() };
        info.size = size_of::<sys::pfm_plan_info_t>();
        let described = check(unsafe { sys::pfm_describe_plan(plan, &mut info) });
        let groups = (0..info.n_groups)
            .filter_map(|i| {
                written(|buf, len| unsafe {
                    i64::from(sys::pfm_print_plan_group(plan, i, buf, len))
                })
            })
            .collect();
        let out = Plan {
            groups,
            rounds: info.n_rounds,
            bound: info.bound,
            certificate: unsafe { from_c(info.certificate) },
        };
        unsafe { sys::pfm_close_plan(plan) };
        described.map(|()| out)
    }
}
