// SPDX-License-Identifier: MIT
//! Texts on their way to C and back.
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ptr::null;
use perfmon_sys::types::c_char;

/// A text that ends with a null byte. (`alloc` has CString since Rust 1.64.)
pub struct CText(Vec<u8>);

impl CText {
    pub fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// @text for C; what follows a null byte is cut off.
pub fn to_c(text: &str) -> CText {
    CText(text.bytes().take_while(|b| *b != 0).chain([0]).collect())
}

pub fn pointer(text: &Option<CText>) -> *const c_char {
    text.as_ref().map_or(null(), |t| t.as_ptr())
}

/// Texts and the pointers to them, which are valid as long as this is.
pub struct TextArray {
    _texts: Vec<CText>,
    pub pointers: Vec<*const c_char>,
}

impl TextArray {
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Self {
        let texts: Vec<CText> = texts.iter().map(|t| to_c(t.as_ref())).collect();
        let pointers = texts.iter().map(|t| t.as_ptr()).collect();
        TextArray { _texts: texts, pointers }
    }

    pub fn len(&self) -> u32 {
        self.pointers.len() as u32
    }
}

/// A copy of a C string; empty for NULL.
///
/// # Safety
/// @text is NULL or ends with a null byte.
pub unsafe fn from_c(text: *const c_char) -> String {
    if text.is_null() {
        String::new()
    } else {
        let length = (0..).take_while(|i| *text.add(*i) != 0).count();
        let bytes = core::slice::from_raw_parts(text.cast(), length);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// The text that @write puts into a buffer; @write returns the length of the whole text.
pub fn written(mut write: impl FnMut(*mut c_char, usize) -> i64) -> Option<String> {
    let mut buf = vec![0u8; 512];
    loop {
        let n = write(buf.as_mut_ptr().cast(), buf.len());
        if n < 0 {
            return None;
        }
        if (n as usize) < buf.len() {
            buf.truncate(n as usize);
            return Some(String::from_utf8_lossy(&buf).into_owned());
        }
        buf = vec![0; n as usize + 1];
    }
}
