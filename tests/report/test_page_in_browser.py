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


HOSTILE = '<img src=x onerror="document.title=1"></script><script>document.title=2</script>\u2028 B'


@pytest.fixture
def hostile_plays(tmp_path):
    """The page of five plays in which a model writes markup into its answers."""
    run = sample_runs.bench_run(tmp_path, 5, HOSTILE + ' {"A": 0.5, "B": 0.5}')
    run.publish()
    return f"file://{run.path / 'plays.html'}"


def test_plays_are_listed_filtered_and_opened_from_a_disk(chromium, tmp_path):
    run = sample_runs.tournament_run(tmp_path)
    run.publish()
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"file://{run.path / 'report.html'}")
    page.get_by_role("link", name="Read the plays one by one").click()
    page.get_by_text("3 of 3 plays").wait_for()
    page.get_by_label("Show").select_option("unread")
    page.get_by_text("0 of 3 plays").wait_for()
    page.get_by_label("Show").select_option("wrong")
    page.get_by_label("Find").fill("tit-for-tat")
    page.get_by_text("2 of 3 plays").wait_for()
    page.get_by_role("link", name="1. repeated prisoners-dilemma").click()
    page.locator(".turn").first.wait_for()
    assert page.locator(".turn").count() == 4
    assert "Earned before this: row 3, col 3" in page.locator(".turn").nth(2).inner_text()
    page.locator("summary").first.click()
    assert page.locator(".turn pre").first.is_visible()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("heading", name="2. repeated prisoners-dilemma").wait_for()
    page.close()


def test_what_a_model_wrote_is_text_in_the_page_of_plays(chromium, hostile_plays):
    page = chromium.new_page()
    page.goto(f"{hostile_plays}#1")
    page.locator("blockquote").first.wait_for()
    assert "<img src=x onerror=" in page.locator("blockquote").first.inner_text()
    assert page.locator("img").count() == 0
    assert page.title() == "Plays: How far from optimal?"
    page.close()


@pytest.mark.parametrize("place", ["", "#1"])
def test_no_page_of_plays_is_cut(place, chromium, hostile_plays):
    for width in WIDTHS:
        page = chromium.new_page(viewport={"width": width, "height": 900})
        page.goto(hostile_plays + place)
        page.locator(".turn" if place else "#rows td").first.wait_for()
        assert page.evaluate(CUT) == [], width
        page.close()
