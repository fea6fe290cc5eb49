# SPDX-License-Identifier: MIT
"""Finds the lists below a path or in a source archive and groups them into models.

A model is one processor's lists. Intel's repository has a folder for each, with events/ and
metrics/ in it; a Linux tree has a folder for each below its architecture's, where mapfile.csv and
the standard events are."""

import os
import re

from vendors.arm import is_arm_list
from vendors.gator import is_gator_list, list_counter_sets, make_source_text, read_units
from vendors.intel_small_core import SHEET
from vendors.heads import find_processor
from vendors.perfspect import is_perfspect_list
from vendors.untrusted import MAX_FILE, MAX_TREE, read_source
from vendors.telemetry import is_telemetry_list, parse_product_of_file

INTEL_FILE = re.compile(r"^(.*)/([^/]+)/((?:events|metrics)(?:/perf)?/[^/]+\.json)$")
NO_LISTS = re.compile(r"/(?:tests?|testdata|scripts?|schemas?|\.[^/]+)/")
IN_LINUX = "tools/perf/pmu-events/arch/"


UNITS = "pmus.xml"          # gator's processors and boxes
# suffixes of the files of boxes and metrics that --text writes
PARTS = ("_uncore", "_metrics")


class Model:
    """The lists of one processor. A source is a path or the bytes themselves."""

    def __init__(self, kind, name, folder, files, mapfile=None, standard=(), arch="", inner=""):
        """Keeps where the lists of a model are; nothing is read."""
        self.kind = kind              # intel, linux, arm, gator, perfspect or pmu
        self.name, self.folder, self.arch = name, folder, arch
        self.files = files            # [(shown path, path below the model's folder, source)]
        self.mapfile = mapfile        # (shown path, source) or None
        self.standard = standard      # [(shown path, source)]: standard events of an architecture
        self.inner = inner            # the folder's name in Linux's mapfile
        self.sheet = None             # (shown path, source): metrics of small cores
        self.more = []                # other lists of the same core: Models
        self.unit = None              # gator's description of the processor
        self.source = ""              # words for the list
        self.size = 0

    def find_processor(self):
        """Returns the Processor of Intel's folder, or None."""
        return find_processor(self.folder) if self.kind == "intel" else None

    def find_alias_names(self):
        """Returns the names of the model in Linux and libpfm4."""
        known = self.find_processor()
        return [n.replace("-", "_") for n in known.linux[:1]] + known.libpfm if known else []


class FileTree:
    """The files below one path, before they are grouped into models."""

    def __init__(self, sep=os.sep, data=None, top=""):
        """Begins an empty tree of files, or of members of an archive."""
        self.top = top          # the requested folder: names above it are ignored
        self.files = {}         # full path -> shown path
        self.maps = {}          # folder -> (shown path, source) of its mapfile.csv
        self.sheets = {}        # folder -> (shown path, source) of its sheet of small cores
        self.standard = []      # full paths of JSON files beside a mapfile: standard events
        self.gator = {}         # folder -> [(shown path, source)] of gator's files
        self.texts = {}         # full path -> (shown path, source) of PerfSpect's event lists
        self.sep, self.data = sep, data         # data: full path -> bytes, in an archive

    def get_source(self, full):
        """Returns what read_source() reads: a path or the bytes of a member."""
        return full if self.data is None else self.data[full]

    def find_map_folder(self, folder):
        """Returns the folder of the mapfile at or above @folder, or None."""
        while folder not in self.maps and folder not in ("/", "", os.path.dirname(folder)):
            folder = os.path.dirname(folder)
        return folder if folder in self.maps else None

    def add_map_above(self, folder):
        """Adds the mapfile above a path that is part of a tree."""
        for _ in range(4):
            full, sheet = (os.path.join(folder, n) for n in ("mapfile.csv", SHEET))
            if os.path.isfile(full):
                self.maps.setdefault(folder, (full, full))
                if os.path.isfile(sheet):
                    self.sheets.setdefault(folder, (sheet, sheet))
                return
            folder = os.path.dirname(folder)

    def add_standard(self, folder):
        """Adds the files of standard events beside the models."""
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else ()
        paths = [os.path.join(folder, n) for n in names if n.endswith(".json")]
        self.standard += [p for p in paths if p not in self.files and os.path.isfile(p)]

    def find_intel_folders(self):
        """Folders of Intel's mapfiles. JSON below them in another form is not an event list."""
        return {folder for folder, (_, source) in self.maps.items() if is_intel_map(source)}


