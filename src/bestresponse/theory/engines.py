"""The choice between plain numpy and loops compiled by numba, the extra `fast`.

There is one spelling for all of theory.

`engine="numpy"` needs nothing else, `engine="numba"` insists on compiled loops, and `engine="auto"`
takes them where numba is installed and the work repays loading them. Both engines answer alike up
to rounding.

Numba keeps on disk what it has compiled. Before that, compiling takes some twenty times as long as
loading, and "auto" goes on with numpy until the work repays it; `bestresponse warm` compiles
everything beforehand (see `kernels_ahead`).
"""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args

from bestresponse.core.errors import UsageError
from bestresponse.core.extras import install_hint

Engine = Literal["auto", "numpy", "numba"]
ChosenEngine = Literal["numpy", "numba"]

_COMPILING = 20.0
"""How many times as long compiling takes as loading what was compiled: 15 s against 0.7 s."""
_requested: dict[str, float] = {}  # work asked of each module of kernels before it was loaded


def has_numba() -> bool:
    """Say whether numba is installed."""
    return find_spec("numba") is not None


def choose_engine(engine: Engine, *, pays: bool) -> ChosenEngine:
    """Resolve "auto": "numba" where it `pays` and is installed.

    Refuse an engine that is unknown or not installed.

    >>> choose_engine("auto", pays=False)
    'numpy'
    """
    if engine == "numpy":
        return "numpy"
    if engine == "auto":
        return "numba" if pays and has_numba() else "numpy"
    if engine != "numba":
        raise UsageError(f"engine: expected one of {', '.join(get_args(Engine))}, got {engine!r}")
    if not has_numba():
        raise UsageError(
            f"engine 'numba' is not installed: use engine='numpy', or {install_hint('fast')}"
        )
    return "numba"


def load_kernels(
    kernels: str,
    engine: Engine,
    work: float,
    worth: float,
) -> ModuleType | None:
    """Import a module of compiled loops.

    Returns None where the engine is numpy, or "auto" and the work does not repay it.
    """
    chosen = choose_engine(engine, pays=repays_loading(kernels, work, worth))
    return import_module(kernels) if chosen == "numba" else None


def repays_loading(kernels: str, work: float, worth: float) -> bool:
    """Return whether compiled loops pay.

    They pay once loaded, or when all work requested so far, this included, is `worth` it, or what
    compiling takes if that was never done.
    """
    if kernels in sys.modules:
        return True
    _requested[kernels] = _requested.get(kernels, 0.0) + work
    return _requested[kernels] > worth * count_loads(kernels)


@cache
def count_loads(kernels: str) -> float:
    """Say how many times their loading the first use of compiled loops takes.

    This is 1 if numba has them on disk.
    """
    spec = find_spec(kernels)
    if spec is None or spec.origin is None:
        return _COMPILING
    source = Path(spec.origin)
    # Where numba may not write beside the source, it writes below the user's cache folder.
    folders = [source.parent / "__pycache__", *Path.home().glob(".cache/numba/*")]
    compiled = f"{source.stem}.*.nbi"
    return 1.0 if any(next(folder.glob(compiled), None) for folder in folders) else _COMPILING
