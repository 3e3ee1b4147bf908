"""Wait for what another process or thread does, with an end."""

import time


def wait_until(condition, seconds=300.0, pause=0.005):
    """Return when `condition()` holds; fail the test where it does not come about. Nothing may depend on how long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come about within {seconds:g} seconds"
        time.sleep(pause)
