"""A pytest session that tries mutants: tests are collected once, and every mutant gets a fork of
the session."""

from __future__ import annotations

import ast
import gc
import inspect
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import _lru_cache_wrapper
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import coverage
import pytest

_LEAST = (
    10.0  # seconds of the processor that every mutant gets, beside three times what its tests took
)
# seconds of the processor more where a fresh process imports the package and collects the tests
_STARTING = 60.0
# a mutant that waits for ever uses no processor: it is ended after so many times as long on the
# wall
_STUCK = 20
_RUNNER = os.getppid()


class Unreachable(Exception):
    """The code of a function cannot be exchanged while it is loaded."""


class _Session:
    """The plugin: runs instead of the tests, when they are collected."""

    def __init__(
        self, mutants, source: Path, copied: Path, folder: Path, end: float, sender
    ) -> None:
        self.mutants, self.source, self.copied, self.folder = mutants, source, copied, folder
        self.end, self.sender = end, sender
        self.failed = False

    def pytest_runtest_logreport(self, report) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("some tests cannot be collected")
        self._import_modules()
        self.functions = find_functions()
        self.caches = find_caches((self.source, session.config.rootpath / "tests"))
        reached, on_import = self._learn(session), self._list_import_lines()
        gc.collect()
        gc.freeze()  # no fork looks through what they all share
        for mutant in self.mutants:
            if time.monotonic() > self.end:
                break
            if any((str(mutant.file), line) in on_import for line in mutant.lines):
                # Its function has done its work by now, such as making a column.
                mutant = replace(mutant, function=None)
            tests = sorted(
                {test for line in mutant.lines for test in reached[str(mutant.file), line]}
            )
            if (
                mutant.function is None
            ):  # a constant may be seen by any test, but first by those of its own module
                lines = {
                    line: found
                    for (file, line), found in reached.items()
                    if file == str(mutant.file)
                }
                near = sorted(set().union(*lines.values()))
                tests = [*near, *sorted(set().union(*reached.values()) - set(near))]
            self.sender.send((self._try(session, mutant, tests), str(mutant)))
        return True

    def _learn(self, session) -> dict[tuple[str, int], set[tuple[float, int]]]:
        """Run all tests once; tell for each line of the source which of them (duration, number) run
        through it."""
        kept = self.folder / "reached"
        if self._fork(session, lambda: self._trace(session, kept), 3600):
            raise session.Interrupted("a test fails without any change")
        return pickle.loads(kept.read_bytes())

    def _import_modules(self) -> list[str]:
        """Import every module that has a mutant; return their names."""
        files = sorted({mutant.file for mutant in self.mutants})
        words = [file.relative_to(self.source.parent).with_suffix("").parts for file in files]
        names = [".".join(parts).removesuffix(".__init__") for parts in words]
        for name in names:
            import_module(name)
        return names

    def _list_import_lines(self) -> set[tuple[str, int]]:
        """List the lines, as (file, line), that run while a fresh process imports the modules."""
        kept = self.folder / "imported"
        code = (
            "import coverage, pickle, sys\nfrom importlib import import_module\nseen ="
            " coverage.Coverage(data_file=None, include=[sys.argv[1]],"
            " config_file=False)\nseen.start()\nfor name in sys.argv[3:]:"
            " import_module(name)\nseen.stop()\ndata = seen.get_data()\nlines = {(file, line) for"
            " file in data.measured_files() for line in data.lines(file)}\nopen(sys.argv[2],"
            " 'wb').write(pickle.dumps(lines))\n"
        )
        words = [sys.executable, "-c", code, f"{self.source}/*", str(kept), *self._import_modules()]
        subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": str(self.source.parent)})
        return pickle.loads(kept.read_bytes())

    def _trace(self, session, kept: Path) -> bool:
        measured = coverage.Coverage(
            data_file=None, include=[f"{self.source}/*"], config_file=False
        )
        reached: dict[tuple[str, int], set[tuple[float, int]]] = defaultdict(set)
        seconds = []
        measured.start()
        for number, item in enumerate(session.items):
            measured.switch_context(str(number))
            began = time.process_time()
            self._clear_caches()  # what one test has computed another may reach as well
            self._run(
                session, number, None
            )  # fixtures are made again for every test: each of them reaches their lines
            seconds.append(time.process_time() - began)
            if self.failed:
                raise SystemExit(f"{item.nodeid} fails without any change")
        measured.stop()
        data = measured.get_data()
        for file in data.measured_files():
            for line, contexts in data.contexts_by_lineno(file).items():
                reached[file, line] = {
                    (seconds[int(number)], int(number)) for number in contexts if number
                }
        kept.write_bytes(pickle.dumps(reached))
        return False

    def _try(self, session, mutant, tests: list[tuple[float, int]]) -> str:
        """Say what the tests made of a mutant: killed, timeout, survived or unreached."""
        if not tests:
            return "unreached"
        seconds, outcome = _LEAST + 3 * sum(duration for duration, _ in tests), 3
        if mutant.function is not None:
            outcome = self._fork(session, lambda: self._test(session, mutant, tests), seconds)
        if outcome == 3:
            outcome = self._import_afresh(session, mutant, tests, _STARTING + seconds)
        # 1 is a failed test, 2 and 4 are tests and settings that cannot be imported.
        return {0: "survived", 1: "killed", 2: "killed", 4: "killed"}.get(outcome, "timeout")

    def _test(self, session, mutant, tests: list[tuple[float, int]]) -> int:
        try:
            exchange(mutant, self.functions)
        except Unreachable:
            return 3
        self._clear_caches()
        order = [number for _, number in tests]
        for number, following in zip(order, [*order[1:], None], strict=True):
            self._run(session, number, None if following is None else session.items[following])
            if self.failed:
                return 1
        return 0

    def _clear_caches(self) -> None:
        for cache in self.caches:
            cache.cache_clear()

    def _run(self, session, number: int, following) -> None:
        item = session.items[number]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _import_afresh(
        self, session, mutant, tests: list[tuple[float, int]], seconds: float
    ) -> int:
        """Run the tests that reach the module in a process that imports the changed source."""
        file = self.copied / "bestresponse" / mutant.file.relative_to(self.source)
        original = file.read_bytes()
        file.write_text(ast.unparse(mutant.parse()), encoding="utf-8")
        names = [session.items[number].nodeid for _, number in tests]
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *names]
        try:
            return self._fork(session, lambda: self._start(session, words), seconds)
        finally:
            file.write_bytes(original)

    def _start(self, session, words: list[str]) -> int:
        os.chdir(session.config.rootpath)
        environment = {**os.environ, "PYTHONPATH": str(self.copied), "PYTHONDONTWRITEBYTECODE": "1"}
        os.execve(words[0], words, environment)

    def _fork(self, session, work, seconds: float) -> int:
        """Do `work` in a fork of this process; give what it returns, or a negative number when it
        is ended.

        The limit counts seconds of the processor, so that no outcome depends on what else the
        machine does.
        """
        place, wall = self.folder / "tests", _STUCK * seconds
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.alarm(int(wall) + 2)  # should the parent be killed
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
                place.mkdir(exist_ok=True)
                session.config._tmp_path_factory._basetemp = place
                os._exit(int(work()))
            except BaseException:  # noqa: BLE001 - whatever a fork raises, it must not go on as its parent
                traceback.print_exc()
                os._exit(1)
        status = _wait(child, wall)
        shutil.rmtree(place, ignore_errors=True)
        return os.waitstatus_to_exitcode(status)


