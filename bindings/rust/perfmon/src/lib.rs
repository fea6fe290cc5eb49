// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod context;
mod error;
mod event;
mod metric;
mod plan;
mod region;
mod sampling;
mod session;
mod text;

pub use context::{Context, ContextOptions};
pub use error::{Error, Result};
pub use event::{Attr, Dialect, Event, Register, Set};
pub use metric::{Metric, MetricState, MetricValue};
pub use plan::Plan;
pub use region::{start_regions, stop_regions, Region, RegionGuard};
pub use sampling::{Record, Sampling};
pub use session::{Count, Quality, Session, SessionOptions};

/// The raw C interface.
pub use perfmon_sys as sys;
