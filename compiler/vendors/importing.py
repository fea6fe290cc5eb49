# SPDX-License-Identifier: MIT
"""Vendors' event lists to images: `pfm import`, pmuc.py import. This file is the run. The parts:

    pmlists       where the lists are: repositories, Linux trees, source archives; makes models
    pmread        reading values, none of which is trusted
    pmintel       one model of Intel's repository, with pmcore, pmuncore, pmmasks, pmmetrics
    pmlinux       one model of a Linux tree, with pmarch and the same
    pmarm         one model of Arm's lists; pmtelemetry reads files of the Telemetry Specification
    gator         one processor of gator's lists; perfspect one of PerfSpect's
    union         several lists of one core make one table
    pmmatch       hosts of tables
    pmheads       facts about processors beside their lists: lib/events/heads
    pmbuild       rows and tables under construction, as .pmu text; pmcompile makes tables of it,
                  pmimage bytes
    pmoutput      output for users

One image per model, one table per PMU in it. A row that cannot be represented is reported as FILE:
EVENT: KEY: reason and left out, and the rest goes on. Same input, same image, to the byte.
"""

import contextlib
import errno
import fnmatch
import hashlib
import os
import signal
import sys
import time

from vendors import arm
from vendors import gator
from vendors import intel
from vendors import perfspect
from image import image_writer
from image import layout
from language import tables as pt
from image import image_reader
from vendors.drafts import ModelReading
from language.table_compiler import compile_all
from image.atomic_files import write_atomically
from vendors.heads import find_rank
from vendors.lists import ModelFinder
from vendors.union import unite_lists
from vendors.output import ProgressBar, Output, format_size
from vendors.untrusted import MAX_TREE, read_source

USAGE = """usage: pfm import PATH... [--cpu PATTERN] [-o FILE] [--json] [--force] [--jobs N] [-v]
       pfm import --text DIR [--facts] PATH...

PATH     Intel's perfmon repository, one folder or list of it; a Linux tree, its tools/perf/pmu-events/arch or a part of
         that; a packed source archive of Linux; Arm's lists and telemetry files; gator's pmus.xml and event files; a list
         of PerfSpect; a .pmu file
--cpu    only models whose name matches the shell pattern, e.g. 'skx', 'amdzen*'
-o FILE  everything into one image; into a folder, if FILE is one or ends in '/': one image per model there.
         Default: one per model in $XDG_DATA_HOME/perfmon or ~/.local/share/perfmon
--json   one JSON object a line: a model, a refused row, a summary
--force  make images anew that are up to date
--text   write .pmu files into DIR instead of images; --facts: without descriptions, and without the formulas of Linux
-v       list what was taken with a grain of salt, not only how much there was"""


# ---- options -------------------------------------------------------------------------------------

class Options:
    """The command line. Raises ValueError for invalid combinations."""

    def __init__(self, argv):
        """Parses the arguments @argv."""
        self.paths, self.cpu, self.output = [], [], None
        self.json = self.force = self.facts = self.verbose = False
        self.text = None
        self.jobs = min(2, os.cpu_count() or 1)
        self.byteorder = sys.byteorder
        words = iter(argv)
        for word in words:
            name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if name in ("--cpu", "-o", "--output", "--jobs", "--byteorder", "--text"):
                value = value if equals else next(words, None)
                if value is None:
                    raise ValueError("%s needs a value" % name)
                self.set_option(name, value)
            elif name in ("--json", "--force", "--facts", "--verbose"):
                setattr(self, name[2:], True)
            elif name == "-v":
                self.verbose = True
            elif name == "--":
                self.paths += words
            elif name.startswith("-") and name != "-":
                raise ValueError("unknown option '%s'" % name)
            else:
                self.paths.append(name)

    def set_option(self, name, value):
        """Stores the value of an option."""
        if name == "--cpu":
            self.cpu.append(value)
        elif name == "--jobs":
            if not value.isdigit() or not 1 <= int(value) <= 64:
                raise ValueError("--jobs takes a number from 1 to 64")
            self.jobs = int(value)
        elif name == "--byteorder":
            if value not in ("little", "big"):
                raise ValueError("byte order is little or big")
            self.byteorder = value
        elif name == "--text":
            self.text = value
        else:
            self.output = value