def _wait(child: int, seconds: float) -> int:
    """Give the status with which a child ends, in time or because its time is over; it never
    outlives this process."""
    end, pause, found = time.monotonic() + seconds, 0.001, 0
    try:
        while not found and time.monotonic() < end:
            if os.getppid() != _RUNNER:
                sys.exit("the runner is gone")
            time.sleep(pause)
            pause = min(0.05, pause * 1.3)
            found, status = os.waitpid(child, os.WNOHANG)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    return status if found else os.waitpid(child, 0)[1]


def find_functions() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Find every loaded function by file, name and line."""
    found = defaultdict(list)
    gc.unfreeze()  # what was set aside when the tests began would not be listed
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            code = thing.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(thing)
    return found


def find_caches(folders: Iterable[Path]) -> list[_lru_cache_wrapper]:
    """Find the caches of loaded functions whose source lies in these folders."""
    caches = [thing for thing in gc.get_objects() if isinstance(thing, _lru_cache_wrapper)]
    functions = [inspect.unwrap(cache) for cache in caches]
    return [
        cache
        for cache, function in zip(caches, functions, strict=True)
        if isinstance(function, FunctionType)
        and any(Path(function.__code__.co_filename).is_relative_to(folder) for folder in folders)
    ]


def exchange(mutant, loaded: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    """Give every loaded function in which the mutant stands the changed code, and those that it had
    made before."""
    name, line = mutant.function
    parts = _find_parts(compile(mutant.parse(), str(mutant.file), "exec"))
    code = next(part for part in parts if (part.co_qualname, part.co_firstlineno) == (name, line))
    if not loaded[str(mutant.file), name, line]:
        raise Unreachable
    for part in [code, *_find_parts(code)]:
        for function in loaded.get((str(mutant.file), part.co_qualname, part.co_firstlineno), []):
            try:
                function.__code__ = part
            except ValueError as error:
                raise Unreachable from error


def _find_parts(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all that is defined within `code`."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _find_parts(inner)


def serve(
    words: list[str], mutants, source: Path, copied: Path, folder: Path, end: float, sender
) -> int:
    """Collect the tests that `words` name and try the mutants; 0 where that was possible."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    plugin = _Session(mutants, source, copied, folder, end, sender)
    return int(pytest.main(["-q", "-s", "-p", "no:cacheprovider", *words], plugins=[plugin]))
