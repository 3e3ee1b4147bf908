"""`bestresponse warm`: compile the fast solvers ahead of their first use."""

from time import perf_counter

from bestresponse.core.errors import UsageError
from bestresponse.core.extras import install_hint
from bestresponse.theory.engines import has_numba


def warm_command() -> None:
    """Compile the fast solvers now and keep them on disk, so that no later command has to wait.

    Otherwise slower solvers do the work until there is enough of it to make compiling worthwhile.
    """
    if not has_numba():
        raise UsageError(f"there is nothing to compile without numba: {install_hint('fast')}")
    from bestresponse.theory.kernels_ahead import STEPS

    for step in STEPS:
        start = perf_counter()
        step.use()
        print(f"{step.words}: {perf_counter() - start:.1f} s", flush=True)
