"""Models reason about games played move by move: told without names, checked from the decision on,
measured by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import running

from bestresponse.core.conformance import check_game
from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.claims import Reviewer, RulesTranslator, Subject
from bestresponse.games.lookup import find_game
from bestresponse.games.trees.game import TreeGame
from bestresponse.logic import EmbeddedEngine
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.player import LlmPlayer
from bestresponse.players.llm.verified import Verified, moves_of
from bestresponse.players.strategies import Mixing
from bestresponse.report.document import Code
from bestresponse.runs.run import Run
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.scenes import disguised_tree
from bestresponse.studies.verify.study import verify_model
from bestresponse.telling.render import write_rules
from bestresponse.theory.catalogue.trees import centipede, load_tree
from bestresponse.theory.trees.perfection.subgame_perfect import cut_subgame
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

FEARS = "If I choose R, Player 2 will choose W. If I choose B, I get 1.\nANSWER: B"
LOOKS_AHEAD = "If I choose R, Player 2 will choose G.\nANSWER: R"


def config(game: Tree, **changed: object) -> VerifyConfig:
    return VerifyConfig("scripted", game, **({"repeats": 2, "translator": "rules"} | changed))


def run(settings: VerifyConfig, model: ScriptedModel, path: Path) -> Run:
    ran = running.run(verify_model, settings, path, {"scripted": model})
    assert ran.complete
    return ran


def corrected(request: Request) -> bool:
    return "take the following into account" in request.messages[-1].content


def entry_script(request: Request) -> str:
    return LOOKS_AHEAD if corrected(request) else FEARS


def test_a_false_claim_about_what_follows_is_refuted_and_the_second_answer_is_right(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(entry_script)
    folder = run(config(load_tree("entry-deterrence")), model, tmp_path / "run")
    assert [row["runs"] for row in folder.frame("attempts")] == [0, 2, 0, 0, 0]
    first, last = (figures for _, figures in folder.metrics.groups)
    assert (first["refuted"], last["unrefuted"]) == (2, 2)
    (claims,) = folder.frame("claims").select(form="will_play")
    assert (claims["made"], claims["refuted"], claims["unknown"]) == (4, 2, 0)
    assert last["chose_R"].estimate == 1.0
    told = model.asked[1].messages[-1].content
    assert "In fact, after you choose R, the other player looking ahead chooses G." in told


def test_a_move_is_worth_what_it_leads_to_in_equilibrium(tmp_path: Path) -> None:
    folder = run(
        config(load_tree("entry-deterrence")), ScriptedModel(entry_script), tmp_path / "run"
    )
    paid = [
        (row["first_payoff"], row["first_gap"], row["last_payoff"], row["last_gap"])
        for row in folder.rows()
    ]
    assert paid == [(1.0, 1.0, 2.0, 0.0)] * 2
    assert [play.record.payoffs for play in folder.folder.plays()] == [
        {"Player 1": 2.0, "Player 2": 2.0}
    ] * 2


def test_a_model_can_translate_what_is_said_about_moves(tmp_path: Path) -> None:
    claim = {
        "form": "continuation_payoff",
        "who": "you",
        "value": 6.4,
        "after": [{"who": "you", "action": "R"}],
        "quote": "After R, with best play, I end up with 6.4",
    }
    models = {
        "scripted": ScriptedModel(
            ["After R, with best play, I end up with 6.4.\nANSWER: R", "I stop.\nANSWER: B"]
        ),
        "translator": ScriptedModel([json.dumps({"claims": [claim]}), json.dumps({"claims": []})]),
    }
    settings = config(load_tree("centipede"), repeats=1, translator="translator")
    (row,) = running.run(verify_model, settings, tmp_path, models).rows()
    assert row["transcript"][0]["corrections"] == [
        "You say that after you choose R, with everybody looking ahead you get 6.4. "
        "In fact, after you choose R, with everybody looking ahead you get 0.2."
    ]
    assert (row["first_gap"], row["last_gap"]) == (0.2, 0.0)


def test_passing_in_the_centipede_costs_half_of_what_taking_pays() -> None:
    assert config(load_tree("centipede")).scene.worth(()) == [{"R": 0.2, "B": 0.4}]


def test_the_run_is_reported_and_replayed(tmp_path: Path) -> None:
    folder = run(
        config(load_tree("entry-deterrence"), seat="incumbent"),
        ScriptedModel(["ANSWER: G"] * 2),
        tmp_path / "run",
    )
    (told,) = [
        section
        for section in folder.report().sections
        if section.title == "What the reasoner was told"
    ]
    _, shown = [block.text for block in told.blocks if isinstance(block, Code)]
    assert "So far: Player 1 chose R." in shown
    assert "- If you choose G, Player 1 gets 2, you get 2." in shown
    replayed = folder.replay()
    assert replayed.same == 2


def test_the_game_is_told_without_its_names_and_with_everything_that_can_happen() -> None:
    scene = config(load_tree("centipede")).scene
    told = write_rules(scene.game.view(scene.opening, "Player 1"))
    assert "centipede" not in told.lower()
    assert "pass" not in told
    assert told.count("- If") == 5
    assert "- If you choose R and then Player 2 chooses B, you get 0.2, Player 2 gets 0.8." in told
    check_game(scene.game)


def test_own_names_and_the_usual_order_can_be_kept() -> None:
    tree = load_tree("entry-deterrence")
    plain = disguised_tree(tree, letters=False, inverted=False)
    assert [plain.path(leaf) for leaf in plain.leaves] == ["out", "in > share", "in > fight"]
    reverse = disguised_tree(tree, letters=False)
    assert [reverse.path(leaf) for leaf in reverse.leaves] == ["in > fight", "in > share", "out"]
    assert plain.players == ("Player 1", "Player 2")


def twice() -> Tree:
    """The first player moves, and again after the second's good move."""
    again = Turn("a", "last", {"stop": Leaf([1, 1]), "go": Leaf([3, 3])})
    answer = Turn("b", "answer", {"good": again, "bad": Leaf([0, 0])})
    return build_tree(
        ("a", "b"), Turn("a", "first", {"stop": Leaf([2, 2]), "go": answer}), name="twice"
    )


