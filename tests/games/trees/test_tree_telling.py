"""What a tree from a file tells its players, in every command that asks somebody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import BestResponseError, SettingError, TooLarge
from bestresponse.core.game import NATURE
from bestresponse.games.lookup import find_game
from bestresponse.games.trees.game import TreeGame
from bestresponse.telling.render import word_rules, write_history, write_rules
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree

SIGNAL = """EFG 2 R "signal" { "Ann" "Bob" }
c "" 1 "" { "strong" $STRONG "weak" $WEAK } 0
p "" 1 1 "" { "raise" "fold" } 0
p "" 2 1 "" { "call" "drop" } 0
t "" 1 "" { 3, 0 }
t "" 2 "" { 0, 1 }
t "" 3 "" { 1, 1 }
p "" 1 2 "" { "raise" "fold" } 0
p "" 2 1 "" { "call" "drop" } 0
t "" 4 "" { -1, 2 }
t "" 5 "" { 1/3, 0 }
t "" 6 "" { 1, 1 }
"""

BOB_IS_TOLD = """You are Bob in the game signal, played by Ann, Bob.

This is the whole game. Below every choice and every draw stand its options, indented, each \
with what follows it: who chooses next, that chance draws next, or what the players get because the game ends.

Chance draws:
- strong (probability $STRONG): Ann chooses:
  - raise: Bob chooses [a]:
    - call: Ann gets 3, Bob gets 0
    - drop: Ann gets 0, Bob gets 1
  - fold: Ann gets 1, Bob gets 1
- weak (probability $WEAK): Ann chooses:
  - raise: Bob chooses [a]:
    - call: Ann gets -1, Bob gets 2
    - drop: Ann gets 1/3, Bob gets 0
  - fold: Ann gets 1, Bob gets 1

A letter in brackets marks positions that look alike: a player who chooses at one of them does not know which of the \
positions with this letter has been reached. At a position without a letter the player knows everything that has \
happened before.
- [a] Bob knows only this: chance drew strong or weak; Ann chose raise.

