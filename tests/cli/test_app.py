"""The front of the command line: what it shows first, what it suggests, what a shell completes."""

import pytest

from bestresponse.cli.app import COMMANDS


def test_without_a_command_three_things_to_try_are_shown(bestresponse):
    done = bestresponse()
    assert done.returncode == 0
    commands = [
        line.split()[1] for line in done.stdout.splitlines() if line.startswith("  bestresponse ")
    ]
    assert commands == ["demo", "solve", "play"]


def test_help_lists_every_command_in_groups_before_the_options_and_the_sandbox_last(bestresponse):
    text = bestresponse("--help").stdout
    places = [
        text.index(f"\n{heading}:\n")
        for heading in ("Start here", "Games", "Measure models", "People", "Runs and tools")
    ]
    assert places == sorted(places)
    for name in COMMANDS:
        assert f"\n  {name} " in text
    assert (
        places[-1]
        < text.index("--version")
        < text.index("--help ")
        < text.index("--require-sandbox")
    )


@pytest.mark.parametrize(
    ("typed", "meant"), [("solv", "solve"), ("tournment", "tournament"), ("Bench", "bench")]
)
def test_a_mistyped_command_is_told_which_one_was_meant(bestresponse, typed, meant):
    done = bestresponse(typed)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"bestresponse: there is no command {typed!r}. Did you mean {meant}?"
    )


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("bestresponse so", ["solve"]),
        ("bestresponse tournament stag", ["stag-hunt", "stag-hunt-lelma"]),
        ("bestresponse solve kuhn", ["kuhn-poker", "kuhn-poker-3"]),
        ("bestresponse compare stag-hunt chi", ["chicken"]),
        ("bestresponse convert chi", ["chicken"]),
        ("bestresponse steer meet", ["meeting"]),
        ("bestresponse models pull qwen", ["qwen2.5-coder-1.5b"]),
        ("bestresponse reproduce lel", ["lelma"]),
        ("bestresponse formalize story.txt --model anth", ["anthropic/"]),
        ("bestresponse play kuhn", ["kuhn-poker", "kuhn-poker-3"]),
        ("bestresponse bench --model smol", ["smollm2"]),
        ("bestresponse bench --suite inv", ["invariance"]),
        (
            "bestresponse tournament chicken --entries tit-for-t",
            ["tit-for-tat", "tit-for-two-tats"],
        ),
        ("bestresponse run simul", ["simulate"]),
        ("bestresponse solve chicken --concept quan", ["quantal-response"]),
        ("bestresponse solve chicken --dynamics fic", ["fictitious-play"]),
        ("bestresponse solve chicken --method lem", ["lemke-howson"]),
        ("bestresponse bench --family cov", ["covariant"]),
        ("bestresponse bench --theme foot", ["football"]),
        ("bestresponse bench --elicit log", ["logprobs"]),
        ("bestresponse bench --settings llm", ["llm_seed="]),
        ("bestresponse check x.pl --as stag", ["stag-hunt"]),
        ("bestresponse simulate stag", ["stag-hunt", "stag-hunt-lelma"]),
        ("bestresponse simulate stag-hunt --others tit-for-t", ["tit-for-tat", "tit-for-two-tats"]),
    ],
)
def test_a_shell_completes_commands_games_models_strategies_and_studies(
    bestresponse, monkeypatch, words, offered
):
    monkeypatch.setenv("_BESTRESPONSE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert bestresponse().stdout.split() == offered
