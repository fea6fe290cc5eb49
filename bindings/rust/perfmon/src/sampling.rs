// SPDX-License-Identifier: MIT
//! Samples of a session.
use crate::error::{check, Result};
use crate::session::Session;
use perfmon_sys as sys;
use std::mem::{size_of, zeroed};

/// How a session samples. 0 in every member gives the library's defaults.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Sampling {
    /// Events per sample.
    pub period: u64,
    /// Or samples per second.
    pub frequency: u64,
    /// Take call chains.
    pub chains: bool,
}

impl Sampling {
    pub(crate) fn to_raw(&self) -> sys::pfm_sampling_t {
        let mut c: sys::pfm_sampling_t = unsafe { zeroed() };
        c.size = size_of::<sys::pfm_sampling_t>();
        c.period = self.period;
        c.freq = self.frequency;
        let usual = sys::PFM_SAMPLE_IP | sys::PFM_SAMPLE_TID | sys::PFM_SAMPLE_CPU;
        c.fields = u64::from(usual | sys::PFM_SAMPLE_PERIOD);
        if self.chains {
            c.fields |= u64::from(sys::PFM_SAMPLE_CHAIN);
        }
        c
    }
}

/// A record of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// A sample.
    Sample {
        /// Index of the count it belongs to.
        event: usize,
        /// Address of the instruction.
        ip: u64,
        /// Process and thread.
        task: (u32, u32),
        /// CPU.
        cpu: u32,
        /// Nanoseconds of the session's clock.
        time: u64,
        /// Events that it stands for.
        period: u64,
        /// Innermost frame first, with markers above `PFM_CHAIN_MARKER`.
        chain: Vec<u64>,
    },
    /// Records that a full buffer lost.
    Lost(u64),
    /// A record of another type.
    Other(u32),
}

fn sample(r: &sys::pfm_record_t) -> Record {
    let s = unsafe { &r.body.sample };
    let chain = if s.chain.is_null() {
        Vec::new()
    } else {
        unsafe { std::slice::from_raw_parts(s.chain, s.n_chain as usize) }.to_vec()
    };
    Record::Sample {
        event: r.event as usize,
        ip: s.ip,
        task: (r.pid, r.tid),
        cpu: r.cpu,
        time: r.time,
        period: s.period,
        chain,
    }
}

impl Session {
    /// Takes the next record, the oldest of all buffers; `None` if none is ready.
    pub fn next_record(&self) -> Result<Option<Record>> {
        let mut r: sys::pfm_record_t = unsafe { zeroed() };
        r.size = size_of::<sys::pfm_record_t>();
        let taken = unsafe { sys::pfm_next_record(self.raw, &mut r) };
        check(taken)?;
        Ok(match r.r#type {
            _ if taken == 0 => None,
            t if t == sys::PFM_RECORD_SAMPLE => Some(sample(&r)),
            t if t == sys::PFM_RECORD_LOST => {
                Some(Record::Lost(unsafe { r.body.lost.lost }))
            }
            other => Some(Record::Other(other)),
        })
    }

    /// The records that are ready. A stopped session gives everything.
    pub fn records(&self) -> impl Iterator<Item = Result<Record>> + '_ {
        std::iter::from_fn(move || self.next_record().transpose())
    }

    /// Waits until records are ready. False: all sampled tasks have ended, or the time is over.
    pub fn wait(&self, milliseconds: i32) -> Result<bool> {
        let answer = unsafe { sys::pfm_wait_session(self.raw, milliseconds) };
        check(answer)?;
        Ok(answer as u32 == sys::PFM_WAIT_READY)
    }
}
