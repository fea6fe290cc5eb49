#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs into a prefix of its own and uses what is there as others would: C, C++, static, Python,
Meson subproject, release, packages."""
import atexit
import functools
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
HERE = os.path.join(SOURCE, "tests/consumer")
VALUE = "0x53d024\n"
# These tests check where files are installed and which programs find them. The code and the tables
# are the ones that the whole suite has tried, so each of these builds has few tables and is not
# optimised; the packages alone hold everything. how small things get is not asked either
QUICK = {"XZ_OPT": "-0", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
LEAN = ("-Doptimization=0", "-Ddebug=false", "-Dprocessors=coreduo,montecito,software",
        "-Dtests=disabled", "-Dbench=disabled")


def run(*args, env=None, cwd=None):
    clean = {
        k: v for k, v in os.environ.items()
        if not k.startswith(("PERFMON_", "LD_", "PYTHONPATH", "MALLOC_", "DESTDIR"))
    }
    done = subprocess.run(args, capture_output=True, text=True, cwd=cwd,
                          env={**clean, **(env or {})}, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise AssertionError(
            f"{' '.join(args)} ended with"
            f" {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


def need(*programs):
    for p in programs:
        if not shutil.which(p):
            raise unittest.SkipTest(p + " is not installed")


@functools.lru_cache(maxsize=None)
def release():
    """A folder with what scripts/release.sh makes of these sources, committed to a repository of
    their own in folder "tree" beside it."""
    need("git", "xz")
    root = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, root, True)
    tree, out = os.path.join(root, "tree"), os.path.join(root, "out")
    shutil.copytree(
        SOURCE, tree, ignore=lambda folder, names: [
            n for n in names if n == "__pycache__" or (folder == SOURCE and n.startswith(
                ("build", ".git", ".mesonpy")))
        ])
    shutil.copy(os.path.join(SOURCE, ".gitignore"), tree)
    run("git", "init", "-q", cwd=tree)
    commit(tree)
    run("scripts/release.sh", "-o", out, cwd=tree, env=QUICK)
    return out


def commit(tree):
    run("git", "add", "-A", cwd=tree)
    run("git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c",
        "commit.gpgsign=false", "commit", "-qm", "all", cwd=tree)


def unpacked(folder):
    """The release's tarball, unpacked in @folder: nothing else is there to build from."""
    (tarball,) = glob.glob(release() + "/*.tar.xz")
    run("tar", "xf", tarball, "-C", folder)
    return os.path.join(folder, os.path.basename(tarball)[:-len(".tar.xz")])


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp()
        cls.prefix = os.path.join(cls.root, "a prefix")
        cls.build = os.path.join(cls.root, "build")
        run("meson", "setup", cls.build, SOURCE, "--prefix", cls.prefix, *LEAN,
            "-Dreplace_libpfm4=true")
        run("ninja", "-j2", "-C", cls.build)
        run("meson", "install", "-C", cls.build)
        (cls.pc,) = glob.glob(os.path.join(cls.prefix, "lib*/**/perfmon.pc"), recursive=True)
        cls.libdir = os.path.dirname(os.path.dirname(cls.pc))
        cls.env = {"PKG_CONFIG_PATH": os.path.dirname(cls.pc), "LD_LIBRARY_PATH": cls.libdir}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root, ignore_errors=True)

    def flags(self, *more):
        return shlex.split(run("pkg-config", *more, "--cflags", "--libs", "perfmon", env=self.env))

    def compile(self, compiler, source, *flags):
        need(compiler)
        out = os.path.join(self.root, "consumer")
        run(compiler, "-Wall", "-Wextra", "-Werror", source, "-o", out, *flags)
        return run(out, env=self.env)

    def test_a_c_program_compiles_and_runs(self):
        self.assertEqual(self.compile("cc", HERE + "/consumer.c", *self.flags()), VALUE)

    def test_program_of_libpfm3(self):
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "libpfm3", env=self.env))
        out = self.compile("cc", os.path.join(SOURCE, "examples/libpfm3_dispatch.c"), *flags)
        self.assertIn("0x0000000002001208", out)

    def test_program_of_profiles(self):
        """A library of its own, which brings libperfmon."""
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "perfmon-profile",
                                env=self.env))
        out = os.path.join(self.root, "hot_functions")
        run("cc", "-Wall", "-Wextra", "-Werror", os.path.join(SOURCE, "examples/hot_functions.c"),
            "-o", out, *flags)
        done = subprocess.run([out, "/nonexistent"], env={**os.environ, **self.env},
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No such file or directory", done.stderr)

    def test_static_program_of_profiles(self):
        """The archive shows no name but the public ones, which a program's own could be."""
        (archive,) = glob.glob(os.path.join(self.libdir, "libperfmon-profile.a"))
        names = run("nm", "--defined-only", "--extern-only", "--format=posix", archive).splitlines()
        self.assertEqual(
            [n for n in names if n and not n.startswith("pfm_") and not n.endswith(":")], [])
        flags = shlex.split(
            run("pkg-config", "--static", "--cflags", "--libs", "perfmon-profile", env=self.env))
        out = os.path.join(self.root, "static_hot_functions")
        run("cc", "-static", os.path.join(SOURCE, "examples/hot_functions.c"), "-o", out, *flags)
        done = subprocess.run([out, "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No such file or directory", done.stderr)

    def test_a_cplusplus_program_compiles_and_runs(self):
        source = shutil.copy(HERE + "/consumer.c", os.path.join(self.root, "consumer.cc"))
        self.assertEqual(self.compile("c++", source, *self.flags()), VALUE)

    def test_static_program_of_libpfm3(self):
        """As the manual pages say; another libpfm in a folder that is searched first is not taken."""
        other = os.path.join(self.root, "other")
        os.makedirs(other, exist_ok=True)
        for name in ("libpfm.so", "libpfm.a"):
            with open(os.path.join(other, name), "w", encoding="ascii") as f:
                f.write("not a library")
        for more in ([], ["--static"]):
            flags = shlex.split(run("pkg-config", *more, "--cflags", "--libs", "libpfm3",
                                    env=self.env))
            out = os.path.join(self.root, "libpfm3_dispatch" + "".join(more))
            run("cc", *(["-static"] if more else []), "-L" + other,
                os.path.join(SOURCE, "examples/libpfm3_dispatch.c"), "-o", out, *flags)
            run(out, env=self.env)

    def test_a_static_program_compiles_and_runs(self):
        self.assertEqual(
            self.compile("cc", HERE + "/consumer.c", "-static", *self.flags("--static")), VALUE)

    def test_source_of_tru64(self):
        (folder,) = shlex.split(run("pkg-config", "--variable=tru64dir", "perfmon", env=self.env))
        program = os.path.join(self.root, "tru64")
        run("cc", "-Wall", "-Wextra", "-Werror",
            os.path.join(SOURCE, "tests/command/programs/tru64_program.c"),
            "-I" + folder, "-o", program, *self.flags())
        if not self.no_notification():
            self.assertEqual(
                run(os.path.join(self.prefix, "bin/pfm"), "alpha", "device", "--model", "ev6", "--",
                    program, "ev6"), "# counted, nothing else\n")

    def no_notification(self):
        """Some kernels and containers do not let one process answer another's system calls."""
        done = subprocess.run(
            [os.path.join(self.prefix, "bin/pfm"), "alpha", "device", "--", "true"],
            capture_output=True, check=False)
        return done.returncode == 126

    def test_the_command_encodes(self):
        pfm = os.path.join(self.prefix, "bin/pfm")
        self.assertIn("0x000000000053d024",
                      run(pfm, "encode", "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH"))

    def test_command_imports_with_the_installed_compiler(self):
        pfm, image = os.path.join(self.prefix, "bin/pfm"), os.path.join(self.root, "toy.pmdb")
        run(pfm, "import", os.path.join(SOURCE, "tests/pmu/testpmu.pmu"), "-o", image)
        self.assertTrue(os.path.getsize(image) > 0)

    def test_manual_pages_are_installed(self):
        for page in ("man1/pfm.1", "man3/pfm_encode_event.3", "man3/pfm_force_pmu.3",
                     "man7/perfmon.7", "man7/perfmon_coreduo.7"):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, "share/man", page)), page)

    def test_python_in_an_environment_of_its_own(self):
        (module, ) = glob.glob(os.path.join(self.prefix, "lib*/**/perfmon/py.typed"),
                               recursive=True) or [None]
        if not module:
            raise unittest.SkipTest("the Python module was not built: cffi is missing")
        venv = os.path.join(self.root, "venv")
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", venv)
        code = (
            "import perfmon;"
            " print(hex(perfmon.event('coreduo::L2_Lines_In,core=all,prefetch=only').registers[0].value))"
        )
        out = run(os.path.join(venv, "bin/python"), "-c", code,
                  env={"PYTHONPATH": os.path.dirname(os.path.dirname(module))}, cwd=self.root)
        self.assertEqual(out, VALUE)

    def test_notices_of_the_sources(self):
        """Each licence of a source of tables is named in the documents, for Debian too, and is installed."""
        names = sorted(os.listdir(os.path.join(SOURCE, "LICENSES")))
        self.assertEqual(sorted(os.listdir(os.path.join(self.prefix, "share/licenses/perfmon"))),
                         sorted(["LICENSE", *names]))
        texts = []
        for path in ("docs/sources.md", "debian/copyright"):
            with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
                texts.append(f.read())
        for name in names:
            self.assertIn("`LICENSES/%s`" % name, texts[0])
            with open(os.path.join(SOURCE, "LICENSES", name), encoding="utf-8") as f:
                for holder in re.findall(r"(?m)^ *Copyright \(c\) (?:[\d-]+,? )?(.*)", f.read()):
                    self.assertIn(holder, texts[1])
        # Folders of tables and the sources of each.
        for folder in re.findall(r"`(lib/events/[\w/]+)/`.*`LICENSES/", texts[0]):
            self.assertIn(folder + "/*", texts[1])

    def set_prefix(self, prefix, *targets):
        run("meson", "configure", self.build, "-Dprefix=" + prefix)
        run("ninja", "-j2", "-C", self.build, *targets)

    def test_the_usual_prefix(self):
        """In a file system of its own: files that 'meson install' puts into /usr/local run without ldconfig."""
        if not tap.own_mounts():
            raise unittest.SkipTest("no mounts of one's own here")
        dest = os.path.join(self.root, "usual-dest")
        self.addCleanup(self.set_prefix, self.prefix, "build.ninja")
        self.set_prefix("/usr/local")
        run("meson", "install", "-C", self.build, "--no-rebuild", env={"DESTDIR": dest})
        self.assertIn(
            "0x000000000053d024",
            run("unshare", "--mount", "sh", "-c",
                'mount --bind "$1" /usr/local && /usr/local/bin/pfm encode "$2"', "sh",
                os.path.join(dest, "usr/local"), "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH"))

    def test_cmake_finds_the_package(self):
        need("cmake")
        project, build = os.path.join(self.root, "cmake"), os.path.join(self.root, "cmake-build")
        os.mkdir(project)
        shutil.copy(HERE + "/consumer.c", project)
        shutil.copy(os.path.join(SOURCE, "examples/hot_functions.c"), project)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="ascii") as f:
            f.write(
                "cmake_minimum_required(VERSION 3.16)\nproject(consumer C)\nfind_package(perfmon"
                " 1.0 REQUIRED)\nadd_executable(profile"
                " hot_functions.c)\ntarget_link_libraries(profile"
                " perfmon::profile)\nadd_executable(profile_static"
                " hot_functions.c)\ntarget_link_libraries(profile_static"
                " perfmon::profile_static)\nadd_executable(shared"
                " consumer.c)\ntarget_link_libraries(shared"
                " perfmon::perfmon)\nadd_executable(static"
                " consumer.c)\ntarget_link_libraries(static perfmon::static)\n"
            )
        run("cmake", "-S", project, "-B", build, "-DCMAKE_PREFIX_PATH=" + self.prefix)
        run("cmake", "--build", build)
        for name in ("shared", "static"):
            self.assertEqual(run(os.path.join(build, name)), VALUE, name)
        for name in ("profile", "profile_static"):
            done = subprocess.run([os.path.join(build, name), "/nonexistent"], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((name, done.returncode, done.stdout), (name, 1, ""))
            self.assertIn("No such file or directory", done.stderr)

    def test_build_files_of_the_guide(self):
        """docs/guide/embedding.md: compiler commands and CMakeLists.txt."""
        with open(os.path.join(SOURCE, "docs/guide/embedding.md"), encoding="utf-8") as f:
            guide = f.read()
        folder = os.path.join(self.root, "guide")
        os.mkdir(folder)
        shutil.copy(HERE + "/consumer.c", os.path.join(folder, "program.c"))
        commands = re.search(r"^```sh\n(cc .*?)^```$", guide, re.M | re.S)[1]
        (project,) = re.findall(r"^```cmake\n(.*?)^```$", guide, re.M | re.S)
        # A shell does not undo pkg-config's quotes in $(): the prefix has another name, without
        # a space.
        prefix = os.path.join(folder, "prefix")
        os.symlink(self.prefix, prefix)
        with open(self.pc, encoding="utf-8") as f:
            described = f.read()
        with open(os.path.join(folder, "perfmon.pc"), "w", encoding="utf-8") as f:
            f.write(re.sub("^prefix=.*$", "prefix=" + prefix, described, flags=re.M))
        run("sh", "-ec", commands, cwd=folder, env={**self.env, "PKG_CONFIG_PATH": folder})
        for name in ("program", "program-static"):
            self.assertEqual(run(os.path.join(folder, name), env=self.env), VALUE, name)
        need("cmake")
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="ascii") as f:
            f.write(project)
        build = os.path.join(folder, "build")
        run("cmake", "-S", folder, "-B", build, "-DCMAKE_PREFIX_PATH=" + self.prefix)
        run("cmake", "--build", build)
        for name in ("program", "program-static"):
            self.assertEqual(run(os.path.join(build, name)), VALUE, name)

    def test_libpfm4_where_cmake_looks(self):
        """As Google Benchmark, Caliper and others find libpfm4: by a header and a library, not by
        pkg-config."""
        need("cmake")
        project, build = os.path.join(self.root, "cmake4"), os.path.join(self.root, "cmake4-build")
        os.mkdir(project)
        source = os.path.join(SOURCE, "tests/public/compat/libpfm4/call_sequences.c")
        for name in ("program.c", "program.cc"):
            shutil.copy(source, os.path.join(project, name))
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="ascii") as f:
            f.write(
                "cmake_minimum_required(VERSION 3.16)\nproject(consumer C"
                " CXX)\nfind_path(PFM_INCLUDE_DIR NAMES perfmon/pfmlib.h"
                " REQUIRED)\nfind_library(PFM_LIBRARY NAMES pfm"
                " REQUIRED)\nfind_library(PFM_STATIC_LIBRARY NAMES libpfm.a REQUIRED)\nforeach(kind"
                " c cc)\nadd_executable(in_${kind}"
                " program.${kind})\ntarget_include_directories(in_${kind} PRIVATE"
                " ${PFM_INCLUDE_DIR})\ntarget_link_libraries(in_${kind}"
                " ${PFM_LIBRARY})\nendforeach()\nmessage(NOTICE \"found ${PFM_INCLUDE_DIR}"
                " ${PFM_LIBRARY}\")\n"
            )
        done = subprocess.run(
            ["cmake", "-S", project, "-B", build, "-DCMAKE_PREFIX_PATH=" + self.prefix],
            capture_output=True, text=True, check=True)
        self.assertIn("found %s/include %s/libpfm.so\n" % (self.prefix, self.libdir), done.stderr)
        run("cmake", "--build", build)
        for kind in ("c", "cc"):
            program = os.path.join(build, "in_" + kind)
            self.assertIn("libpfm.so.4 => %s/" % self.libdir, run("ldd", program))
            self.assertIn("benchmark TASK-CLOCK 0 ", run(program, "benchmark"))

    def test_destdir_moves_the_files(self):
        run("meson", "install", "-C", self.build, "--no-rebuild",
            env={"DESTDIR": os.path.join(self.root, "dest")})
        self.assertTrue(os.path.exists(os.path.join(self.root, "dest") + self.pc))


