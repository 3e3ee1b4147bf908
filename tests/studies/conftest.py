"""What the tests of studies share."""

from outlines import outlined_figures  # noqa: F401 - for all tests below
