# SPDX-License-Identifier: MIT
"""The package itself: types, constants, documentation, wheels."""
import base64
import doctest
import hashlib
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

import pytest

import perfmon
from perfmon import _errors, alpha, constants, montecito, session
from perfmon._perfmon import lib
from vectors import SOURCE


def modules():
    for m in pkgutil.iter_modules(perfmon.__path__, "perfmon."):
        if not m.name.endswith("._perfmon"):
            yield importlib.import_module(m.name)


PACKAGE = os.path.dirname(perfmon.__file__)


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Calls of mypy share what it remembers of the package, and nothing outlives them."""
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def check(*args, env=None, **options):
        env = dict(os.environ, **(env or {"MYPYPATH": os.path.dirname(PACKAGE)}))
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", *args], text=True,
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
        assert done.returncode == 0, done.stdout
    return check


def test_annotations(mypy):
    mypy("-p", "perfmon", cwd=os.path.dirname(PACKAGE))


def test_examples_pass_mypy(mypy):
    files = sorted(str(p) for p in (SOURCE / "examples").glob("*.py") if p.name != "check.py")
    assert files
    mypy(*files)


def test_a_script_passes_mypy_beside_stubs_of_another_perfmon(mypy, tmp_path):
    """types-pywin32 has a perfmon-stubs, which mypy prefers to an annotated package. README.md says
    what comes before it."""
    for site, name in (("site", "perfmon-stubs"), ("stubs", "")):
        (tmp_path / site / name).mkdir(parents=True)
    (tmp_path /
     "site/perfmon-stubs/__init__.pyi").write_text("def CounterDefinition() -> int: ...\n")
    (tmp_path / "stubs/perfmon").symlink_to(PACKAGE)
    script = tmp_path / "script.py"
    script.write_text(
        "import perfmon\n"
        "@perfmon.count('page-faults')\n"
        "def work(n: int) -> str:\n    return str(n)\n"
        "text: str = work(1)\n"
        "counts: perfmon.Reading | None = work.counts\n"
        "with perfmon.count('page-faults') as c:\n    value: int | None = c['page-faults'].value\n"
        "rows: list[dict[str, object]] = perfmon.encode_many([text]).records()\n")
    mypy(str(script),
         env={"MYPYPATH": os.pathsep.join((str(tmp_path / "stubs"), str(tmp_path / "site")))})


@pytest.mark.parametrize("prefix, members", [
    ("PFMLIB_ERR_", _errors.ErrorCode),
    ("PFM_QUALITY_", session.Quality),
    ("PFM_CAUSE_", session.Cause),
    ("PFM_REG_", perfmon.RegisterKind),
    ("PFM_EVENT_", perfmon.EventFlag),
    ("PFM_DIALECT_", perfmon.Dialect),
    ("PFM_PMU_", perfmon.PmuFlag),
    ("PFM_ALPHA_UNC_", alpha.Uncertainty),
    ("PFM_ALPHA_TRAP_", alpha.Trap),
    ("PFM_ALPHA_MODE_", alpha.Mode),
    ("PFM_ALPHA_SCOPE_", alpha.Scope),
    ("PFM_ALPHA_OPEN_", alpha.Open),
    ("PFMLIB_MONT_LEVEL_", montecito.Level),
])
def test_enumerations_are_those_of_the_headers(prefix, members):
    wanted = {
        n[len(prefix):]: getattr(lib, n) for n in dir(lib)
        if n.startswith(prefix) and n != "PFMLIB_ERR_LAST"
    }
    if members is _errors.ErrorCode:
        wanted["SUCCESS"] = 0
    assert {name: int(m) for name, m in members.__members__.items()} == wanted


def test_every_constant_of_the_headers_is_there():
    text = "".join(
        p.read_text(encoding="utf-8") for p in [
            *(SOURCE / "include/perfmon").glob("*.h"), *(SOURCE /
                                                         "include/libpfm3/perfmon").glob("*.h")
        ])
    names = set(re.findall(r"#define ((?:PFM|PFMLIB|PCNT|PF5|PF6|ICCSR|PF)_?\w+)\s+[^\s\"_(]",
                           text))
    assert len(names) > 150 and {n for n in names if not hasattr(constants, n)
                                 } <= {"PFM_MONT_EXTENSION"}
    assert constants.PFMLIB_VERSION == 3 << 16 | 11 and "PF67_PM_VALID" in dir(constants)
    with pytest.raises(AttributeError):
        constants.PFM_NOPE


def test_every_function_of_the_library_is_used():
    """Every exported function is reachable from Python: python/perfmon calls it, or the list
    below has it."""
    exported = {n for path in ("lib/perfmon.map", "lib/compat/libpfm3/libpfm3.map")
                for n in re.findall(r"\bpfm_\w+(?=;)", (SOURCE / path).read_text(encoding="utf-8"))}
    code = "".join(inspect.getsource(m) for m in modules())
    assert not [n for n in exported if not hasattr(lib, n)]
    unused = {n for n in exported if not re.search(rf"\blib\.{n}\b", code)}
    # Aliases of functions that are used, getters of single members of a struct that is read as a
    # whole, and functions for older C programs only.
    unused -= {
        "pfm_mont_get_event_grp", "pfm_mont_get_event_ear_mode", "pfm_mont_is_ear",
        "pfm_mont_is_dear_tlb", "pfm_mont_is_dear_cache", "pfm_mont_is_dear_alat",
        "pfm_mont_is_iear_tlb", "pfm_mont_is_iear_cache", "pfm_alpha_is_profileme",
        "pfm_alpha_is_ratio", "pfm_alpha_is_pair", "pfm_set_options", "pfm_list_supported_pmus",
        "pfm_is_pmu_supported", "pfm_encode_perf_attr", "pfm_find_trace_field"
    }
    # The command needs these beside plans and metrics that Python has as objects:
    # Metric.compute() takes the counts of inputs by name.
    unused -= {
        "pfm_print_plan_group", "pfm_read_metric_constant", "pfm_compute_counted_metric"
    }
    # Objects share a Context, which Python's own references keep. Only the command merges results of
    # several processes, and renames their regions.
    unused -= {"pfm_ref_context", "pfm_add_region_results", "pfm_rename_region"}
    assert not unused, "give these a place in python/perfmon, or in the list above"


def test_everything_public_is_documented():
    missing = []
    for m in modules():
        names = getattr(m, "__all__", [])
        assert m.__doc__, m.__name__
        for name in names:
            thing = getattr(m, name)
            if (inspect.isclass(thing)
                    or inspect.isfunction(thing)) and not (thing.__doc__ or "").strip():
                missing.append(f"{m.__name__}.{name}")
            if inspect.isfunction(thing) and thing.__doc__.startswith(name + "("):
                missing.append(f"{m.__name__}.{name}")
    assert not missing


@pytest.mark.parametrize("module", [perfmon, constants])
def test_documented_examples(module):
    done = doctest.testmod(module)
    assert done.attempted > 0 and done.failed == 0


def test_readme_examples():
    done = doctest.testfile(str(SOURCE / "python/README.md"), module_relative=False)
    assert done.attempted > 5 and done.failed == 0


def test_a_build_without_its_tools_names_them():
    code = "import sys; sys.modules['mesonpy'] = None; sys.path.insert(0, %r); import wheel" % str(
        SOURCE / "python")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        done.returncode == 1
        and "python3-mesonpy and python3-cffi" in done.stderr
        and "Traceback" not in done.stderr
    )


def test_import_is_light():
    """numpy is not loaded before it is needed, and nothing is opened."""
    code = "import sys, perfmon; print('numpy' in sys.modules, perfmon.context._default)"
    done = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE,
                          check=True)
    assert done.stdout.split() == ["False", "None"]


# ---- wheels


def in_clean_environment(args, more=None, **options):
    env = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PERFMON", "DESTDIR"))
    }
    env.update(more or {})
    done = subprocess.run(args, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env, check=False, **options)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def not_in_a_clone(folder, names):
    builds = [n for n in names if os.path.exists(os.path.join(folder, n, "build.ninja"))]
    return builds + [n for n in names if n == "__pycache__" or n.startswith(".")]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The source archive, of a copy as a clone is: a build must not leave anything in the source
    tree."""
    for name in ("mesonpy", "pip", "venv"):
        pytest.importorskip(name)
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(SOURCE, folder / "source", ignore=not_in_a_clone)
    shutil.copy(SOURCE / ".gitignore", folder / "source")
    git = [
        "git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c",
        "commit.gpgsign=false"
    ]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        in_clean_environment([*git, *words], cwd=folder / "source")
    code = "import sys; sys.path.insert(0, 'python'); import wheel; wheel.build_sdist(sys.argv[1])"
    in_clean_environment([sys.executable, "-c", code, str(folder)], cwd=folder / "source")
    return next(folder.glob("*.tar.gz"))


