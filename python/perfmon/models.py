# SPDX-License-Identifier: MIT
"""Which settings belong to which processor."""
from __future__ import annotations

from typing import Any, Union

from . import alpha, coreduo, montecito
from ._c import lib
from .context import Pmu

Model = Union[montecito.Settings, coreduo.Settings, alpha.Settings]

_CLASSES: dict[int, Any] = {
    lib.PFMLIB_MONTECITO_PMU: montecito.Settings,
    lib.PFMLIB_COREDUO_PMU: coreduo.Settings,
    **{
        pmu: alpha.Settings
        for pmu in range(lib.PFMLIB_ALPHA_EV4_PMU, lib.PFMLIB_ALPHA_EV67_PMU + 1)
    },
}


def settings_class(libpfm_type: int | None) -> Any:
    """Class of the settings of a PFMLIB_*_PMU, None if it has none."""
    return None if libpfm_type is None else _CLASSES.get(libpfm_type)


def settings_class_for(pmu: Pmu) -> Any:
    """Chooses the module of a PMU: by its number, or by the settings its table says it takes."""
    if pmu.features.get("settings") == "coreduo":
        return coreduo.Settings
    return settings_class(pmu.libpfm_type)
