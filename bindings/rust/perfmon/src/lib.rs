// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![cfg_attr(not(any(feature = "std", test)), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod context;
mod encode;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod event;
#[cfg(feature = "alloc")]
mod metric;
#[cfg(feature = "alloc")]
mod plan;
#[cfg(feature = "std")]
mod region;
#[cfg(feature = "std")]
mod sampling;
#[cfg(feature = "std")]
mod session;
#[cfg(feature = "alloc")]
mod text;

#[cfg(feature = "alloc")]
pub use context::{Context, ContextOptions};
pub use encode::{encode, Encoding, Refusal};
#[cfg(feature = "alloc")]
pub use error::{Error, Result};
#[cfg(feature = "alloc")]
pub use event::{Attr, Dialect, Event, Register, Set};
#[cfg(feature = "alloc")]
pub use metric::{Metric, MetricState, MetricValue};
#[cfg(feature = "alloc")]
pub use plan::Plan;
#[cfg(feature = "std")]
pub use region::{start_regions, stop_regions, Region, RegionGuard};
#[cfg(feature = "std")]
pub use sampling::{Record, Sampling};
#[cfg(feature = "std")]
pub use session::{Count, Quality, Session, SessionOptions};

/// The raw C interface.
pub use perfmon_sys as sys;
