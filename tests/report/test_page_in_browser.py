"""In a real browser: no page of a study is cut, at the width of a phone, a laptop or a large
screen."""

import shutil

import pytest
import sample_runs
from browser_processes import kill_driver_after

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.drawn]

WIDTHS = (390, 1200, 1900)
# Everything that holds more than it shows, but for heads that are there for screen readers only.
CUT = """() => [...document.querySelectorAll("body, body *")]
  .filter((part) => part.clientWidth > 2 && !part.closest("thead, svg"))
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .filter((part) => getComputedStyle(part).display !== "inline")
  .map((part) => `${part.tagName}.${part.className}`)"""


@pytest.fixture(scope="module")
def chromium():
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium")
    driver = sync_api.sync_playwright().start()
    opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
    yield opened
    with kill_driver_after(20):
        opened.close()
        driver.stop()


@pytest.mark.parametrize("study", sorted(sample_runs.MAKERS))
def test_no_report_is_cut(study, chromium, tmp_path):
    make, _ = sample_runs.MAKERS[study]
    run = make(tmp_path)
    run.publish()
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.goto(f"file://{run.path / 'report.html'}")
            assert page.evaluate(CUT) == [], (width, scheme)
            page.close()
