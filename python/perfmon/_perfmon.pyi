# SPDX-License-Identifier: MIT
# The extension module that build_cffi.py makes from the public headers: every call and constant of C, untyped.
from typing import Any

ffi: Any
lib: Any