def get_default_folder():
    """Returns the folder of images of this user."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "perfmon")


class ImportRun:
    """State that the models of one import share."""

    def __init__(self, opt, models):
        """Decides where images go."""
        self.models = models
        self.force, self.byteorder = opt.force, opt.byteorder
        out = opt.output
        self.text, self.facts = opt.text, opt.facts
        self.single = self.text is None and out is not None and not out.endswith(
            "/") and not os.path.isdir(out)
        self.image = out if self.single else None       # file for all tables, or
        self.folder = "" if self.single else self.text or out or get_default_folder()
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        self.built = int(epoch) if epoch.isdigit() and int(epoch) <= pt.ALL64 else 0

    def make_image_path(self, model):
        """Returns the path of the image of @model."""
        return os.path.join(self.folder, model.name + ".pmdb")


# ---- existing images -----------------------------------------------------------------------------

def compute_input_digest(models, byteorder):
    """Digest of the compiler and every byte of the lists."""
    h = hashlib.sha256(image_writer.compute_compiler_digest() + byteorder.encode())
    for m in models:
        items = [(inner, source) for _, inner, source in m.files]
        items += [("standard/" + os.path.basename(shown), source) for shown, source in m.standard]
        if m.mapfile:
            items.append(("mapfile.csv", m.mapfile[1]))
        if m.sheet:
            items.append(("sheet", m.sheet[1]))
        h.update(("%s %s %s\0" % (m.kind, m.arch, m.name)).encode())
        items += [(os.path.basename(shown), source) for more in m.more
                  for shown, _, source in more.files]
        for name, source in sorted(items, key=lambda i: i[0]):
            try:
                raw = read_source(source)
            except (OSError, ValueError):
                raw = b""
            h.update(b"%s\0%d\0" % (name.encode("utf-8", "surrogateescape"), len(raw)))
            h.update(raw)
    return h.digest()


def is_unchanged(path, digest, byteorder):
    """True if the image at @path was made from the same bytes by the same compiler."""
    if not os.path.isfile(path):        # a pipe is only written to
        return False
    try:
        with open(path, "rb") as f:
            got = image_reader.read_image_head(f.read(layout.IMAGE_SIZE))
            size = os.fstat(f.fileno()).st_size
    except (OSError, ValueError):
        return False
    return (got["byteorder"], got["version"], got["size"],
            got["digest"]) == (byteorder, layout.IMAGE_VERSION, size, digest)


# ---- one model -----------------------------------------------------------------------------------

RUN = None          # set before workers are forked: they inherit it instead of receiving it


def import_model(index):
    """Reads one model and writes its image. Returns the result. Runs in a worker or in the main
    process."""
    run, model = RUN, RUN.models[index]
    result = {"index": index, "model": model.name, "refused": [], "notes": [], "tables": [],
              "core": 0, "uncore": 0,
              "metrics": 0, "masks": 0, "bytes": 0, "state": "done", "path": None, "made": [],
              "text": []}
    try:
        import_into(result, run, model)
    except OSError as why:
        result["state"] = "failed"
        result["error"] = "%s: %s" % (result["path"] or model.folder, why.strerror or why)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, MemoryError,
            AssertionError) as why:
        # An unexpected error in one list must not stop the import of other models.
        result["state"] = "failed"
        result["error"] = "%s: %s: %s" % (model.folder, type(why).__name__, why)
    return result


def import_into(result, run, model):
    """Reads @model and writes its image or texts, as @run says. Fills @result."""
    if not run.single and run.text is None:
        result["path"] = run.make_image_path(model)
        digest = compute_input_digest([model], run.byteorder)
        if not run.force and is_unchanged(result["path"], digest, run.byteorder):
            result["state"] = "unchanged"
            result["bytes"] = os.path.getsize(result["path"])
            return
    reading = ModelReading(model)
    tables = read_model(reading)
    result.update(reading.counts, refused=reading.refused, notes=reading.notes,
                  tables=[t.name for t in tables])
    if not tables:
        result["state"] = "empty"
        return
    if reading.damaged:
        result["state"] = "damaged"
    if run.text is not None:
        result["text"] = reading.format_parts(run.facts) if model.kind != "pmu" else []
        return
    if run.single:
        result["made"] = tables
        return
    if reading.damaged and os.path.exists(result["path"]):
        return                      # keep the previous complete image
    image = image_writer.make_image(tables, run.byteorder, digest, run.built)
    result["bytes"] = len(image)
    write_atomically(result["path"], image)


def read_model(reading):
    """Reads the lists of a model. Returns its tables."""
    kind = reading.model.kind
    if kind == "pmu":
        return read_pmu(reading)
    read_lists(reading)
    for model in reading.model.more:
        other = ModelReading(model)
        read_lists(other)
        unite_lists(reading, other)
    return reading.compile_tables()


def read_lists(reading):
    """Reads the lists of a model into sheets."""
    kind = reading.model.kind
    if kind == "intel":
        intel.read_folder(reading)
    elif kind == "arm":
        arm.read_arm_lists(reading)
    elif kind == "gator":
        gator.read_gator_lists(reading)
    elif kind == "perfspect":
        perfspect.read_perfspect_lists(reading)
    else:
        from vendors import linux
        linux.read_linux_lists(reading)


def read_pmu(reading):
    """Compiles .pmu files."""
    tables, _, errors = compile_all([source for _, _, source in reading.model.files])
    for (file, line, column), text in errors:
        reading.refused.append(("%s:%d:%d" % (file, line, column), "-", "-", text))
    for t in tables:
        metrics = sum(r.flags & pt.ROW_METRIC != 0 for r in t.rows)
        reading.counts["uncore" if t.flags & pt.TABLE_UNCORE else "core"] += len(t.rows) - metrics
        reading.counts["metrics"] += metrics
    return tables


# ---- all models ----------------------------------------------------------------------------------

def exit_on_signal(signum, frame):
    """A signal handler: ends the process after its clean-up."""
    raise SystemExit(128 + signum)


def end_with_parent():
    """Asks the system to end a worker when its parent process ends for any reason."""
    try:
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    except (ImportError, OSError, AttributeError):
        pass


def set_up_worker(parent):
    """Sets the signals of a worker of process @parent."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # the parent process stops its workers
    end_with_parent()
    if os.getppid() != parent:      # the parent had ended before the request
        os._exit(1)


