"""The texts of reports use what a run has, and settings that the study has."""

from dataclasses import fields
from typing import Any

import pytest
from template_names import read_text

from bestresponse.report.blocks import TextNames
from bestresponse.runs.study import find_study, studies

NAMES = {field.name: Any for field in fields(TextNames)}


def list_texts(study):
    """List the texts of a study that are templates."""
    texts = [study.title, study.subtitle, study.own.closing]
    for block in study.report:
        texts += [getattr(block, name, "") for name in ("template", "caption")]
    return [text for text in texts if "{" in text]


@pytest.mark.parametrize("name", studies.names())
def test_texts_of_a_report_use_names_that_they_are_given_and_settings_of_the_study(name):
    study = find_study(name)
    for text in list_texts(study):
        assert read_text(text, NAMES | {"config": study.config}) == (set(), [])


def test_a_setting_that_a_study_does_not_have_is_found():
    config = find_study("bench").config
    free, faults = read_text(
        "{{ config.games }} {{ config.gamse }} {{ figure }}", {"config": config}
    )
    assert free == {"figure"}
    assert faults == [f"text:1: {config.__name__} has no gamse"]


def test_most_studies_have_texts():
    counted = {name: len(list_texts(find_study(name))) for name in studies.names()}
    assert counted["bench"] > 3
