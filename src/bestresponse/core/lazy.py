"""Make things on first use: public names of a package (PEP 562), values of a mapping.

A package lists its names once, as ordinary imports that only type checkers execute:

    if TYPE_CHECKING:
        from bestresponse.theory.equilibria.solve import nash as nash
    else:
        __getattr__, __dir__, __all__ = lazy_exports(__name__)

At run time `lazy_exports` reads the same lines, so type checkers see real types, the list cannot
disagree with itself and importing the package imports nothing else.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LazyMapping(Mapping[K, V]):
    """A mapping whose values are made on first access, each by a separate function."""

    def __init__(self, makers: Mapping[K, Callable[[], V]]) -> None:
        self._makers = {key: cache(make) for key, make in makers.items()}

    def __getitem__(self, key: K) -> V:
        return self._makers[key]()

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[K]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def lazy_exports(
    package: str, moved: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for `package`.

    They are made from its imports under `if TYPE_CHECKING`. `moved` says where old names are now.
    """
    exports = _read_exports(package)

    def __getattr__(name: str) -> object:
        if name not in exports:
            now = f"; it is {package}.{moved[name]} now" if moved and name in moved else ""
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{now}",
                name=name,
                obj=sys.modules[package],
            )
        module, attribute = exports[name]
        home = import_module(module)
        value = (
            getattr(home, attribute)
            if module != package and hasattr(home, attribute)
            else import_module(f"{module}.{attribute}")
        )
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__, lambda: sorted(exports), sorted(exports)


def _read_exports(package: str) -> dict[str, tuple[str, str]]:
    """Map each public name to the module and the attribute it comes from."""
    exports: dict[str, tuple[str, str]] = {}
    # By name, because importing the class of such loaders takes as long as the rest of this
    # package.
    read = getattr(getattr(sys.modules[package].__spec__, "loader", None), "get_source", None)
    source: str | None = None if read is None else read(package)
    if source is None:
        raise ImportError(
            f"the source of {package} cannot be read, and with it the list of its public names"
        )
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ):
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    exports |= {
                        alias.asname or alias.name: (line.module, alias.name)
                        for alias in line.names
                    }
    return exports
