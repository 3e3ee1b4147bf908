"""The page: self-contained, deterministic, well-formed, and safe whatever a model writes."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.report.document import (
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.page import render
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.text import abridged, visible

VOID = {"meta", "img", "br", "hr", "link", "input"}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Reader(HTMLParser):
    """Checks that elements nest, and collects tags, attributes and text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def everywhere(text):
    """A document with `text` in every place that takes text."""
    blocks = (
        Paragraph(text),
        Note(text),
        Note(text, "warning"),
        Table((Column(text, help=text), Column("b")), ((text, 1),), caption=text),
        Figure(PIXEL, text, text),
        Code(text, text),
        Quote(text, text),
        KeyValues(((text, text),)),
        KeyValues(((text, text),), prominent=True),
    )
    return Document(
        text, text, (Section(text, blocks, text), Section(text, blocks, text)), blocks, text
    )


HARMLESS = Reader(render(everywhere("words")))


def test_the_demo_is_well_formed_and_complete(demo):
    reader = Reader(render(demo))
    assert reader.tags.count("section") == 7
    assert reader.tags.count("img") == 6
    assert reader.tags.count("blockquote") == 1
    assert "0.192" in reader.text


def test_the_page_loads_nothing_from_anywhere(demo):
    page = render(demo)
    for _, name, value in Reader(page).attributes:
        if name in ("src", "href", "action", "srcset", "poster", "data", "xlink:href"):
            assert value.startswith(("#", "data:image/"))
    assert not re.search(r"https?://|url\(|@import", page)


def test_figures_load_nothing_from_anywhere(demo):
    for section in demo.sections:
        for block in section.blocks:
            if isinstance(block, Figure):
                targets = re.findall(rb"(?:href|src)=\"([^\"]*)\"|url\(([^)]*)\)", block.image)
                assert all((address or target).startswith(b"#") for address, target in targets)


def test_the_same_document_gives_the_same_bytes(demo):
    assert render(demo) == render(demo)


def test_the_policy_allows_exactly_the_one_style_and_script(demo):
    page = render(demo)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for element in ("style", "script"):
        [source] = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy


def test_no_element_carries_style_or_handlers_which_the_policy_would_block(demo):
    names = {name for _, name, _ in Reader(render(demo)).attributes}
    assert not {name for name in names if name == "style" or name.startswith("on")}


ATTACKS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style></title></textarea><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "]]><svg/onload=alert(1)>",
    "&lt;b&gt;&#60;",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_model_text_stays_text_everywhere(attack):
    reader = Reader(render(everywhere(attack)))
    assert reader.tags == HARMLESS.tags
    assert [attribute[:2] for attribute in reader.attributes] == [
        attribute[:2] for attribute in HARMLESS.attributes
    ]
    assert reader.text.count(attack) == HARMLESS.text.count("words")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60).filter(str.strip))
def test_no_text_whatever_adds_an_element_or_fails_to_encode(text):
    page = render(everywhere(text))
    page.encode()
    reader = Reader(page)
    assert [tag for tag in reader.tags if tag not in ("span", "p")] == [
        tag for tag in HARMLESS.tags if tag not in ("span", "p")
    ]


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\x00", "\x1b", "\u200b", "\ufeff", "\ud800", "\U000e0041"]
)
def test_hidden_characters_are_shown_by_their_code_point(character):
    page = render(everywhere(f"a{character}b"))
    assert character not in page
    assert f'<span class="hidden-character">U+{ord(character):04X}</span>' in page
    assert f'alt="a⟦U+{ord(character):04X}⟧b"' in page


def test_ordinary_writing_in_any_language_is_left_alone():
    text = "naïve 策略 שלום мир 👩‍🔬 a\tb\nc"
    assert visible(text) == text


def test_huge_text_is_cut_where_the_reader_sees_it():
    page = render(Document("t", sections=(Section("s", (Quote("x" * 1_000_000),)),)))
    assert "[996,000 more characters not shown]" in page
    assert len(page) < 100_000
    assert abridged("abc", 3) == "abc"


def test_a_huge_table_says_how_much_of_it_is_shown():
    page = render(
        Document(
            "t",
            sections=(Section("s", (Table((Column("n"),), tuple((n,) for n in range(2500))),)),),
        )
    )
    assert page.count("<tr>") == 1001
    assert "The first 1,000 of 2,500 rows are shown" in page


def cell(value, spec=".2f"):
    page = render(
        Document("t", sections=(Section("s", (Table((Column("c", format=spec),), ((value,),)),)),))
    )
    return " ".join(Reader(re.search(r"<td.*</td>", page)[0]).text.split())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.126, "0.13"),
        (3, "3.00"),
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (-0.001, "0.00"),
        (True, "yes"),
        ("words", "words"),
        (Interval(0.5, float("-inf"), 0.75, 0.95, "none", 2), "0.50 [-∞, 0.75]"),
        (Interval(0.5, 0.25, 0.75, 0.95, "bca", 9), "0.50 [0.25, 0.75]"),
        (Interval(0.5, float("-inf"), float("inf"), 0.95, "none", 1), "0.50 [no interval: n = 1]"),
    ],
)
def test_cells_are_shown_in_the_format_of_their_column(value, shown):
    assert cell(value) == shown


def test_without_a_format_whole_numbers_are_grouped_and_others_short():
    assert cell(1234567, "") == "1,234,567"
    assert cell(0.123456, "") == "0.1235"


def test_sections_with_the_same_title_have_their_own_addresses():
    page = render(
        Document("t", sections=(Section("Überblick"), Section("Überblick"), Section("策略")))
    )
    assert re.findall(r'<section id="([^"]*)"', page) == ["uberblick", "uberblick-2", "section"]
    assert re.findall(r'<li><a href="#([^"]*)"', page) == ["uberblick", "uberblick-2", "section"]


def test_an_empty_document_and_an_empty_table_are_pages_too():
    Reader(render(Document("")))
    assert "No rows." in render(Document("t", sections=(Section("s", (Table((), ()),)),)))