class ModelFinder:
    """Groups files into models. Calls @problem with unusable ones: (path, reason)."""

    def __init__(self, problem):
        """Begins without models. @problem is called with a path and the reason."""
        self.models = []
        self.problem = problem
        self.bytes = 0

    def add_path(self, path):
        """Adds the models in a file or below a folder."""
        real = os.path.abspath(path)
        if not path:
            self.problem('""', "expected a file or a folder, got an empty name")
        elif os.path.isdir(real):
            self.add_tree(path, real)
        elif not os.path.exists(real):
            self.problem(path, "no such file or directory")
        elif not os.path.isfile(real):      # a pipe may be empty, and a device endless
            self.problem(path, "no file")
        elif real.endswith(".pmu"):
            self.add_pmu_model((path, real))
        elif real.endswith(".json"):
            self.one_file(path, real)
        elif real.endswith(".xml"):
            self.add_gator_file(path, real)
        elif real.endswith(".txt"):
            place = FileTree(top=real)
            place.texts[real] = (path, real)
            beside = find_metrics_beside(real)
            if os.path.isfile(beside):
                place.files[beside] = beside
            if not self.group_perfspect_files(place):
                self.problem(path, "no list of PerfSpect: expected DEVICE/field=number,name='NAME'/")
        elif real.endswith(".xz") or is_archive(real):
            self.add_archive(path, real)
        else:
            self.problem(path, "neither a list, a directory nor an archive")

    # ---- where files are -------------------------------------------------------------------------

    def add_pmu_model(self, *files):
        """Makes the model of one processor's .pmu files, each (shown path, path). Its name is that
        of the first table."""
        name = os.path.basename(files[0][1])[:-4]
        self.models.append(Model("pmu", make_table_name(name), name,
                                 [(shown, os.path.basename(real)[:-4], real) for shown,
                                  real in files]))

    def add_pmu_files(self, shown, folder, names):
        """Adds the .pmu files of a folder. The files of boxes and metrics that --text writes belong
        to the processor's file."""
        for name in names:
            stem = name[:-4]
            if any(stem.endswith(part) and stem[:-len(part)] + ".pmu" in names for part in PARTS):
                continue
            parts = [n for n in [name] + [stem + part + ".pmu" for part in PARTS] if n in names]
            self.add_pmu_model(*[(os.path.join(shown, n), os.path.join(folder, n)) for n in parts])

    def add_tree(self, shown, real):
        """Adds all files of a folder, and the mapfile and standard events above it."""
        place = FileTree(top=real)
        for folder, folders, names in os.walk(real, followlinks=False):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            for n in sorted(names):
                full = os.path.join(folder, n)
                below = os.path.join(shown, os.path.relpath(full, real))
                if n.endswith(".json") and os.path.isfile(full):
                    place.files[full] = below
                elif n.endswith(".txt") and os.path.isfile(full):
                    place.texts[full] = (below, full)
                elif is_gator_name(n) and os.path.isfile(full):
                    place.gator.setdefault(folder, []).append((below, full))
                elif n in ("mapfile.csv", SHEET) and os.path.isfile(full):
                    (place.sheets if n == SHEET else place.maps)[folder] = (below, full)
        self.add_pmu_files(shown, real,
                           sorted(n
                                  for n in os.listdir(real) if n.endswith(".pmu")
                                  and os.path.isfile(os.path.join(real, n))))
        place.add_map_above(real)
        for folder in place.maps:
            if folder == real or real.startswith(folder + os.sep):
                place.add_standard(folder)
        self.group_files(place)

    def one_file(self, shown, real):
        """Makes the model of a list's folder with this file only."""
        place = FileTree(top=real)
        place.files[real] = shown
        place.add_map_above(os.path.dirname(real))
        for folder in place.maps:
            place.add_standard(folder)
        self.group_files(place)

    def add_gator_file(self, shown, real):
        """Adds an event file of gator, with the processors of pmus.xml beside it."""
        place = FileTree(top=real)
        folder = os.path.dirname(real)
        if not is_gator_list(read_beginning(real, 65536)):
            self.problem(shown, "no list of gator's: expected elements counter_set and event")
            return
        files = place.gator.setdefault(folder, [(shown, real)])
        beside = os.path.join(folder, UNITS)
        if os.path.basename(real) != UNITS and os.path.isfile(beside):
            files.append((beside, beside))
        self.group_gator_files(place)

    def group_perfspect_files(self, place):
        """Makes a model of each of PerfSpect's lists. Returns how many there are."""
        before = len(self.models)
        for full, (shown, source) in sorted(place.texts.items()):
            if not is_perfspect_list(read_beginning(source, 65536)):
                continue
            name = os.path.basename(full)[:-4]
            files = [(shown, "events", source)]
            metrics = find_metrics_beside(full)
            if metrics in place.files:
                files.append((place.files.pop(metrics), "metrics", place.get_source(metrics)))
            self.models.append(Model("perfspect", make_table_name(name), name, files, arch="x86"))
        return len(self.models) - before

    def group_gator_files(self, place):
        """Makes a model of each processor and box whose events are in a file."""
        for folder, files in sorted(place.gator.items()):
            units, sets = [], {}
            for shown, source in files:
                try:
                    raw = read_source(source)
                    if os.path.basename(shown) == UNITS:
                        units = read_units(raw)
                    else:
                        for name in list_counter_sets(raw):
                            sets.setdefault(name, (shown, source))
                except (ValueError, OSError) as why:
                    self.problem(shown, str(why))
            self.add_gator_models(files, units, sets)

    def add_gator_models(self, files, units, sets):
        """Adds a model for each unit that has a file of events."""
        taken = set()
        for u in units:
            if u.set in sets and u.table_name() not in taken:
                shown, source = sets[u.set]
                taken.add(u.table_name())
                m = Model("gator", u.table_name(), u.title, [(shown, "", source)],
                          arch="arm64")
                m.unit, m.source = u, make_source_text(os.path.basename(shown))
                self.models.append(m)
        for shown, source in files:
            name = os.path.basename(shown)
            if name == UNITS or units:
                continue            # what no processor or box has is of gator alone
            title = re.sub(r"^events-|\.xml$", "", name)
            m = Model("gator", make_table_name(title), title, [(shown, "", source)], arch="arm64")
            m.source = make_source_text(name)
            self.models.append(m)

    def add_archive(self, shown, real):
        """Reads a source archive as a stream and keeps only the event lists."""
        import tarfile
        place = FileTree("/", {})
        try:
            with tarfile.open(real, "r|*") as tar:
                for name, member in find_lists_in_archive(tar):
                    self.bytes += member.size
                    if member.size > MAX_FILE or self.bytes > MAX_TREE:
                        self.problem("%s: %s" % (shown, name), "too big")
                        continue
                    data = tar.extractfile(member).read()
                    full, below = "/" + name, "%s: %s" % (os.path.basename(shown), name)
                    if is_gator_name(os.path.basename(name)):
                        place.gator.setdefault(os.path.dirname(full), []).append((below, data))
                    elif name.endswith(".txt"):
                        place.texts[full] = (below, data)
                    elif name.endswith(".csv"):
                        (place.sheets if name.endswith(SHEET)
                         else place.maps)[os.path.dirname(full)] = (below, data)
                    else:
                        place.files[full] = below
                        place.data[full] = data
        except Exception as why:         # tarfile, lzma and zlib raise their own
            self.problem(shown, "cannot be read: %s" % why)
        if not place.files and not place.gator and not place.texts:
            self.problem(shown, "no event lists inside")
        self.group_files(place)

    # ---- kinds of files --------------------------------------------------------------------------

    def group_files(self, place):
        """Groups files into models."""
        self.group_gator_files(place)
        self.group_perfspect_files(place)
        intel, linux, standard, arm = {}, {}, {}, {}
        foreign = place.find_intel_folders()
        for full in place.standard:
            standard.setdefault(os.path.dirname(full), []).append((full, place.get_source(full)))
        for full, shown in place.files.items():
            folder = os.path.dirname(full)
            m = INTEL_FILE.search(full.replace(os.sep, "/"))
            if re.search(NO_LISTS, full[len(place.top):].replace(os.sep, "/")):
                continue             # repositories also contain scripts and test data
            if m and "/pmu-events/" not in m[1] + "/" + m[2]:
                intel.setdefault((m[1], m[2]), []).append((shown, m[3], place.get_source(full)))
                continue
            if any(folder == f or folder.startswith(f.rstrip(place.sep) + place.sep)
                   for f in foreign):
                continue
            root = place.find_map_folder(folder)
            if folder == root:
                standard.setdefault(root, []).append((shown, place.get_source(full)))
            elif "/pmu-events/arch/test/" in full.replace(os.sep, "/"):
                continue             # invented for perf's own tests
            elif is_arm_list(read_beginning(place.get_source(full))):
                name = os.path.basename(full)[:-5]
                arm.setdefault(make_table_name(name), []).append(
                    (name, (), shown, place.get_source(full)))
            elif is_telemetry_list(read_beginning(place.get_source(full))):
                name = os.path.basename(full)[:-5]
                product, revision = parse_product_of_file(name)
                arm.setdefault(make_table_name(product), []).append((product, revision, shown,
                                                                     place.get_source(full)))
            elif not is_other(read_beginning(place.get_source(full))):
                linux.setdefault((root, folder),
                                 []).append((shown, os.path.basename(full), place.get_source(full)))
        for name, files in arm.items():
            # Arm's plain lists precede the telemetry files, which are sorted from the newest.
            files.sort(key=lambda f: tuple(-n for n in f[1]))
            self.models.append(
                Model("arm", name, files[0][0],
                      [(shown, folder, source) for folder, _, shown, source in files],
                      arch="arm64"))
        for (root, folder), files in sorted(intel.items()):
            root = root.replace("/", place.sep)
            self.models.append(Model("intel", make_table_name(folder), folder, files,
                                     place.maps.get(root)))
            self.models[-1].sheet = place.sheets.get(root)
        for (root, folder), files in sorted(linux.items(), key=lambda x: (x[0][0] or "", x[0][1])):
            self.models.append(make_linux_model(root, folder, files, place.maps.get(root),
                                                standard.get(root, ())))


