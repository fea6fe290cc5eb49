#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles event tables.

    pmuc.py --image OUT.pmdb [--byteorder little|big] NAME.pmu...    an image file
            [--embed OUT.S]      and assembler text that brings it into the library
            [--depfile FILE]     and what it was made from, for make and ninja
            [--audit FOLDER]     with remarks of its audit.txt and sources.txt (audit_remarks.py)
            [--contract FILE]    with the metrics that every processor has (standard_metrics.py)
            [--partners FILE]    with the events to sample for metrics (partners.py)
            [--libpfm4-names FOLDER]  with libpfm4's names of that folder (libpfm4/aliases.py)
            [--folders DIR]      with the files of the folders in DIR, except heads, errata and
                                 libpfm4's names, after those named
            [--processors P,...] only these: names, or shell patterns; the kernel's own always
            [--bare PATTERN,...] only events of these names, without descriptions, metrics, errata,
                                 the kernel's own tables, and boxes that --processors does not name
    pmuc.py --check NAME.pmu...                                      only print the errors
    pmuc.py import PATH... [--cpu PATTERN] [-o FILE] [--json]        vendors' event lists to images

lib/events/README.md describes the language, lib/table/image.h the result. Everything wrong is
reported as FILE:LINE:COLUMN: error: text, all errors of a run together; then the exit status is 1
and nothing is written.
"""

import errno
import fnmatch
import gc
import os
import signal
import sys

sys.dont_write_bytecode = True   # write no bytecode to the build directory or an installation
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from image import image_writer  # noqa: E402
from language import tables as pt  # noqa: E402
from language.table_compiler import compile_all  # noqa: E402
from image.atomic_files import write_atomically  # noqa: E402


def list_compiler_files():
    """Returns the files of the compiler that this run has read."""
    paths = [getattr(m, "__file__", None) or "" for m in sys.modules.values()]
    return sorted(p for p in map(os.path.abspath, paths) if p.startswith(pt.TOP + os.sep))


def list_table_files(top):
    """Returns (folders below @top, the table files in them)."""
    names = sorted(n for n in os.listdir(top) if os.path.isdir(os.path.join(top, n))
                   and n not in ("errata", "heads", "libpfm4", "texts"))
    folders = [os.path.join(top, n) for n in names]
    return [top] + folders, [os.path.join(f, n) for f in folders
                             for n in sorted(os.listdir(f)) if n.endswith(".pmu")]


def print_errors(errors):
    """Prints errors as FILE:LINE:COLUMN. Returns the exit status."""
    for (file, line, column), text in sorted(errors):
        print("%s:%d:%d: error: %s" % (file, line, column, text), file=sys.stderr)
    return 1 if errors else 0


def print_usage(text=None):
    """Prints @text and how the command is used. Returns the exit status."""
    if text:
        print("pmuc: %s" % text, file=sys.stderr)
    print(__doc__.strip().split("\n\n")[1], file=sys.stderr)
    return 2


def select_tables(tables, patterns, bare):
    """Returns the tables whose name, alias or processor (not if @bare) matches one of the
    patterns."""
    if "all" in patterns:
        return tables
    unused, kept = set(patterns), []
    for t in tables:
        processor = () if bare else (t.family_name,)
        means = find_matching_patterns((t.name, *t.aliases, *processor), patterns)
        unused -= means
        if means or t.encoder == "perf":
            kept.append(t)
    if unused:
        raise ValueError("no processor is called '%s'" % min(unused))
    return kept


def find_matching_patterns(names, patterns):
    """Returns the patterns that match one of the names."""
    return {p for p in patterns for name in names if fnmatch.fnmatchcase(name, p)}


def main(argv):
    """Runs the command with the arguments @argv. Returns the exit status."""
    if argv and argv[0] == "import":
        from vendors import importing
        return importing.main(argv[1:])
    out = {"--byteorder": "little" if sys.byteorder == "little" else "big"}
    inputs, check = [], False
    i = 0
    while i < len(argv):
        a = argv[i]
        if a in ("--image", "--embed", "--depfile", "--byteorder", "--processors", "--audit",
                 "--contract", "--partners", "--libpfm4-names", "--folders", "--bare"):
            i += 1
            if i == len(argv):
                return print_usage("%s needs a value" % a)
            out[a] = argv[i]
        elif a == "--check":
            check = True
        elif a in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        elif a.startswith("-"):
            return print_usage("unknown option '%s'" % a)
        else:
            inputs.append(a)
        i += 1
    if out["--byteorder"] not in ("little", "big"):
        return print_usage("byte order is little or big")
    if not inputs and "--embed" not in out or not (
            check or "--image" in out) or "--embed" in out and "--image" not in out:
        return print_usage()
    folders, more = list_table_files(out["--folders"]) if "--folders" in out else ([], [])
    patterns = out.get("--processors", "all").split(",")

    def extend_tables(made, refuse):
        """Adds the standard metrics and the events to sample beside metrics."""
        if "--contract" in out:
            from language.standard_metrics import add_standard_metrics
            add_standard_metrics(made, out["--contract"], refuse)
        if "--partners" in out:
            from language.partners import add_partners
            add_partners(made, out["--partners"])
    meant = None if "all" in patterns else lambda names: find_matching_patterns(names, patterns)
    try:
        tables, files, errors = compile_all(inputs + more, meant, extend_tables,
                                            "--folders" in out)
    except OSError as e:
        return print_errors([((e.filename, 1, 1), e.strerror)])
    if errors:
        return print_errors(errors)
    files += [out[option] for option in ("--contract", "--partners") if option in out]
    files += folders        # adding or removing a file changes its folder
    try:
        if "--audit" in out:
            from language import audit_remarks
            audit_files = [
                os.path.join(out["--audit"], name) for name in ("audit.txt", "sources.txt")
            ]
            audit_remarks.mark_tables(tables, *audit_files)
            files += audit_files
        tables = select_tables(tables, patterns, "--bare" in out)
    except OSError as e:
        return print_errors([((e.filename, 1, 1), e.strerror)])
    except ValueError as e:
        return print_usage(str(e))
    if "--libpfm4-names" in out:
        from libpfm4.aliases import add_aliases
        files += add_aliases(tables, out["--libpfm4-names"])
    if "--bare" in out:
        from image.bare_tables import strip_tables
        strip_tables(tables, out["--bare"].split(","))
    files += list_compiler_files() + [pt.find_first_existing("../lib/table/keys.def", "keys.def")]
    try:
        if "--image" in out:
            raw = image_writer.make_image(tables, out["--byteorder"])
            write_atomically(out["--image"], raw)
        if "--embed" in out:
            text = image_writer.make_embedding(out["--image"], raw)
            write_atomically(out["--embed"], text.encode())
        if "--depfile" in out:
            line = "%s: %s\n" % (out["--image"], " ".join(f.replace(" ", "\\ ") for f in files))
            write_atomically(out["--depfile"], line.encode())
    except (OSError, ValueError) as e:
        print("pmuc: %s" % e, file=sys.stderr)
        return 1
    return 0


def repeat_interrupt(what):
    """Sends an interrupt again when Python code that would ignore it, such as the loading of a
    module, is over."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
    else:
        sys.__unraisablehook__(what)


