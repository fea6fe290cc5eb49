// SPDX-License-Identifier: MIT
//! Errors with the place in the text, a sentence and similar names.
use alloc::string::String;
use alloc::vec::Vec;
use crate::text::{from_c, to_c, written};
use perfmon_sys as sys;
use core::fmt;
use core::mem::{size_of, zeroed};
use sys::types::c_int;

/// Results of this crate.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// `PFMLIB_ERR_*`.
    pub code: i32,
    /// The stable word of the problem, such as `unknown_event`; empty if the code says everything.
    pub kind: String,
    /// Bytes of the text with the problem.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// Indices of a smallest set of events that do not fit together.
    pub clash: Vec<usize>,
    /// One sentence.
    pub sentence: String,
    /// Similar names, best first.
    pub suggestions: Vec<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        if let Some(name) = self.suggestions.first() {
            write!(f, " (similar: {name})")?;
        }
        Ok(())
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

pub fn empty() -> sys::pfm_error_t {
    let mut error: sys::pfm_error_t = unsafe { zeroed() };
    error.size = size_of::<sys::pfm_error_t>();
    error
}

/// The result of a call that returned @code and has no more details.
pub fn check(code: c_int) -> Result<()> {
    if code >= 0 {
        return Ok(());
    }
    let sentence = unsafe { from_c(sys::pfm_result_text(code)) };
    Err(Error {
        code,
        kind: String::new(),
        start: 0,
        end: 0,
        clash: Vec::new(),
        sentence,
        suggestions: Vec::new(),
    })
}

/// The text at fault of a set.
pub fn culprit<'a, T: AsRef<str>>(texts: &'a [T], error: &sys::pfm_error_t) -> Option<&'a str> {
    usize::try_from(error.event).ok().and_then(|i| texts.get(i)).map(AsRef::as_ref)
}

/// The result of a call that returned @code and filled @error.
pub fn check_text(
    ctx: *const sys::pfm_ctx_t,
    text: Option<&str>,
    code: c_int,
    error: &sys::pfm_error_t,
) -> Result<()> {
    if code >= 0 {
        return Ok(());
    }
    let text = text.map(to_c);
    let pointer = crate::text::pointer(&text);
    let sentence = written(|buf, len| unsafe {
        sys::pfm_explain_error(ctx, pointer, error, buf, len) as i64
    });
    let mut names = [[0; 96]; 3];
    let n = if text.is_some() {
        unsafe { sys::pfm_suggest_names(ctx, pointer, error, names.as_mut_ptr(), names.len()) }
    } else {
        0
    };
    Err(Error {
        code,
        kind: unsafe { from_c(sys::pfm_error_kind_name(error.kind)) },
        start: error.start as usize,
        end: error.end as usize,
        clash: error.clash[..error.n_clash as usize].iter().map(|i| *i as usize).collect(),
        sentence: sentence.unwrap_or_default(),
        suggestions: names[..n.min(3)].iter().map(|n| unsafe { from_c(n.as_ptr()) }).collect(),
    })
}
