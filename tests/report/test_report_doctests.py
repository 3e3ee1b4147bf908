"""The examples in the docstrings of the report package are true."""

import doctest
import importlib
import pkgutil

import pytest

import bestresponse.report

MODULES = sorted(module.name for module in pkgutil.iter_modules(bestresponse.report.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_are_true(name):
    assert doctest.testmod(importlib.import_module(f"bestresponse.report.{name}")).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_a_module_promises_exists(name):
    module = importlib.import_module(f"bestresponse.report.{name}")
    assert list(module.__all__) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)