def test_a_source_archive_holds_what_is_committed(sdist):
    names = set(tarfile.open(sdist).getnames())
    assert {"libperfmon-1.0.0/PKG-INFO", "libperfmon-1.0.0/meson.build",
            "libperfmon-1.0.0/python/wheel.py", "libperfmon-1.0.0/lib/lookup/spec.c"} <= names


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Of the source archive and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    # Few tables, not optimised: what is asked is what the wheel holds and that it runs.
    in_clean_environment([
        sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps",
        "-w",
        str(folder), "--config-settings=setup-args=-Dprocessors=coreduo,software",
        str(sdist)
    ], {"CFLAGS": "-O0"})
    return next(folder.glob("*.whl"))


def test_wheel_holds_the_module_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "perfmon/__init__.py", "perfmon/py.typed", "perfmon/_perfmon.abi3.so",
        "perfmon/_compiler/pmuc.py", "perfmon/_compiler/keys.def"
    } <= set(names)
    assert not [n for n in names if not n.startswith(("perfmon/", "libperfmon-1.0.0.dist-info/"))]
    meta = zipfile.ZipFile(wheel).read("libperfmon-1.0.0.dist-info/METADATA").decode()
    held = zipfile.ZipFile(wheel)
    notices = [SOURCE / "LICENSE", *(SOURCE / "LICENSES").iterdir()]
    assert len(notices) == 4
    for path in notices:
        assert held.read("libperfmon-1.0.0.dist-info/licenses/" + path.name) == path.read_bytes()
    for line in held.read("libperfmon-1.0.0.dist-info/RECORD").decode().splitlines():
        name, digest, _ = line.split(",")
        if digest:
            of_file = base64.urlsafe_b64encode(hashlib.sha256(
                held.read(name)).digest()).rstrip(b"=").decode()
            assert digest == "sha256=" + of_file, name
    assert len(held.read("libperfmon-1.0.0.dist-info/RECORD").decode().splitlines()) == len(names)
    assert "License: MIT" in meta or "License-Expression: MIT" in meta


