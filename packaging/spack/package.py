# SPDX-License-Identifier: MIT
from spack.package import *


class Perfmon(MesonPackage):
    """Event names to performance counter registers, and counting."""

    license("MIT")
    version("1.0.0")
    variant("tools", default=True, description="Build the command pfm")
    depends_on("c", type="build")
    depends_on("meson@1:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("jansson", when="+tools")

    def meson_args(self):
        disabled = ["-D%s=disabled" % name for name in ("python", "man", "tests", "bench")]
        return disabled + ["-Dtools=" + ("enabled" if "+tools" in self.spec else "disabled")]
