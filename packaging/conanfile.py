# SPDX-License-Identifier: MIT
import os

from conan import ConanFile
from conan.tools.files import copy
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain


class PerfmonConan(ConanFile):
    name = "perfmon"
    version = "1.0.0"
    license = "MIT"
    description = "Event names to performance counter registers, and counting"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "library"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    tool_requires = "meson/[>=1.0]"

    def export_sources(self):
        top = os.path.dirname(self.recipe_folder)
        for folder in ("bench", "compiler", "docs", "examples", "exporter", "include", "lib",
                       "python", "scripts", "tests", "tools", "LICENSES"):
            copy(self, folder + "/*", top, self.export_sources_folder)
        for name in ("meson.build", "meson_options.txt", "LICENSE"):
            copy(self, name, top, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def generate(self):
        toolchain = MesonToolchain(self)
        for feature in ("tools", "python", "man", "tests", "bench"):
            toolchain.project_options[feature] = "disabled"
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        Meson(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["perfmon"]
        self.cpp_info.set_property("pkg_config_name", "perfmon")
        self.cpp_info.set_property("cmake_target_name", "perfmon::perfmon")
