"""A plugin of pytest that runs the one row of a parametrised test whose id is given by --row."""


def pytest_addoption(parser):
    parser.addoption("--row", help="the id of the row")


def pytest_collection_modifyitems(config, items):
    row = config.getoption("--row")
    items[:] = [item for item in items if hasattr(item, "callspec") and item.callspec.id == row]
