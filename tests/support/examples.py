"""How many examples Hypothesis tries: as many as each test says, or many times more when
exploring."""

from hypothesis import settings

EXPLORE_FACTOR = 20
USUAL = 100


def multiply_examples(tests, factor):
    """Let every test that names its own number of examples try `factor` times as many.

    A profile changes only tests without a number of their own, so the number stored by @settings is
    replaced. Where Hypothesis keeps it is not part of its interface; tests/test_support.py fails
    when that changes.
    """
    for test in tests:
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples != settings.default.max_examples:
            test._hypothesis_internal_use_settings = settings(
                own, max_examples=own.max_examples * factor
            )
