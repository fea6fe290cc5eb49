# SPDX-License-Identifier: MIT
"""Programs of the build, copied to where every user can run them: a build below a home folder is
closed to other users."""
import glob
import os
import shutil
import tempfile


class ReadableCopy:
    """A folder with copies of @programs and of the library of $PERFMON_BUILD. path(PROGRAM) is the
    copy's path, and environment() makes it find its library."""

    def __init__(self, *programs):
        library = os.path.join(os.environ["PERFMON_BUILD"], "lib", "libperfmon.so.?")
        self.folder = tempfile.mkdtemp(prefix="perfmon-copy-")
        os.chmod(self.folder, 0o755)
        for file in [*programs, *glob.glob(library)]:
            os.chmod(shutil.copy(file, self.folder), 0o755)

    def path(self, program):
        return os.path.join(self.folder, os.path.basename(program))

    def environment(self, of=None):
        return dict(os.environ if of is None else of, LD_LIBRARY_PATH=self.folder)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
