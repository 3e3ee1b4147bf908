"""Reports without drawn pictures."""

from outlines import outlined_figures  # noqa: F401 - for all tests below