def order_models(models):
    """Returns the numbers of models in the order of the heads: a worker, which caches words, gets
    similar ones after each other."""
    return sorted(range(len(models)), key=lambda i: (find_rank(models[i].folder), models[i].name))


def import_in_worker(index):
    """Imports one model in a worker. Returns the result."""
    # The exception removes an unfinished temporary file.
    signal.signal(signal.SIGTERM, exit_on_signal)
    try:
        return import_model(index)
    except SystemExit:      # the pool would go on with the next model
        os._exit(1)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def import_models(models, jobs):
    """Yields the results of all models as they arrive."""
    order = order_models(models)
    if jobs < 2 or len(models) < 3 or sum(m.size for m in models) < 1 << 20:
        yield from map(import_model, order)
        return
    # imported here, because it takes as long as a small list
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    # Workers ignore Ctrl-C, also while they start.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), set_up_worker,
                               (os.getpid(),))
    try:
        results = pool.map(import_in_worker, order, chunksize=1 + len(order) // (jobs * 8))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        yield from results
    except BaseException as why:
        for worker in multiprocessing.active_children():
            worker.terminate()
        if isinstance(why, BrokenProcessPool):
            raise ChildProcessError(errno.ECHILD,
                                    "a process that reads lists has ended early") from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def import_all(run, jobs, say, start):
    """Imports the models. Returns the exit status."""
    if run.single:
        digest = compute_input_digest(run.models, run.byteorder)
        if not run.force and is_unchanged(run.image, digest, run.byteorder):
            say.print_unchanged(run.image)
            return 0
    done = [None] * len(run.models)
    bar = ProgressBar(len(run.models))
    try:
        for r in import_models(run.models, jobs):
            done[r["index"]] = r
            bar.show_step(r["model"])
    finally:
        bar.clear_line()
    for r in done:
        say.print_model(r)
    written = [r for r in done if r["state"] != "failed"]
    size = sum(r["bytes"] for r in written)
    if run.text is not None:
        size = write_texts(run.text, [(r["model"], r["text"]) for r in done])
    if run.single:
        size = write_single(run, done, digest, say)
        if not size:
            return 1
    say.print_summary(written, size,
                      time.monotonic() - start, run.image if run.single else run.folder)
    return 1 if any(r["state"] in ("failed", "empty", "damaged") for r in done) else 0


TEXT_HEAD = """# SPDX-License-Identifier: MIT
# Generated by "pfm import --text" from the lists that the tables name as their sources; do not edit, generate again when those change.
"""


def write_texts(folder, models):
    """Writes files for the cores, boxes and metrics of each model. Lines of an earlier file are
    used from there. Returns the number of bytes."""
    seen, size = {}, 0
    for model, tables in models:
        files = {}                  # name -> lines
        for table, uncore, identity, body in tables:
            name = "%s%s.pmu" % (model, "_uncore" if uncore else "")
            metrics = [line for line in body if line.startswith("metric ")]
            if metrics:
                body = [line for line in body if not line.startswith("metric ")]
                body += share_lines(seen, "%s_metrics.pmu" % model, table, metrics, files)
            same = seen.setdefault(tuple(body), (name, table))
            if same != (name, table):
                body = [use_statement(same, name)]
            first, *rest = identity
            files.setdefault(name, []).extend(["", first, *body, *rest] if len(body) == 1
                                              else ["", first, *rest, *body])
        for name, lines in files.items():
            text = (TEXT_HEAD + "\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
            write_atomically(os.path.join(folder, name), text)
            size += len(text)
    return size


def use_statement(place, name):
    """The statement that uses a table or section of @place in the file @name."""
    return "use " + (place[1] if place[0] == name else "%s %s" % place)


def share_lines(seen, name, section, lines, files):
    """Moves lines into a section unless one has them already. Returns the statement that replaces
    them."""
    place = seen.setdefault(tuple(lines), (name, section))
    if place == (name, section):
        files.setdefault(name, []).extend(["", "section " + section] + lines)
    return ["use %s %s" % place]


def write_single(run, done, digest, say):
    """Writes all tables to one image. Returns its size in bytes, 0 without tables or on failure."""
    tables = [t for r in done for t in r["made"]]
    if not tables:
        return 0
    try:
        image = image_writer.make_image(tables, run.byteorder, digest, run.built)
        write_atomically(run.image, image)
    except (OSError, ValueError) as why:
        say.print_problem(run.image, getattr(why, "strerror", None) or str(why))
        return 0
    return len(image)


# ---- the command ---------------------------------------------------------------------------------

def main(argv):
    """Runs the command with the arguments @argv. Returns the exit status."""
    if "-h" in argv or "--help" in argv:
        print(USAGE)
        return 0
    try:
        opt = Options(argv)
    except ValueError as why:
        print("pfm import: %s" % why, file=sys.stderr)
        return 2
    if not opt.paths:
        print(USAGE, file=sys.stderr)
        return 2
    start = time.monotonic()
    models, problems = find_models(opt)
    say = Output(opt.json, opt.verbose)
    for path, why in problems:
        say.print_problem(path, why)
    paths = " ".join(opt.paths)
    if not models:
        if not problems:
            say.print_problem(paths, "no model" + (" matches" if opt.cpu else " found"))
        return 1
    for m in models:
        m.size = sum(measure_source(source) for one in [m] + m.more for _, _, source in one.files)
    if sum(m.size for m in models) > MAX_TREE:
        say.print_problem(paths, "more than %s of lists" % format_size(MAX_TREE))
        return 1
    with contextlib.redirect_stdout(sys.stderr) if is_standard_output(
            opt.output) else contextlib.nullcontext():
        return import_interruptible(ImportRun(opt, models), opt.jobs, say, start)


def is_standard_output(path):
    """True for standard output, where messages must not mix with an image."""
    try:
        return path is not None and os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


def find_models(opt):
    """Returns (models to import, problems found)."""
    problems = []
    finder = ModelFinder(lambda path, why: problems.append((path, why)))
    for p in opt.paths:
        finder.add_path(p)
    patterns = [p.lower() for p in opt.cpu]
    models = {}
    for m in finder.models:
        if not m.name.strip("_"):
            problems.append((m.files[0][0], "expected a name with letters or digits: rename it"))
            continue
        names = [m.name, m.folder.lower()] + m.find_alias_names()
        if patterns and not any(fnmatch.fnmatchcase(n, p) for p in patterns for n in names):
            continue
        other = models.setdefault(m.name, m)
        if other is m:
            continue
        if m.kind == other.kind == "arm":
            other.files += m.files      # a core's plain list and its telemetry files
            continue
        if m.kind != other.kind and {m.kind, other.kind} <= {"arm", "linux", "gator"} and \
                m.arch == other.arch == "arm64":
            other.more.append(m)        # other lists of the same core
            continue
        if m.kind == other.kind == "linux" and (m.arch, m.folder) == (other.arch, other.folder):
            problems.append((m.files[0][0], "the model '%s' was found before: left out" % m.name))
        else:
            problems.append((m.files[0][0], "another model is called '%s': left out" % m.name))
    return list(models.values()), problems


def measure_source(source):
    """Returns the number of bytes of a list, 0 if it cannot be read."""
    try:
        return len(source) if isinstance(source, bytes) else os.path.getsize(source)
    except OSError:
        return 0


def import_interruptible(run, jobs, say, start):
    """Calls import_all() and handles interrupts."""
    global RUN
    RUN = run
    try:
        signal.signal(signal.SIGTERM, exit_on_signal)
        if not run.single:
            os.makedirs(run.folder, exist_ok=True)
        return import_all(run, jobs, say, start)
    except OSError as why:
        say.print_problem(why.filename or run.folder, why.strerror or str(why))
        return 1
    except KeyboardInterrupt:
        say.print_problem("-", "interrupted: images written before stay, nothing is half-written")
        return 130