def test_wheel_has_the_right_tag(wheel):
    """abi3: nothing of Python's is asked for that the limited interface has not. manylinux: no
    newer glibc, and no other library."""
    tag = re.fullmatch(r"libperfmon-1\.0\.0-cp39-abi3-manylinux_2_(\d+)_(\w+)\.whl", wheel.name)
    assert tag and tag[2] == sysconfig.get_platform().rpartition("-")[2]
    held = zipfile.ZipFile(wheel)
    assert f"Tag: {wheel.name[len('libperfmon-1.0.0-'):-4]}" in held.read(
        "libperfmon-1.0.0.dist-info/WHEEL").decode().splitlines()
    if not shutil.which("readelf"):
        pytest.skip("readelf is not installed")
    with tempfile.NamedTemporaryFile() as f:
        f.write(held.read("perfmon/_perfmon.abi3.so"))
        f.flush()
        needed = re.findall(r"NEEDED.*\[(.*)\]", in_clean_environment(["readelf", "-d", f.name]))
        wanted = [
            int(n)
            for n in re.findall(r"GLIBC_2\.(\d+)", in_clean_environment(["readelf", "-V", f.name]))
        ]
        symbols = set(
            re.findall(r"UND (Py\w+)", in_clean_environment(["readelf", "-W", "--dyn-syms",
                                                             f.name])))
    # libm and the dynamic linker are of glibc, too.
    others = [n for n in needed if not re.fullmatch(r"lib[cm]\.so\.6|ld-linux[\w-]*\.so\.\d", n)]
    assert not others and max(wanted) == int(tag[1])
    assert symbols <= {
        "PyArg_UnpackTuple", "PyBool_FromLong", "PyErr_Occurred", "PyEval_RestoreThread",
        "PyEval_SaveThread", "PyFloat_AsDouble", "PyFloat_FromDouble", "PyImport_ImportModule",
        "PyLong_AsLong", "PyLong_FromLong", "PyLong_FromUnsignedLong", "PyLong_FromVoidPtr",
        "PyObject_CallMethod", "PyObject_Free", "PyObject_Malloc"
    }, "is that in the limited interface?"


