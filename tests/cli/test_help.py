"""The help of every command: one style of placeholders, options in groups, nothing without use."""

import re

import pytest
import typer

from bestresponse.cli.app import app
from bestresponse.cli.help import GROUPS, group_options, name_option


def list_commands(words, command):
    """Yield every command with the words that are typed for it."""
    yield words, command
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from list_commands(f"{words} {name}", command.get_command(context, name))


COMMANDS = dict(list_commands("bestresponse", typer.main.get_command(app)))


@pytest.mark.parametrize("words", COMMANDS)
def test_no_help_shows_a_python_type_where_a_value_is_typed(words):
    command = COMMANDS[words]
    help_text = command.get_help(typer.Context(command, info_name=words))
    assert re.findall(r"<\w+[\w\[\] ]*>|\{\w+\}|\[\[", help_text) == []
    assert "x<=" not in help_text


@pytest.mark.parametrize("words", COMMANDS)
def test_every_value_of_an_option_has_a_placeholder_in_capitals_or_its_choices(words):
    for parameter in COMMANDS[words].params:
        if getattr(parameter, "is_flag", False):
            assert parameter.metavar in (None, "")
        else:
            assert re.fullmatch(r"\[?[A-Z][A-Z/=-]*\]?|\[[^\[\]]+\]", str(parameter.metavar))


def test_a_command_with_many_options_shows_its_own_first_and_the_rest_in_groups():
    groups = group_options("bench", COMMANDS["bestresponse bench"].params)
    assert list(groups) == [
        "What to play",
        "Models",
        "Budget and speed",
        "Checks of the result",
        "Output",
        "Other",
    ]
    assert [name_option(option) for option in groups["Checks of the result"]] == [
        "against",
        "fail-if",
        "junit",
    ]
    assert name_option(groups["Models"][0]) == "model"


def test_a_command_with_few_options_shows_them_in_one_group():
    assert list(group_options("convert", COMMANDS["bestresponse convert"].params)) == ["Options"]


def test_every_option_that_is_grouped_by_name_exists_in_some_command():
    grouped = {name for names in GROUPS.values() for name in names}
    known = {name_option(each) for command in COMMANDS.values() for each in command.params}
    assert grouped - known == {"help"}


def test_commands_that_ask_no_model_and_make_no_plays_offer_no_settings_for_them():
    offered = {name_option(option) for option in COMMANDS["bestresponse import"].params}
    of_all = {"quiet", "verbose"}
    assert offered == {"file", "mapping", "output", "figures", "json", "settings"} | of_all


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        # usage: what was typed cannot be carried out
        ("nosuch", 2),
        ("solve", 2),
        ("solve nosuch", 2),
        ("solve chicken --nosuch", 2),
        ("solve chicken --concept nosuch", 2),
        ("solve chicken --method nosuch", 2),
        ("bench --num-games 0", 2),
        ("bench --model nosuch --num-games 1", 2),
        ("tournament chicken --entries nosuch", 2),
        ("report nosuch", 2),
        # content: what was read is wrong
        ("check broken.pl", 1),
        ("solve broken.nfg", 1),
        ("solve broken.json", 1),
        ("compare chicken stag-hunt", 1),
    ],
)
def test_wrong_usage_ends_with_2_and_wrong_content_with_1(
    bestresponse, typed, code, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for suffix in ("pl", "nfg", "json"):
        (tmp_path / f"broken.{suffix}").write_text("possible(", "utf-8")
    assert bestresponse(*typed.split()).returncode == code


def test_economists_type_lambda_where_the_library_says_precision(bestresponse):
    command = ("solve", "chicken", "--concept", "quantal-response", "--json", "--set")
    by_lambda = bestresponse(*command, "lambda=2").stdout
    assert '"precision": 2.0' in by_lambda
    assert by_lambda == bestresponse(*command, "precision=2").stdout