def twice_script(request: Request) -> str:
    """Wrong about the second decision's own payoff, and of the first's only by the second's."""
    shown = request.messages[-1].content
    if "So far" not in shown:
        return "If I choose stop, I get 2.\nANSWER: go"
    return f"If I choose stop, I get {1 if corrected(request) else 2}.\nANSWER: go"


def test_a_later_decision_is_told_and_checked_from_there_on(tmp_path: Path) -> None:
    model = ScriptedModel(twice_script)
    settings = config(twice(), repeats=1, disguised=False, inverted=False)
    folder = run(settings, model, tmp_path / "run")
    later = model.asked[1].messages[-1].content
    assert "So far: you chose go, Player 2 chose good." in later
    assert later.count("- If") == 2
    assert "In fact, if you choose stop, you get 1." in model.asked[2].messages[-1].content
    assert settings.scene.decisions == 2
    (row,) = folder.rows()
    assert (row["attempts"], row["first_choice"], row["first_payoff"], row["first_gap"]) == (
        1,
        "go",
        3.0,
        0.0,
    )


def lucky() -> Tree:
    """Chance decides which of two moves pays."""
    branches = {
        side: Turn("a", side, {"x": Leaf([u, 0]), "y": Leaf([3 - u, 0])})
        for side, u in (("h", 1), ("t", 2))
    }
    chance = Chance({side: (0.5, turn) for side, turn in branches.items()})
    return build_tree(("a", "b"), chance, name="lucky")


def test_chance_is_drawn_by_the_repeat_and_a_choice_measured_where_it_was_made(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(lambda request: "ANSWER: x")
    folder = run(
        config(lucky(), repeats=8, disguised=False, inverted=False), model, tmp_path / "run"
    )
    drawn = {
        play.data["repeat"]: play.record.submissions[0].decision.action
        for play in folder.folder.plays()
    }
    paid = {row["repeat"]: row["first_payoff"] for row in folder.rows()}
    assert set(drawn.values()) == {"h", "t"}
    assert paid == {repeat: {"h": 1.0, "t": 2.0}[side] for repeat, side in drawn.items()}
    assert "So far: chance drew h." in "".join(one.messages[-1].content for one in model.asked)


@pytest.mark.parametrize(
    ("game", "changed"),
    [
        ("centipede", {"disguised": False}),
        ("centipede", {"seat": "player 2", "after": ("pass",)}),
        ("ultimatum", {}),
        ("ultimatum", {"disguised": False, "seat": "responder"}),
    ],
)
def test_what_the_reasoner_is_told_reads_back_as_true(
    game: str, changed: dict[str, object]
) -> None:
    scene = config(find_game(game).solvable(), **changed).scene
    view = scene.game.view(scene.opening, scene.game.roles[scene.seat])
    ways = [line for line in write_rules(view).splitlines() if line.startswith("- If")]
    subject = scene.subject(view)
    assert subject is not None
    review = Reviewer(RulesTranslator(), EmbeddedEngine).review("\n".join(ways), subject)
    assert [one.verdict for one in review.checked] == ["proved"] * 2 * len(ways)
    assert review.unread == ()


WILL = "will_play(them, 'fight', do(choice(you, 'in'), s0))."
NOTHING_IF_FOUGHT = "finally(goal(you, 0), do(choice(them, 'fight'), do(choice(you, 'in'), s0)))."


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("If I choose in, the incumbent will choose fight.", [WILL]),
        (
            "If I choose in, player 2 would choose fight because 5 is more than 2.",
            [WILL, "higher(5, 2)."],
        ),
        ("She will choose fight if I choose in.", [WILL]),
        ("If I choose in, she will choose fight, giving me 0.", [WILL, NOTHING_IF_FOUGHT]),
        ("If I choose in, she will choose fight and I get 0.", [WILL, NOTHING_IF_FOUGHT]),
        ("If I choose in, she chooses fight, I get 0.", [NOTHING_IF_FOUGHT]),
        ("If I choose in, she will choose fight, so I get 2 less than before.", []),
        ("I hope she will choose fight if I choose in.", []),
        ("If I choose in, she will choose fight if she is angry.", []),
        ("If I choose in, she might choose fight.", []),
        ("If I choose in, she chooses between share and fight.", []),
    ],
)
def test_the_rules_read_what_is_foretold_and_what_it_pays(text: str, claims: list[str]) -> None:
    translation = RulesTranslator().translate(text, Subject(load_tree("entry-deterrence")))
    assert [str(claim) for claim in translation.claims] == claims