@pytest.mark.parametrize(
    "compiler", ["cc", "arm-linux-gnueabihf-gcc", "s390x-linux-gnu-gcc", "mips-linux-gnu-gcc"])
def test_texts_are_no_libraries(tmp_path, compiler):
    """The names that a module needs come from its dynamic section, in either byte order and
    width; a library's name among its strings is not one of them."""
    pytest.importorskip("mesonpy")
    if not shutil.which(compiler):
        pytest.skip(compiler + " is not installed")
    (tmp_path / "other.c").write_text("int other(void) { return 1; }\n")
    (tmp_path / "module.c").write_text(
        "int other(void);\n"
        "const char *text(void) { return other() ? \"\\0libtext.so.1\\0GLIBC_2.99\" + 1 : 0; }\n")
    build = [compiler, "-shared", "-fPIC", "-nostdlib", "-Wl,--no-as-needed"]
    in_clean_environment([*build, "-Wl,-soname,libother.so.1", "-o", "libother.so.1", "other.c"],
                         cwd=tmp_path)
    in_clean_environment([*build, "-o", "module.so", "module.c", "libother.so.1"], cwd=tmp_path)
    code = (
        "import sys; sys.path.insert(0, 'python'); import wheel; elf = open(sys.argv[1],"
        " 'rb').read(); names = wheel._linked_names(elf).split(b'\\0'); print(b'\\0libtext.so.1\\0'"
        " in elf, *[names.count(n) for n in (b'libtext.so.1', b'GLIBC_2.99', b'libother.so.1')])"
    )
    shown = in_clean_environment(
        [sys.executable, "-c", code, str(tmp_path / "module.so")], cwd=SOURCE)
    assert shown.split() == ["True", "0", "0", "1"]


def test_wheel_in_a_virtual_environment(wheel, tmp_path):
    in_clean_environment([
        sys.executable, "-m", "venv", "--system-site-packages", "--without-pip",
        str(tmp_path / "venv")
    ])
    python = str(tmp_path / "venv/bin/python")
    in_clean_environment([python, "-m", "pip", "install", "--no-index", "--no-deps", str(wheel)])
    code = (
        "import perfmon\nassert"
        " perfmon.event('coreduo::L2_Lines_In,core=all,prefetch=only').registers[0].value =="
        f" 0x53d024\ngot = perfmon.import_lists({str(SOURCE / 'tests/pmu/testpmu.pmu')!r},"
        f" output={str(tmp_path / 'x.pmdb')!r})\nwith perfmon.Session(['page-faults']) as s:"
        " pass\nprint(perfmon.__file__, len(got.models), perfmon.__version__)"
    )
    shown = in_clean_environment([python, "-c", code], cwd=tmp_path).split()
    assert shown[0].startswith(str(tmp_path / "venv")) and shown[1:] == ["1", "1.0.0"]
