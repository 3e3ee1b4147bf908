"""A browser for the tests that need one; they are skipped where there is none."""

import shutil
from contextlib import suppress

import pytest
from browser_processes import kill_driver_after

BROWSERS = ("chromium-headless-shell", "chromium")
"""The first is Chromium without windows, which takes half the processor time."""
PATIENCE = 120_000
TO_CLOSE = 120
"""Seconds after which a browser that does not close is ended from outside."""

EXPECTED = (
    "422",
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
    "ERR_FAILED",
    "ERR_INTERNET_DISCONNECTED",
)
"""What a browser writes into its console where a form is refused, or a test cuts the line or kills
the server."""


@pytest.fixture
def site(tmp_path):
    pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
    from browser import Site

    found = Site(tmp_path)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("Chromium is not installed (apt-get install chromium-headless-shell)")
    driver = playwright.sync_playwright().start()
    yield driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
    with kill_driver_after(TO_CLOSE), suppress(playwright.Error):
        driver.stop()


def leave(page):
    """Show nothing any more. To close a page while a form of its is on the way may wait without
    end."""
    from playwright.sync_api import Error

    for _ in range(10):
        with suppress(Error):  # the answer to the form came meanwhile
            page.goto("about:blank")
            return


@pytest.fixture
def people(chromium):
    """Opens pages, each for a person with a browser of their own; complains about anything in the
    console."""
    complaints, contexts = [], []

    def person(link):
        contexts.append(chromium.new_context())
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(link)
        return page

    yield person
    with kill_driver_after(TO_CLOSE):
        for context in contexts:
            for page in context.pages:
                leave(page)
            context.close()
    unexpected = [text for text in complaints if not any(one in text for one in EXPECTED)]
    assert unexpected == []
