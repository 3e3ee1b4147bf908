"""Every template has a model that names what it may use, and uses all of it."""

from dataclasses import dataclass, fields

import pytest
from jinja2 import DictLoader
from jinja2.exceptions import UndefinedError
from template_names import find_free, list_faults, list_subclasses, list_together

from bestresponse.core.episode import Void
from bestresponse.report.page import PageModel, ReportPage, fill_page, report_environment
from bestresponse.report.viewer import ViewerPage
from bestresponse.web import pages, render
from bestresponse.web.render import _environment
from bestresponse.web.services import situation

MACROS = {"blocks.html", "fields.html", "pictures.html", "story.html"}
"""Templates that others import: their macros are given everything."""
OFFLINE = [ReportPage, ViewerPage]
HOMES = {module.__name__ for module in (pages, render, situation)}
SITE = [model for model in list_subclasses(PageModel) if model.__module__ in HOMES]


def find_environment(model):
    return report_environment() if model in OFFLINE else _environment()


@pytest.mark.parametrize("model", [*SITE, *OFFLINE], ids=lambda model: model.__name__)
def test_a_template_uses_the_fields_of_its_model_and_no_other_name(model):
    environment = find_environment(model)
    names = {field.name for field in fields(model)}
    free = find_free(environment, model.template)
    assert free - names <= set(environment.globals)
    assert names <= free


@pytest.mark.parametrize("model", [*SITE, *OFFLINE], ids=lambda model: model.__name__)
def test_a_template_uses_attributes_that_the_fields_have(model):
    assert list_faults(find_environment(model), model) == []


def test_every_template_is_the_page_of_one_model_or_a_part_of_others():
    shown = sorted(model.template for model in SITE)
    parts = {part for model in SITE for part in list_together(_environment(), model.template)[1:]}
    assert len(set(shown)) == len(shown)
    assert {*shown, *parts, *MACROS} == {
        name for name in _environment().list_templates() if name.endswith(".html")
    }
    assert sorted(model.template for model in OFFLINE) == [
        name for name in report_environment().list_templates() if name.endswith(".html")
    ]


@pytest.mark.parametrize("name", sorted(MACROS))
def test_macros_use_nothing_but_what_they_are_given(name):
    assert find_free(_environment(), name) <= set(_environment().globals)


@dataclass(frozen=True)
class LostPlays(PageModel):
    template = "lost.html"

    plays: list[Void]


def read(text):
    environment = _environment().overlay(loader=DictLoader({"lost.html": text}))
    environment.cache.clear()
    return environment


def test_a_name_that_the_model_does_not_have_is_found_and_refused():
    environment = read("{{ plays | length }} {{ playz }}")
    assert find_free(environment, "lost.html") == {"plays", "playz"}
    with pytest.raises(UndefinedError, match="'playz' is undefined"):
        fill_page(environment, LostPlays([Void("row", "it said nothing")]))


@pytest.mark.parametrize(
    "text",
    [
        "{% for one in plays %}{{ one.reason }}{% endfor %}",
        "{{ plays[0].reason }}",
        "{{ plays | selectattr('reason') | list }}",
        "{% set first = plays[0] %}{{ first.reason }}",
        "{% for number, one in [] %}{% endfor %}{% for one in plays if one.reason %}{% endfor %}",
    ],
)
def test_an_attribute_that_a_class_does_not_have_is_found(text):
    assert list_faults(read(text), LostPlays) == ["lost.html:1: Void has no reason"]


def test_an_attribute_that_a_class_has_is_none_of_the_faults():
    text = "{% for one in plays %}{{ one.why }}{% endfor %}{{ (plays | first).reason }}"
    assert list_faults(read(text), LostPlays) == []
