# SPDX-License-Identifier: MIT
"""Writes the C source of the extension module from the public headers.

The compiler's preprocessor reads the headers, so types, calls and constants are those of C and are
not listed again. What remains below include/perfmon is turned into the declarations that cffi
takes:

    build_cffi.py OUTPUT DEPFILE INCLUDE TOOLS -- COMPILER...

Headers of the libpfm 3 interface are in INCLUDE/libpfm3. The Alpha device emulator is not in the
library: the module links it, and its headers, TOOLS/alpha/*.h, are read as well.
"""
import os
import re
import subprocess
import sys

import cffi

# Registers as bit-field unions, kept for C programs of earlier versions: the order of their bits is
# the compiler's choice, and the module has decoders instead.
LEFT_OUT = ("pfm_mont_pmc_reg_t", "pfm_mont_pmd_reg_t")


def includes(folder):
    names = sorted(n for place in ("perfmon", "libpfm3/perfmon")
                   for n in os.listdir(os.path.join(folder, place)) if n.endswith(".h"))
    return "".join(f"#include <perfmon/{name}>\n"
                   for name in names) + "#include <alpha/emulator.h>\n"


def preprocess(compiler, include, tools):
    command = [*compiler, "-E", "-dD", "-DPERFMON_LIBPFM3_STATIC", "-I", include, "-I",
            os.path.join(include, "libpfm3"), "-I", tools, "-x", "c", "-"]
    return subprocess.run(command, input=includes(include), text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def ours(text, include, tools):
    """The lines that come from our headers, and which headers those are."""
    inside, lines, files = False, [], set()
    roots = [
        os.path.realpath(p)
        for p in (os.path.join(include, "perfmon"), os.path.join(include, "libpfm3/perfmon"),
                  os.path.join(tools, "alpha"))
    ]
    for line in text.splitlines():
        marker = re.match(r'#\s*\d+\s+"([^"]*)"', line)
        if marker:
            path = os.path.realpath(marker[1])
            inside = os.path.dirname(path) in roots
            if inside:
                files.add(path)
        elif inside:
            lines.append(line)
    return lines, files


def without_bodies(code):
    """Inline functions as plain declarations: cffi has the compiler call them."""
    out, at = [], 0
    for m in re.finditer(r"static inline\s+([^;{}]*?)\s*\{", code):
        if m.start() < at:
            continue
        out += [code[at:m.start()], m[1], ";"]
        depth, at = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
    return "".join(out) + code[at:]


def without_types(code, names):
    for name in names:
        end = re.search(r"\}\s*" + name + r"\s*;", code)
        start, depth = end.start(), 1
        while depth:
            start -= 1
            depth += {"}": 1, "{": -1}.get(code[start], 0)
        code = code[:code.rindex("typedef", 0, start)] + code[end.end():]
    return code


def is_number(name, value):
    """True for a macro that is one integer: neither a function, nor a text, nor a guard."""
    return re.match(r"(PFM|PMU_|PCNT|PF|ICCSR|PMCTRS|ALPHA_DEVICE_)",
                    name) and value and '"' not in value and "__" not in value


def declarations(lines):
    constants, code = [], []
    for line in lines:
        macro = re.match(r"#define (\w+)(\(?)\s*(.*)", line)
        if macro and not macro[2] and is_number(macro[1], macro[3]):
            constants.append(f"#define {macro[1]} ...")
        elif not line.startswith("#"):
            code.append(line)
    text = without_types(without_bodies("\n".join(code)), LEFT_OUT)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)|__extension__|extern \"C\" \{", "", text)
    # Typed constants: cffi reads their values from the compiled module.
    text = re.sub(r"\bstatic (const \w+ \w+) = [^;]*;", r"static \1;", text)
    return "\n".join(dict.fromkeys(constants)) + "\n" + text


def main(output, depfile, include, tools, compiler):
    lines, files = ours(preprocess(compiler, include, tools), include, tools)
    ffi = cffi.FFI()
    ffi.cdef(declarations(lines))
    ffi.cdef("void free(void *);")
    ffi.set_source("perfmon._perfmon", "#include <stdlib.h>\n" + includes(include))
    ffi.emit_c_code(output)
    with open(depfile, "w", encoding="utf-8") as f:
        f.write("%s: %s\n" % (output, " ".join(p.replace(" ", "\\ ") for p in sorted(files))))


if __name__ == "__main__":
    split = sys.argv.index("--")
    main(*sys.argv[1:split], sys.argv[split + 1:])
