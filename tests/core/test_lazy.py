"""Public names that are imported when they are first used."""

import subprocess
import sys


def test_a_package_among_the_public_names_is_there_before_anything_else_was_used():
    script = "import bestresponse as br; print(br.executors.Threads.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Threads"]