Your aim is to make your own expected payoff as large as possible."""

BOBS_TURN = (
    "It is your turn. So far: chance drew strong or weak, Ann chose raise. You are at one of the"
    " positions marked [a]."
)
REFUSED = "long has 2,187 ends; telling it takes more than 17,000 tokens"


def with_odds(text: str, strong: str, weak: str) -> str:
    return text.replace("$STRONG", strong).replace("$WEAK", weak)


@pytest.fixture
def signal(tmp_path: Path) -> Path:
    path = tmp_path / "signal.efg"
    path.write_text(with_odds(SIGNAL, "9/10", "1/10"))
    return path


def write_long(path: Path, turns: int) -> Path:
    """A tree in which Ann and Bob choose among three moves in turn; end number k pays k + 1000 and
    -k."""
    lines = ['EFG 2 R "long" { "Ann" "Bob" }']
    ends = sets = 0

    def add(depth: int) -> None:
        nonlocal ends, sets
        if depth == turns:
            ends += 1
            lines.append(f't "" {ends} "" {{ {ends + 1000}, {-ends} }}')
            return
        sets += 1
        lines.append(f'p "" {depth % 2 + 1} {sets} "" {{ "x" "y" "z" }} 0')
        for _ in range(3):
            add(depth + 1)

    add(0)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("strong", "weak"), [("1/2", "1/2"), ("9/10", "1/10")])
def test_bench_tells_a_model_the_odds_who_moves_and_what_is_known(
    strong: str, weak: str, tmp_path: Path
) -> None:
    path = tmp_path / "signal.efg"
    path.write_text(with_odds(SIGNAL, strong, weak))
    prompts = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "ANSWER: 1/2, 1/2"

    br.bench(answer, path, output_dir=tmp_path / "runs")
    (bobs,) = [prompt for prompt in prompts if "You are Bob" in prompt]
    assert with_odds(BOB_IS_TOLD, strong, weak) in bobs
    assert BOBS_TURN in bobs


def test_every_payoff_of_243_ends_is_told(tmp_path: Path) -> None:
    prompts = []
    path = write_long(tmp_path / "long.efg", turns=5)
    br.bench(
        lambda prompt: prompts.append(prompt) or "no",
        path,
        max_infosets=1,
        output_dir=tmp_path / "runs",
    )
    told = re.findall(r"- [xyz]: Ann gets (\d+), Bob gets (-\d+)$", prompts[0], re.MULTILINE)
    assert told == [(str(k + 1000), str(-k)) for k in range(1, 244)]


@pytest.mark.parametrize(
    "command",
    [
        ["bench", "--model", "openai/gpt-4o", "--dry-run"],
        ["simulate", "--model", "openai/gpt-4o", "--dry-run"],
        ["verify", "--model", "openai/gpt-4o", "--dry-run"],
        ["play"],
    ],
)
def test_a_game_that_is_too_long_to_be_told_is_refused_before_the_first_call(
    command: list[str], tmp_path: Path
) -> None:
    path = write_long(tmp_path / "long.efg", turns=7)
    name, *options = command
    result = CliRunner().invoke(
        app, [name, str(path), *options, "--output-dir", str(tmp_path / "runs")]
    )
    assert isinstance(result.exception, BestResponseError)
    assert re.search(r"long (has|can end in) 2,187 (ends|ways)", str(result.exception))


def test_the_longest_prompt_of_a_benchmark_can_be_set(tmp_path: Path) -> None:
    asked = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return '{"x": 1, "y": 0}'

    path = write_long(tmp_path / "long.efg", turns=7)
    output = tmp_path / "runs"
    br.bench(answer, path, output_dir=output, max_prompt_tokens=60_000, max_infosets=1, plain=True)
    assert len(asked) == 1
    assert 17_000 * 3 < len(asked[0]) <= 60_000 * 3
    asked.clear()
    with pytest.raises(SettingError, match=r"takes about \d\d\d tokens; at most 50 are allowed"):
        br.bench(answer, num_games=1, output_dir=output, max_prompt_tokens=50)
    with pytest.raises(SettingError, match=r"a prompt takes about .* at most 50 are") as refused:
        br.bench(answer, "kuhn-poker", output_dir=output, max_prompt_tokens=50)
    assert refused.value.field == "max_prompt_tokens"
    assert asked == []


def test_a_model_function_is_not_asked_about_a_game_that_is_too_long(tmp_path: Path) -> None:
    asked = []
    path = write_long(tmp_path / "long.efg", turns=7)

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "x"

    with pytest.raises(TooLarge, match=REFUSED):
        br.play(path, {"Ann": answer})
    with pytest.raises(TooLarge, match=REFUSED):
        br.bench(answer, path, output_dir=tmp_path / "runs")
    with pytest.raises(TooLarge, match=REFUSED):
        br.simulate(path, model=answer, output_dir=tmp_path / "runs")
    assert asked == []


def test_strategies_play_a_game_that_is_too_long_to_be_told(tmp_path: Path) -> None:
    path = write_long(tmp_path / "long.efg", turns=7)
    assert br.play(path, {"Ann": "always:x", "Bob": "always:x"}).payoffs == {
        "Ann": 1001.0,
        "Bob": -1.0,
    }


def test_simulate_tells_a_model_the_tree(signal: Path, tmp_path: Path) -> None:
    prompts = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "ANSWER: call"

    br.simulate(
        signal, seat={"Bob": answer, "Ann": "always:raise"}, repeats=1, output_dir=tmp_path / "runs"
    )
    assert with_odds(BOB_IS_TOLD, "9/10", "1/10") in prompts[0]
    assert BOBS_TURN in prompts[0]


def test_play_tells_a_person_the_tree(signal: Path, tmp_path: Path) -> None:
    command = ["play", str(signal), "--seed", "1", "--output-dir", str(tmp_path)]
    shown = CliRunner().invoke(app, command, input="rules\nfold\n").output
    assert (
        "- strong (probability 9/10): Ann chooses:\n  - raise: Bob chooses [a]:\n    - call: Ann"
        " gets 3" in shown
    )
    assert "- [a] Bob knows only this: chance drew strong or weak; Ann chose raise." in shown


def test_people_and_models_read_the_same_tree(signal: Path) -> None:
    game = find_game(signal).playable()
    outline = with_odds(BOB_IS_TOLD, "9/10", "1/10").split("\n\n", 2)[2].rpartition("\n\n")[0]
    assert outline in word_rules(game, game.view(0, "Bob"))
    assert outline in write_rules(game.view(0, "Ann"))


def test_the_number_of_an_information_set_is_not_told_as_something_seen(signal: Path) -> None:
    game = find_game(signal).playable()
    assert write_history(game.view(1, "Ann")) == "It is your turn. So far: chance drew strong."
    assert write_history(game.view(2, "Bob")) == write_history(game.view(7, "Bob")) == BOBS_TURN


def test_the_first_mover_is_told_that_nothing_has_happened() -> None:
    game = find_game("centipede").playable()
    assert write_history(game.view(0, "player 1")) == "It is your turn. Nothing has happened yet."


def test_poker_is_told_by_its_rule() -> None:
    game = find_game("kuhn-poker").playable()
    assert "probability" not in write_rules(game.view(0, "player 1"))
    dealt = game.apply(game.start(), {NATURE: "JQ"})
    assert write_history(game.view(dealt, "player 1")) == "It is your turn. You hold the jack."


def test_who_moved_before_is_not_told_where_the_player_does_not_know_it() -> None:
    """Either Ann or Bob has moved before Cleo, who cannot tell which."""
    last = Turn("Cleo", "c", {"l": Leaf([0, 0, 1]), "r": Leaf([1, 1, 0])})
    first = {
        "heads": (0.5, Turn("Ann", "a", {"x": last})),
        "tails": (0.5, Turn("Bob", "b", {"y": last})),
    }
    tree = build_tree(["Ann", "Bob", "Cleo"], Chance(first))
    node = tree.infoset.tolist().index(tree.infoset_index["Cleo", "c"])
    assert (
        write_history(TreeGame(tree).view(node, "Cleo"))
        == "It is your turn. One of these has happened, and you do not know which: (chance drew"
        " heads, Ann chose x); (chance drew tails, Bob chose y). You are at one of the positions"
        " marked [a]."
    )


def test_what_a_player_has_forgotten_is_told_as_forgotten() -> None:
    again = Turn("Ann", "later", {"l": Leaf([0]), "r": Leaf([1])})
    tree = build_tree(["Ann"], Turn("Ann", "first", {"x": again, "y": again}))
    node = tree.infoset.tolist().index(tree.infoset_index["Ann", "later"])
    assert (
        write_history(TreeGame(tree).view(node, "Ann"))
        == "It is your turn. So far: you chose x or y, and you do not remember which. "
        "You are at one of the positions marked [a]."
    )


def test_the_text_of_a_tree_belongs_to_version_4_of_the_game() -> None:
    assert TreeGame(build_tree(["Ann"], Leaf([1]))).version == 4
