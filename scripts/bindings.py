#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the raw layers of bindings from bindings/api.json:

    scripts/bindings.py            writes them
    scripts/bindings.py --check    fails unless they are what it would write
"""
import json
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUST = os.path.join(TOP, "bindings/rust/perfmon-sys/src/lib.rs")

PRIMITIVE = {"char": "c_char", "unsigned char": "c_uchar", "int": "c_int", "unsigned": "c_uint",
             "long": "c_long", "unsigned long": "c_ulong", "unsigned long long": "c_ulonglong",
             "short": "c_short", "unsigned short": "c_ushort", "size_t": "usize",
             "double": "f64", "float": "f32", "void": "c_void",
             "uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
             "int8_t": "i8", "int16_t": "i16", "int32_t": "i32", "int64_t": "i64",
             "pfm_err_t": "c_int", "pid_t": "c_int"}
SIZES = {"c_char": 1, "c_uchar": 1, "u8": 1, "i8": 1, "c_short": 2, "c_ushort": 2, "u16": 2,
         "i16": 2, "c_int": 4, "c_uint": 4, "u32": 4, "i32": 4, "f32": 4}
KEYWORDS = {"type", "in", "ref", "match", "move", "fn", "use", "where", "loop", "mod", "self"}

RUST_HEAD = """// SPDX-License-Identifier: MIT
// Written by scripts/bindings.py from bindings/api.json.
//! The C interface of libperfmon, version {version}: types, constants and functions as in its
//! headers. The crate `perfmon` is the safe interface.
#![cfg_attr(not(test), no_std)]
#![allow(non_camel_case_types, non_upper_case_globals)]
use types::{{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_ulonglong, c_ushort, c_void}};

/// Types of C on Linux; `core` has them since Rust 1.64.
pub mod types {{
    pub use core::ffi::c_void;
    #[cfg(any(
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "riscv32",
        target_arch = "riscv64",
        target_arch = "s390x"
    ))]
    pub type c_char = u8;
    #[cfg(not(any(
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "riscv32",
        target_arch = "riscv64",
        target_arch = "s390x"
    )))]
    pub type c_char = i8;
    pub type c_uchar = u8;
    pub type c_ushort = u16;
    pub type c_int = i32;
    pub type c_uint = u32;
    #[cfg(target_pointer_width = "64")]
    pub type c_long = i64;
    #[cfg(not(target_pointer_width = "64"))]
    pub type c_long = i32;
    #[cfg(target_pointer_width = "64")]
    pub type c_ulong = u64;
    #[cfg(not(target_pointer_width = "64"))]
    pub type c_ulong = u32;
    pub type c_ulonglong = u64;
}}

