"""Checked reasoning: a model reasons, logic refutes, and it is asked again.

The first against the last attempt.

The payoff of a choice is what it earns against the others at an equilibrium of the game (`scenes`
says how), its gap how much less that is than the best choice would earn: 0 exactly for best
responses. Where several equilibria differ about a choice, it has only a least and a most gap.
"Right for the wrong reason" is a best response whose reasoning was refuted. In a game
played move by move the first decision is measured.

The transcript of all attempts are the decision's remarks: reasoning, choice, claims with verdicts
and corrections of each. Everything that is measured is a function of it.
"""

from __future__ import annotations

from pathlib import Path

from bestresponse.analysis.people import describe_people
from bestresponse.core.files import read_prose
from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.report.blocks import Measurement, Shown, metrics_table, pivot, table, text
from bestresponse.report.document import Code, Paragraph
from bestresponse.report.tables import to_csv
from bestresponse.runs.run import Run
from bestresponse.runs.study import Measured, OwnWays, Study
from bestresponse.studies.verify.audit import SentenceVerdict, sample_verdicts, show_audit
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import METRICS, measure_reasoning
from bestresponse.studies.verify.plays import (
    estimate_runs,
    list_runs,
    prepare_runs,
    read_game_name,
    write_briefing,
)
from bestresponse.studies.verify.ratings import (
    RATERS,
    SHEET,
    list_sheet_rows,
)
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.telling.catalogues import CATALOGUES
from bestresponse.theory.games.normal_form import NormalForm


def list_sheets(measured: Measured, run: Run[VerifyConfig]) -> list[tuple[Path, str]]:
    """List a sheet for each rater and the protocol.

    A sheet that is there already is left as it was filled in.
    """
    rows = measured.frames["runs"].rows
    sheet = to_csv(list_sheet_rows(rows), SHEET)
    texts = {f"sheet-rater-{rater}.csv": sheet for rater in range(1, RATERS + 1)}
    texts["protocol.txt"] = write_protocol(run.config)
    columns = ("run", "attempt", *SentenceVerdict._fields)
    texts["verdicts.csv"] = to_csv(sample_verdicts(rows), columns)
    return [
        (run.path / name, content)
        for name, content in texts.items()
        if not (run.path / name).exists()
    ]


def write_protocol(config: VerifyConfig) -> str:
    """Write the protocol for raters: every game as told, what to mark, what is no error."""
    games = []
    for name, scene in config.scenes.items():
        head = f"{name}. {_describe_letters(config, name)}".strip()
        games.append(f"{head}\n\n{write_briefing(scene)}")
    first_move = config.scene.choices[0]
    return TEXTS.fill("protocol", games="\n\n".join(games), first_move=first_move) + "\n"


def _describe_letters(config: VerifyConfig, game: str) -> str:
    """Say which letter stands for which move of a game.

    Returns an empty result where it is told under its own names.
    """
    if not config.disguised:
        return ""
    players = config.moves[game]
    alike = all(moves == players[0] for moves in players)
    said = []
    for role, moves in zip(config.scenes[game].game.roles, players, strict=True):
        words = ", ".join(f"{letter} is {move}" for letter, move in moves.items())
        if alike:
            return f"{words}."
        said.append(f"{role}: {words}")
    return "; ".join(said) + "."


def show_letters(measured: Measurement) -> Shown:
    """Say which letter is which move, and what is inverted."""
    config: VerifyConfig = measured.config
    said = []
    for game in config.scenes:
        words = _describe_letters(config, game)
        if words:
            said.append(f"{game}: {words}")
    if not said:
        said.append("The games are told under the names of their own moves.")
    first = config.scene.choices
    order = "in the order of the game"
    if config.inverted:
        order = "in the reverse of the game's order"
    said.append(f"Moves are told {order}: {', '.join(first)}. Letters follow the game's own order.")
    return Shown("", (Paragraph(" ".join(said)),))


def show_people_beside(measured: Measurement) -> Shown | None:
    """Say what people did in the dilemmas nearest to the games; nothing where none is near."""
    config: VerifyConfig = measured.config
    paragraphs = []
    for game in config.game:
        form = game.loaded.solvable()
        words = describe_people(form) if isinstance(form, NormalForm) else ""
        if words:
            paragraphs.append(Paragraph(f"{game.name}: {words}"))
    return Shown("", tuple(paragraphs)) if paragraphs else None


def show_briefing(measured: Measurement) -> Shown:
    """Show how reasoning was checked and what the reasoner was told."""
    about = Paragraph(
        "Each reasoning is translated into claims; each claim is decided by a logic engine on the"
        " game's program and by theory on its payoffs; refuted claims are put right and the"
        " reasoner is asked again. After A. Mensfelt, K. Stathis, V. Trencsenyi, Logic-Enhanced"
        " Language Model Agents, 2024."
    )
    config: VerifyConfig = measured.config
    told = [Code(config.system, title="The instruction")]
    for game, scene in config.scenes.items():
        briefing = write_briefing(scene)
        told.append(Code(f"{game}\n\n{briefing}" if len(config.game) > 1 else briefing))
    return Shown("What the reasoner was told", (about, *told))


_PROSE = read_prose(__file__)

verify_model = Study(
    "verify",
    VerifyConfig,
    specs=list_runs,
    play=prepare_runs,
    measure=measure_reasoning,
    metrics=METRICS,
    title="Reasoning checked by logic",
    subtitle=_PROSE["subtitle"],
    command="verify",
    unit="runs",
    texts=(CATALOGUES, PLAYER_TEXTS, CLAIM_TEXTS, TEXTS),
    game=lambda config, data: config.scenes[read_game_name(data)].game,
    count_plays=lambda config: config.repeats * len(config.game) * len(config.model),
    estimate_calls=estimate_runs,
    own=OwnWays(more_files=list_sheets),
    report=(
        text(_PROSE["missing"], kind="warning"),
        metrics_table(
            "First and last attempt", "Numbers of runs, means and shares with 95 % intervals"
        ),
        show_letters,
        text(_PROSE["unrefuted"]),
        show_people_beside,
        table("changes", caption="Paired by run; {{ config.scene.yardstick }}"),
        text(_PROSE["changes"]),
        table("choices", title="Choices", caption="Shares of readable runs with 95 % intervals"),
        table("correctness", title="Correctness", caption="Shares of correct reasonings"),
        text(_PROSE["correctness"]),
        pivot(
            "attempts",
            "game",
            "attempts",
            "runs",
            split="model",
            title="Attempts",
            caption="Runs by attempts",
        ),
        table("attempt_costs", caption="Means over the attempts of reasoners"),
        table("claims", title="Claims", caption="Over all attempts"),
        table(
            "troubles",
            title="Translation",
            caption="Why sentences have no verdict, over all attempts",
        ),
        text(_PROSE["unread"]),
        table(
            "marks",
            title="Marks",
            caption="Samples that people and models marked; only the marks used count below",
        ),
        table("judgements", title="People's judgement"),
        pivot("agreement", "metric", "game", "value", split="model"),
        text(_PROSE["people"]),
        show_audit,
        show_briefing,
    ),
)
"""What feedback from logic changes in a model's reasoning, choice and payoff."""
