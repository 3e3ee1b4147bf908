"""Settings of all tests: nothing is explored at random unless asked for with `--hypothesis-profile=explore`."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None, print_blob=True, max_examples=2_000)
settings.load_profile("fixed")
