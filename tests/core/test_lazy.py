"""Public names that are imported when they are first used."""

import inspect
import re
import subprocess
import sys

import pytest

import bestresponse as br
from bestresponse.core.episode import Episode
from bestresponse.core.lazy import lazy_exports


def test_a_package_among_the_public_names_is_there_before_anything_else_was_used():
    script = "import bestresponse as br; print(br.runs.executors.Threads.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.split() == ["Threads"]


def test_public_names_are_listed_and_imported_and_others_are_no_attributes():
    get, listed, names = lazy_exports("bestresponse.core")
    assert listed() == names == sorted(names)
    assert get("Episode") is Episode
    with pytest.raises(
        AttributeError, match=r"module 'bestresponse\.core' has no attribute 'Epsiode'"
    ):
        get("Epsiode")


def test_an_old_name_says_where_it_is_now():
    for name, now in br._MOVED.items():
        with pytest.raises(AttributeError, match=rf"it is bestresponse\.{re.escape(now)} now"):
            getattr(br, name)
        module, _, kept = now.partition(".")
        assert getattr(getattr(br, module), kept) is not None


def test_the_package_shows_verbs_and_modules_and_few_of_them():
    modules = {name for name in dir(br) if inspect.ismodule(getattr(br, name))}
    assert {"water", "dialogue", "players", "games", "theory"} <= modules
    assert len(set(dir(br)) - modules) <= 33
