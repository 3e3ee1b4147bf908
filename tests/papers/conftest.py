"""Promises about pictures look at drawn ones; all others read reports without."""

from outlines import outlined_figures  # noqa: F401 - for all tests below
