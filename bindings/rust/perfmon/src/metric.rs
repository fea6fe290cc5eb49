// SPDX-License-Identifier: MIT
//! Metrics: formulas over counts.
use alloc::string::String;
use alloc::vec::Vec;
use crate::context::Context;
use crate::error::{check, check_text, empty, Result};
use crate::text::{from_c, to_c};
use perfmon_sys as sys;
use core::mem::{size_of, zeroed};

/// A metric of a PMU's table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    pmu: i32,
    event: u32,
    /// Its unit, empty for none.
    pub unit: String,
    /// Events and constants whose values it needs, in this order.
    pub inputs: Vec<String>,
}

/// Whether a metric has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricState {
    /// There is a value.
    Defined,
    /// A division by zero.
    Division,
    /// An input has no value.
    NotCounted,
    /// The value is out of range.
    Overflow,
    /// A state of a later version of the library.
    Other(u32),
}

/// The value of a metric.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MetricValue {
    /// Whether there is a value.
    pub state: MetricState,
    /// The value; 0 without one.
    pub value: f64,
    /// Index of an input that was not counted.
    pub missing: Option<usize>,
}

fn state(raw: sys::pfm_metric_state_t) -> MetricState {
    match raw {
        sys::PFM_METRIC_DEFINED => MetricState::Defined,
        sys::PFM_METRIC_DIVISION => MetricState::Division,
        sys::PFM_METRIC_NOT_COUNTED => MetricState::NotCounted,
        sys::PFM_METRIC_OVERFLOW => MetricState::Overflow,
        other => MetricState::Other(other),
    }
}

impl Context {
    /// Finds a metric.
    pub fn metric(&self, text: &str) -> Result<Metric> {
        let (mut pmu, mut event) = (-1, 0);
        let mut error = empty();
        let code = unsafe {
            let text = to_c(text);
            sys::pfm_find_event_by_text(self.raw, text.as_ptr(), &mut pmu, &mut event, &mut error)
        };
        check_text(self.raw, Some(text), code, &error)?;
        let mut info: sys::pfm_metric_info_t = unsafe { zeroed() };
        info.size = size_of::<sys::pfm_metric_info_t>();
        check(unsafe { sys::pfm_describe_metric(self.raw, pmu, event, &mut info) })?;
        let mut inputs = Vec::new();
        for i in 0..info.n_inputs {
            let mut input: sys::pfm_metric_input_t = unsafe { zeroed() };
            input.size = size_of::<sys::pfm_metric_input_t>();
            check(unsafe {
                sys::pfm_describe_metric_input(self.raw, pmu, event, i, &mut input)
            })?;
            inputs.push(unsafe { from_c(input.text.as_ptr()) });
        }
        Ok(Metric { pmu, event, unit: unsafe { from_c(info.unit) }, inputs })
    }

    /// Computes a metric from the values of its inputs; inputs without a value are `None`.
    pub fn compute(&self, metric: &Metric, values: &[Option<f64>]) -> Result<MetricValue> {
        let operands: Vec<sys::pfm_metric_operand_t> = (0..metric.inputs.len())
            .map(|i| {
                let value = values.get(i).copied().flatten();
                sys::pfm_metric_operand_t {
                    value: value.unwrap_or(0.0),
                    error: 0.0,
                    known: value.is_some().into(),
                    reserved: 0,
                }
            })
            .collect();
        let mut data: sys::pfm_metric_data_t = unsafe { zeroed() };
        data.size = size_of::<sys::pfm_metric_data_t>();
        data.n_inputs = operands.len() as u32;
        data.operands = operands.as_ptr();
        let mut out: sys::pfm_metric_value_t = unsafe { zeroed() };
        out.size = size_of::<sys::pfm_metric_value_t>();
        check(unsafe {
            sys::pfm_compute_metric(self.raw, metric.pmu, metric.event, &data, &mut out)
        })?;
        Ok(MetricValue {
            state: state(out.state),
            value: out.value,
            missing: usize::try_from(out.missing).ok(),
        })
    }
}
