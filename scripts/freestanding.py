#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the encoder of some processors for programs without an operating system:

    freestanding.py --processors NAME,... [--events PATTERN,...] [--byteorder little|big] FOLDER

FOLDER/perfmon.o has pfm_encode_event() and the tables. It needs memcpy() and memset() alone, and
allocates nothing. --events keeps the events whose names match a shell pattern. CC, CFLAGS, LD and
OBJCOPY name the tools, for another machine those of a cross compiler.
"""
import argparse
import os
import re
import shlex
import struct
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIB = os.path.join(TOP, "lib")
# Files that ask the kernel, decode registers or serve other calls: lib/freestanding/freestanding.c
# has the functions of theirs that encoding refers to.
WITHOUT = ("lookup/candidates", "lookup/errata", "lookup/kernel_event", "lookup/perf_syntax",
           "lookup/split", "lookup/tracepoints", "encode/alpha_query", "pmu/alpha_linux",
           "pmu/decode_target", "pmu/register_match", "pmu/row_match")
FLAGS = ("-std=c11 -Os -ffreestanding -nostdinc -ffunction-sections -fdata-sections "
         "-fno-asynchronous-unwind-tables -fno-stack-protector -fvisibility=hidden -w").split()
# lib/table/image.h: members of struct image (the arrays begin with tables and PMU names) and of
# struct table.
ARRAYS_AT, HEAD_SIZE, ENCODER_AT, N_RULES_AT = 64, 200, 64, 180
# Files of an encoder, by the start of their names: its bits of enum encoder_id. Others use format.
ENCODERS = {"x86": 1 << 2, "montecito": 1 << 3, "alpha": 0xf << 4, "perf": 1 << 8,
            "netburst": 1 << 9, "mips": 1 << 10}


def tool(name, default):
    return shlex.split(os.environ.get(name, default))


def run(*command):
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"freestanding: {os.path.basename(command[0])} failed")


def list_sources(encoders):
    """The files of the modules pmu, lookup and encode, and those of others that they need; of
    encoders those that the tables have."""
    with open(os.path.join(LIB, "meson.build"), encoding="utf-8") as f:
        files = re.findall(r"'((?:pmu|lookup|encode)/\w+)\.c'", f.read())
    files += ["base/error", "base/text", "table/table", "table/names", "context/registry",
              "freestanding/freestanding"]
    idle = tuple(f"pmu/{name}" for name, bits in ENCODERS.items() if not bits & encoders)
    return [name for name in files if name not in WITHOUT and not name.startswith(idle)]


def make_image(options, path):
    sources = [os.path.join(LIB, "events", name)
               for name in sorted(os.listdir(os.path.join(LIB, "events")))
               if name.endswith(".pmu")]
    run(sys.executable, os.path.join(TOP, "compiler/pmuc.py"), "--image", path + ".pmdb",
        "--embed", path + ".S", "--bare", options.events, "--byteorder", options.byteorder,
        "--processors", options.processors, "--folders", os.path.join(LIB, "events"), *sources)
    with open(path + ".pmdb", "rb") as f:
        return f.read()


def describe_image(image, order):
    """What the sources need to know of the image: (encoders as bits, flags of the compiler)."""
    tables, n_tables, names, n_names = struct.unpack_from(order + "4I", image, ARRAYS_AT)
    encoders, n_rules = 0, 1
    for at in range(tables, tables + n_tables * HEAD_SIZE, HEAD_SIZE):
        encoders |= 1 << struct.unpack_from(order + "H", image, at + ENCODER_AT)[0]
        n_rules = max(n_rules, *struct.unpack_from(order + "H", image, at + N_RULES_AT))
    return encoders, [
        f"-DPERFMON_N_TABLES={n_tables}", f"-DPERFMON_PMU_NAMES_AT={names}",
        f"-DPERFMON_N_PMU_NAMES={n_names}", f"-DPERFMON_ENCODERS={encoders:#x}u",
        f"-DTABLE_MAX_RULES={n_rules}u"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processors", required=True)
    parser.add_argument("--events", default="*")
    parser.add_argument("--byteorder", default=sys.byteorder, choices=("little", "big"))
    parser.add_argument("folder")
    options = parser.parse_args()
    objects = os.path.join(options.folder, "objects")
    os.makedirs(objects, exist_ok=True)
    tables = os.path.join(objects, "tables")
    image = make_image(options, tables)
    cc, more = tool("CC", "cc"), tool("CFLAGS", "")
    found = subprocess.run([*cc, "-print-file-name=include"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.strip()
    encoders, known = describe_image(image, "<" if options.byteorder == "little" else ">")
    flags = [*FLAGS, *known, "-isystem", found, "-I", os.path.join(LIB, "freestanding/include"),
             "-I", LIB, "-I", os.path.join(TOP, "include"), *more]
    made = [tables + ".o"]
    run(*cc, *more, "-c", tables + ".S", "-o", made[0])
    for name in list_sources(encoders):
        made.append(os.path.join(objects, name.replace("/", "_") + ".o"))
        run(*cc, *flags, "-c", os.path.join(LIB, name + ".c"), "-o", made[-1])
    whole = os.path.join(options.folder, "perfmon.o")
    run(*tool("LD", "ld"), "-r", "--gc-sections", "-u", "pfm_encode_event", *made, "-o", whole)
    run(*tool("OBJCOPY", "objcopy"), "--keep-global-symbol=pfm_encode_event", "--strip-unneeded",
        whole)


if __name__ == "__main__":
    main()