class Others(unittest.TestCase):
    def test_meson_builds_the_subproject(self):
        self.subproject("shared")

    def test_meson_subproject_linked_statically(self):
        self.subproject("static")

    def subproject(self, kind):
        with tempfile.TemporaryDirectory() as root:
            shutil.copytree(HERE + "/subproject", root, dirs_exist_ok=True)
            shutil.copy(HERE + "/consumer.c", root)
            os.mkdir(os.path.join(root, "subprojects"))
            os.symlink(SOURCE, os.path.join(root, "subprojects/perfmon"))
            # An installed perfmon is not what is tested.
            run("meson", "setup", "build", "--force-fallback-for=perfmon",
                "-Ddefault_library=" + kind, "-Doptimization=0",
                "-Dperfmon:processors=coreduo,montecito,software",
                env={"PKG_CONFIG_PATH": "/nonexistent"}, cwd=root)
            run("ninja", "-j2", "-C", "build", cwd=root)
            self.assertEqual(run(os.path.join(root, "build/consumer")), VALUE)
            needed = run("readelf", "-d", os.path.join(root, "build/consumer"))
            self.assertEqual("libperfmon" in needed, kind == "shared", needed)
            # The library alone: no command, no pages, no tests, no module.
            built = os.path.join(root, "build", "subprojects", "perfmon")
            for part in ("tools/pfm", "tests/test_spec", "docs/perfmon_coreduo.7",
                         "python/perfmon"):
                self.assertFalse(os.path.exists(os.path.join(built, part)), part)

    def test_a_release_builds_from_its_archive(self):
        out = release()
        tree = os.path.join(os.path.dirname(out), "tree")
        (name,) = [n for n in os.listdir(out) if n.endswith(".tar.xz")]
        for kind in ("sha256", "sha512"):
            self.assertEqual(run(kind + "sum", "-c", name + "." + kind, cwd=out), name + ": OK\n")
        listed = set(run("git", "ls-files", cwd=tree).split("\n")[:-1])
        held = {
            n.partition("/")[2] for n in run("tar", "tf", os.path.join(out, name)).split("\n")[:-1]
            if not n.endswith("/")
        }
        self.assertEqual(held, listed)
        with tempfile.TemporaryDirectory() as again:
            said = run("scripts/release.sh", "-o", again, cwd=tree, env=QUICK)
            self.assertIn("git tag -s v" + name[len("perfmon-"):-len(".tar.xz")], said)
            for made in (out, again):
                with open(os.path.join(made, name + ".sha256"), encoding="ascii") as f:
                    self.assertEqual(f.read(), run("sha256sum", name, cwd=out))
            for kind in ("spdx", "provenance"):
                with open(os.path.join(out, f"{name}.{kind}.json"), encoding="utf-8") as f, \
                        open(os.path.join(again, f"{name}.{kind}.json"), encoding="utf-8") as g:
                    self.assertEqual(f.read(), g.read())

    def test_a_release_that_does_not_agree_with_itself_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            run("git", "clone", "-q", os.path.join(os.path.dirname(release()), "tree"), root)
            path = os.path.join(root, "CHANGELOG.md")
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("\n## ", "\n## 99."))
            with self.assertRaisesRegex(AssertionError, "commit or put away"):
                run("scripts/release.sh", cwd=root)
            commit(root)
            with self.assertRaisesRegex(AssertionError, "CHANGELOG.md has no section"):
                run("scripts/release.sh", cwd=root)

    def test_debian_packages_build_and_install(self):
        need("dpkg-buildpackage", "dh", "lintian", "dh_python3")
        with tempfile.TemporaryDirectory() as root:
            tree = unpacked(root)
            (tarball,) = glob.glob(release() + "/*.tar.xz")
            shutil.copy(
                tarball,
                os.path.join(
                    root,
                    os.path.basename(tarball).replace("-", "_", 1).replace(".tar", ".orig.tar")))
            run("dpkg-buildpackage", "-us", "-uc", "-F", "-j2", cwd=tree,
                env={**QUICK, "DEB_BUILD_OPTIONS": "noopt nocheck noautodbgsym"})
            packages = {os.path.basename(p).split("_")[0]: p for p in glob.glob(root + "/*.deb")}
            self.assertLessEqual(
                {
                    "libperfmon1", "libperfmon-profile1", "libperfmon-dev", "libperfmon-libpfm4",
                    "libpfm4-perfmon", "libpfm4-perfmon-dev", "perfmon-tools", "perfmon-exporter",
                    "python3-perfmon", "perfmon-doc"
                }, set(packages))
            self.assertIn("python3-cffi-backend",
                          run("dpkg-deb", "-f", packages["python3-perfmon"], "Depends"))
            # The command alone needs no Python: only pfm import does.
            self.assertNotIn("python3", run("dpkg-deb", "-f", packages["perfmon-tools"], "Depends"))
            self.assertIn("python3", run("dpkg-deb", "-f", packages["perfmon-tools"], "Recommends"))
            self.check_exporter(packages, root)
            # test_man.py checks the manual pages, on which lintian spends a quarter of its time.
            run("lintian", "--allow-root", "--fail-on", "error,warning", "-X",
                "documentation/manual",
                *glob.glob(root + "/*.changes"))
            self.autopkgtests(tree, packages)

    def check_exporter(self, packages, root):
        """The service, its arguments and what it runs: the exporter, its manual page and
        libmicrohttpd. Its user is made by systemd."""
        exporter, tools = packages["perfmon-exporter"], packages["perfmon-tools"]
        self.assertRegex(run("dpkg-deb", "-f", exporter, "Depends"),
                         r"perfmon-tools.*libmicrohttpd12")
        files = [line.split()[5] for line in run("dpkg-deb", "-c", exporter).splitlines()]
        unit = next(
            (f for f in files if f.endswith("/lib/systemd/system/perfmon-exporter.service")), None)
        self.assertIsNotNone(unit, files)
        self.assertIn("./etc/default/perfmon-exporter", files)
        at = os.path.join(root, "exporter")
        for name in (exporter, tools):
            run("dpkg-deb", "-x", name, at)
        run("dpkg-deb", "-e", exporter, at + "/DEBIAN")
        with open(os.path.join(at, unit), encoding="utf-8") as f:
            words = re.findall(r"(?m)^(\w+)=(.*)$", f.read())
        found = dict(words)
        self.assertEqual((found["DynamicUser"], found["AmbientCapabilities"]),
                         ("yes", "CAP_PERFMON"))
        program, _, arguments = found["ExecStart"].partition(" ")
        self.assertEqual((program, arguments), ("/usr/bin/pfm-exporter", "$ARGS"))
        self.assertTrue(os.access(at + program, os.X_OK), program)
        self.assertEqual(found["Documentation"], "man:pfm-exporter(1) man:pfm(1)")
        for page in ("pfm", "pfm-exporter"):
            self.assertTrue(os.path.exists(at + "/usr/share/man/man1/%s.1.gz" % page), page)
        with open(at + found["EnvironmentFile"].lstrip("-"), encoding="utf-8") as f:
            self.assertEqual(re.findall(r"(?m)^[^#\n].*", f.read()), ['ARGS=""'])
        with open(at + "/DEBIAN/conffiles", encoding="utf-8") as f:
            self.assertIn("/etc/default/perfmon-exporter\n", f.read())
        with open(at + "/DEBIAN/postinst", encoding="utf-8") as f:
            self.assertIn("perfmon-exporter.service", f.read())    # enabled and started

    def autopkgtests(self, tree, packages):
        """Runs debian/tests, which are for installed packages, with the packages unpacked in a folder."""
        at = os.path.join(os.path.dirname(tree), "unpacked")
        for name in packages:
            run("dpkg-deb", "-x", packages[name], at)
        (pc,) = glob.glob(at + "/usr/lib/**/perfmon.pc", recursive=True)
        lib = os.path.dirname(os.path.dirname(pc))
        env = {
            "PATH": at + "/usr/bin:" + os.environ["PATH"], "LD_LIBRARY_PATH": lib,
            "LIBRARY_PATH": lib, "PYTHONPATH": at + "/usr/lib/python3/dist-packages",
            "PKG_CONFIG_PATH": os.path.dirname(pc), "PKG_CONFIG_SYSROOT_DIR": at,
            "PERFMON_PMUC": at + "/usr/share/perfmon/compiler/pmuc.py"
        }
        with open(os.path.join(tree, "debian/tests/control"), encoding="ascii") as f:
            names = [line.split(":")[1].strip() for line in f if line.startswith("Tests:")]
        self.assertGreaterEqual(len(names), 4)
        for name in names:
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                python = {"PATH": "/usr/bin:" + env["PATH"]} if name == "python" else {}
                run(os.path.join(tree, "debian/tests", name),
                    env={**env, **python, "AUTOPKGTEST_TMP": scratch}, cwd=tree)


if __name__ == "__main__":
    tap.main()