def find_metrics_beside(path):
    """The file of metrics that belongs to a list of PerfSpect's."""
    head, mark, tail = path.replace(os.sep, "/").rpartition("/events/")
    return (head + "/metrics/" + tail)[:-4] + ".json" if mark else ""


def is_gator_name(name):
    """True if gator has files of this name."""
    return name == UNITS or re.fullmatch(r"events-[^/]{1,200}\.xml", name) is not None


def is_archive(path):
    """True if the file at @path is a tar archive."""
    import tarfile
    return tarfile.is_tarfile(path)


def find_lists_in_archive(tar):
    """Yields (name, member) of each file of an archive that may be a list or a mapfile."""
    in_linux = False
    for member in tar:
        name = member.name
        mark = IN_LINUX in name
        if in_linux and not mark and "tools/perf/" not in name:
            return                   # archives are sorted: the rest is irrelevant
        other = is_gator_name(os.path.basename(name)) or re.search(r"/events/.*\.txt$", name)
        if not member.isfile() or not (other or name.endswith((".json", "/mapfile.csv",
                                                                "/" + SHEET))):
            continue
        if other or mark or re.search(r"/(events|metrics)/|\.csv$", name):
            in_linux = in_linux or mark
            yield name, member


def make_linux_model(root, folder, files, mapfile, standard):
    """Makes the model of a Linux folder. @root: folder of its architecture, or None."""
    inner = os.path.relpath(folder, root).replace(os.sep, "/") if root else os.path.basename(folder)
    last = (inner[:-4] if inner.endswith("/sys") else inner).rsplit("/", 1)[-1]
    arch = os.path.basename(root) if root else ""
    return Model("linux", make_table_name(last), last, files, mapfile, standard,
                 arch or guess_arch(last), inner)


def make_table_name(text):
    """Returns @text with `_` in place of what no name of a table has."""
    return re.sub(r"[^a-z0-9_]", "_", text.lower())


def is_intel_map(source):
    """True for Intel's mapfile, which names files; Linux's mapfile names folders."""
    try:
        return b".json," in read_source(source)[:65536]
    except (OSError, ValueError):
        return False


def read_beginning(source, size=256):
    """Reads the first bytes of a file."""
    if isinstance(source, bytes):
        return source[:size]
    try:
        with open(source, "rb") as f:
            return f.read(size)
    except OSError:
        return b""


def is_other(head):
    """True for JSON other than event lists: schemas, lists of processors, values that are neither
    object nor array."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text[:1] not in (b"[", b"{") or re.match(rb'\{\s*"(\$schema|_type)"', text) is not None


def guess_arch(folder):
    """Returns the architecture of a model by the name of its folder."""
    known = find_processor(folder)
    if known and known.section.startswith(("intel.", "amd.")) or folder.startswith("amdzen"):
        return "x86"
    if folder.startswith("power"):
        return "powerpc"
    if folder.startswith("cf_z"):
        return "s390"
    return "arm64" if folder.startswith(("cortex", "neoverse")) else "other"