def test_games_that_cannot_be_told_move_by_move_are_refused() -> None:
    with pytest.raises(
        UsageError, match="kuhn-poker-3 hides some moves from some of its 3 players"
    ):
        config(load_tree("kuhn-poker-3"))
    wide = build_tree(("a",), Turn("a", "s", {str(i): Leaf([i]) for i in range(201)}), name="wide")
    with pytest.raises(
        UsageError, match="wide can end in 201 ways with 201 moves together; at most 200 ways"
    ):
        config(wide)
    with pytest.raises(UsageError, match="can end in 71 ways with 2,555 moves together"):
        config(centipede(70))
    with pytest.raises(UsageError, match="under its own names"):
        _ = config(find_game("trust").solvable()).scene


def test_a_player_whom_the_equilibrium_never_asks_cannot_reason() -> None:
    with pytest.raises(
        UsageError, match=r"seat: .* over before player 2 moves; ask player 1, or say by `after`"
    ):
        _ = config(load_tree("centipede"), seat="player 2").scene


def test_a_run_can_begin_after_moves_that_the_equilibrium_never_makes(tmp_path: Path) -> None:
    settings = config(load_tree("centipede"), seat="player 2", after=("pass",), repeats=1)
    model = ScriptedModel(["If I choose B, I get 0.8.\nANSWER: B"])
    (row,) = run(settings, model, tmp_path / "run").rows()
    assert "So far: Player 1 chose R." in model.asked[0].messages[-1].content
    assert (row["first_state"], row["first_payoff"], row["first_gap"]) == ("unrefuted", 0.8, 0.0)
    assert settings.scene.worth(()) == [{"R": 0.4, "B": 0.8}]
    assert settings.scene.decisions == 2
    assert (
        config(
            load_tree("centipede"), seat="player 2", after=("pass", "pass", "pass")
        ).scene.decisions
        == 1
    )
    assert VerifyConfig.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_moves_that_were_not_possible_are_refused() -> None:
    with pytest.raises(UsageError, match="after: no move 'jump' at pass; possible: take, pass"):
        _ = config(load_tree("centipede"), after=("pass", "jump")).scene
    with pytest.raises(UsageError, match="the game is over"):
        _ = config(load_tree("centipede"), after=("take", "take")).scene
    with pytest.raises(UsageError, match="all choose at once"):
        VerifyConfig("scripted", "prisoners-dilemma", after=("cooperate",))


def test_settings_with_a_tree_or_a_table_survive_their_json() -> None:
    settings = config(find_game("ultimatum").solvable())
    assert VerifyConfig.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    table = VerifyConfig("scripted", "prisoners-dilemma", repeats=3, attempts=3)
    assert VerifyConfig.from_json(json.loads(json.dumps(table.to_json()))) == table


def test_a_verified_player_of_an_open_tree_is_put_right() -> None:
    tree = load_tree("entry-deterrence")
    model = ScriptedModel(["If I choose in, she will choose fight.\nANSWER: out", "ANSWER: in"])
    reviewer = Reviewer(RulesTranslator(), EmbeddedEngine)
    seats = {
        "entrant": Verified(LlmPlayer(model), reviewer, subject=moves_of(tree)),
        "incumbent": Mixing({"entry": {"share": 1.0}}),
    }
    assert play(TreeGame(tree), seats).payoffs == {"entrant": 2.0, "incumbent": 2.0}


def test_a_subgame_keeps_labels_and_hidden_moves_have_none() -> None:
    rest = cut_subgame(load_tree("entry-deterrence"), 2)
    assert [rest.path(leaf) for leaf in rest.leaves] == ["share", "fight"]
    assert rest.infosets[0].label == "entry"
    with pytest.raises(InvalidGame, match="hides moves"):
        cut_subgame(load_tree("kuhn-poker"), 1)