def exit_quickly(status):
    """Exits without freeing memory, which would take a tenth of the run time."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OutputClosed as why:
        status = report_write_error(why, status)
    except (ValueError, AttributeError):
        sys.exit(status)        # Python reports errors of the streams
    os._exit(status)


def report_write_error(why, status=0):
    """Returns the exit status after a failed write, and reports it unless the reader closed the
    pipe."""
    if why.args[0] != errno.EPIPE:
        print("pfm: cannot write the output: %s" % os.strerror(why.args[0]), file=sys.stderr)
    return status or 1


if __name__ == "__main__":
    from vendors.output import OutputClosed, EscapedStream
    sys.unraisablehook = repeat_interrupt
    sys.stdout, sys.stderr = EscapedStream(sys.stdout), EscapedStream(sys.stderr)
    # there are no reference cycles, and garbage collection would take a fifth of the time
    gc.disable()
    try:
        # "pfm import" holds Ctrl-C back while Python starts.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        status = main(sys.argv[1:])
    except OutputClosed as lost:
        status = report_write_error(lost)
    except KeyboardInterrupt:
        print("%sinterrupted" % ("pfm import: " if sys.argv[1:2] == ["import"] else "pmuc: "),
              file=sys.stderr)
        status = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)       # the process is about to exit
    exit_quickly(status)