"""


def rust_type(c_type, known):
    """A C type as one of Rust; None for one that has no such form."""
    base, stars = re.fullmatch(r"([\w ]+?)\s*((?:\*(?:const)?\s*)*)", c_type).groups()
    const = base.startswith("const ")
    base = base.replace("const ", "")
    name = base.split()[-1] if base.startswith(("struct ", "union ", "enum ")) else base
    if name in PRIMITIVE:
        out = PRIMITIVE[name]
    elif name in known or name + "_t" in known:
        out = name if name in known else name + "_t"
    elif stars:
        out = "c_void"
    else:
        return None
    for star in re.findall(r"\*(?:const)?", stars):
        out = ("*const " if const else "*mut ") + out
        const = star.endswith("const")
    return out


def callback_type(described, known):
    parameters = ", ".join(rust_type(p["type"], known) for p in described["parameters"])
    returns = "" if described["returns"] == "void" else \
        " -> " + rust_type(described["returns"], known)
    return f'Option<unsafe extern "C" fn({parameters}){returns}>'


def member_type(member, known):
    if member["type"] == "callback":
        return callback_type(member, known)
    out = rust_type(member["type"], known)
    for bound in reversed(member.get("array", [])):
        out = out and f"[{out}; {bound}]"
    return out


def field(name):
    return "r#" + name if name in KEYWORDS else name


def is_plain(struct, types, aligns):
    """True if members that follow each other with the padding of C give the layout of @struct:
    there are no bit-fields and no overlaps."""
    at = 0
    for member, rust in zip(struct["members"], types):
        if rust is None:
            return False
        element = re.sub(r"^\[+|; .*$", "", rust)
        align = SIZES.get(element) or aligns.get(element, 8)
        at = -(-at // align) * align
        if member["offset"] != at:
            return False
        at += member["size"]
    return -(-at // struct["align"]) * struct["align"] == struct["size"]


def rust_doc(doc, indent=""):
    return "".join(f"{indent}/// {line}".rstrip() + "\n"
                   for line in re.sub(r"([\[\]<>])", r"\\\1", doc).splitlines())


def rust_struct(struct, known, aligns):
    out = rust_doc(struct["doc"])
    if struct.get("opaque"):
        return out + "#[repr(C)]\npub struct %s {\n    _private: [u8; 0],\n}\n" % struct["name"]
    types = [member_type(m, known) for m in struct["members"]]
    if struct.get("union") and None not in types:
        out += "#[repr(C)]\n#[derive(Clone, Copy)]\npub union %s {\n" % struct["name"]
    elif is_plain(struct, types, aligns):
        out += "#[repr(C)]\n#[derive(Clone, Copy)]\npub struct %s {\n" % struct["name"]
    else:
        return out + "#[repr(C, align(%d))]\n#[derive(Clone, Copy)]\npub struct %s {\n" \
            "    pub bytes: [u8; %d],\n}\n" % (struct["align"], struct["name"], struct["size"])
    for member, rust in zip(struct["members"], types):
        out += rust_doc(member["doc"], "    ") + f"    pub {field(member['name'])}: {rust},\n"
    return out + "}\n"


def rust_function(function, known):
    parameters = []
    for p in function["parameters"]:
        if p["type"] == "callback":
            rust = callback_type(p, known)
        elif "row" in p:
            rust = f"*mut [c_char; {p['row']}]"
        else:
            rust = rust_type(p["type"], known)
        parameters.append(f"{field(p['name'])}: {rust}")
    returns = "" if function["returns"] == "void" else \
        " -> " + rust_type(function["returns"], known)
    text = f"    pub fn {function['name']}({', '.join(parameters)}){returns};\n"
    if len(text) > 101:
        text = f"    pub fn {function['name']}(\n" + \
            "".join(f"        {p},\n" for p in parameters) + f"    ){returns};\n"
    return rust_doc(function["doc"], "    ") + text


def write_rust(api):
    structs = [s for s in api["structs"]]
    enums = {e["name"]: "c_int" if any(v["value"] < 0 for v in e["values"]) else "c_uint"
             for e in api["enums"]}
    callbacks = {c["name"] for c in api["callbacks"]}
    known = {s["name"] for s in structs} | set(enums) | callbacks
    aligns = {s["name"]: s.get("align", 8) for s in structs}
    aligns.update({name: 4 for name in enums})
    out = [RUST_HEAD.format(version=api["version"])]
    for enum in api["enums"]:
        out.append(rust_doc(enum["doc"]) + f"pub type {enum['name']} = {enums[enum['name']]};\n")
        for value in enum["values"]:
            out.append(rust_doc(value["doc"]) +
                       f"pub const {value['name']}: {enum['name']} = {value['value']};\n")
    for c in api["constants"]:
        kind = "i64" if c["value"] < 0 else "u64"
        value = c["value"]
        if c.get("type", "").startswith("const uint64_t"):
            kind, value = "u64", value % (1 << 64)
        elif c["name"].startswith("PFMLIB_ERR") or c["name"] == "PFMLIB_SUCCESS":
            kind = "c_int"
        out.append(rust_doc(c["doc"]) + f"pub const {c['name']}: {kind} = {value};\n")
    for c in api["callbacks"]:
        out.append(rust_doc(c["doc"]) +
                   f"pub type {c['name']} = {callback_type(c, known)};\n")
    out += [rust_struct(s, known, aligns) for s in structs]
    functions = [f for f in api["functions"]
                 if f["library"] == "perfmon" and not f.get("inline")]
    out.append('extern "C" {\n' + "".join(rust_function(f, known) for f in functions))
    out += [f"    pub static {v['name']}: {rust_type(v['type'], known)};\n"
            for v in api["variables"]]
    out.append("}\n\n#[cfg(all(test, target_pointer_width = \"64\"))]\nmod tests {\n"
               "    use super::*;\n    use std::mem::{align_of, size_of};\n\n    #[test]\n"
               "    fn structs_have_the_sizes_of_c() {\n")
    out += [f"        assert_eq!((size_of::<{s['name']}>(), align_of::<{s['name']}>()), "
            f"({s['size']}, {s['align']}));\n" for s in structs if "size" in s]
    out.append("    }\n}\n")
    return "".join(out)


def main(arguments):
    with open(os.path.join(TOP, "bindings/api.json"), encoding="utf-8") as f:
        api = json.load(f)
    for path, text in ((RUST, write_rust(api)),):
        if arguments == ["--check"]:
            with open(path, encoding="utf-8") as f:
                if f.read() != text:
                    sys.exit(f"{os.path.relpath(path, TOP)} differs from bindings/api.json: run "
                             "scripts/bindings.py")
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
