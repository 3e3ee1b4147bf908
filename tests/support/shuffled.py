"""A plugin that runs the test files in random order: `PYTHONPATH=tests/support pytest -p shuffled
--shuffle SEED`."""

import random


def pytest_addoption(parser):
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the test files in an order drawn from SEED"
    )


def pytest_report_header(config):
    seed = config.getoption("--shuffle")
    return None if seed is None else f"test files in random order: --shuffle {seed}"


def pytest_collection_modifyitems(config, items):
    seed = config.getoption("--shuffle")
    if seed is not None:
        items[:] = shuffle_files(items, seed)


def shuffle_files(items, seed):
    """Draw an order of the files; the tests of a file stay together and in order."""
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = sorted(files)
    random.Random(seed).shuffle(order)
    return [item for path in order for item in files[path]]
