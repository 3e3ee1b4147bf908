"""The plays of a run as data for the page that shows them (`report.viewer`).

A row of the list says who played, the result, what the worst answer lost and what it took. A
play has its answers in order: what was asked and said, how that was read, what it cost and lost,
and the solution of the game where it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestresponse.analysis.theory import describe_theory, may_have_equilibrium
from bestresponse.core.episode import Record, Void
from bestresponse.core.errors import BestResponseError
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Game, S
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Status
from bestresponse.report.blocks import fill_template
from bestresponse.report.files import explain_os_error, write_text
from bestresponse.report.numbers import NOISE, format_number
from bestresponse.report.viewer import (
    PLAYS_FOLDER,
    PLAYS_PAGE,
    name_part,
    render_viewer,
    write_index,
    write_part,
)
from bestresponse.runs.reporting.sections import Prices, price_by_model
from bestresponse.runs.reporting.steps import (
    ReplayStage,
    Step,
    group_calls,
    list_stages,
    name_play,
)
from bestresponse.runs.store.folder import (
    StoredPlay,
    find_spec_id,
    parse_line,
    read_raw,
)
from bestresponse.runs.study import Judgement
from bestresponse.telling.render import write_rules

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

MOST_PLAYS = 20_000
_MOST_ANSWERS = 200_000
"""Plays beyond these are not listed: writing them takes minutes, and the records hold them."""
_MOST_SOLVED = 200
"""Different games that are solved for the page, where the study does not know their solutions."""
_MOST_SEATS = 6
"""Payoffs of more seats are not listed in a row."""
_MOST_LINES = 12
"""Information sets of an equilibrium that are written down."""
_BATCH = 1000
_PART_BYTES = 250_000
_PART_PLAYS = 50
_WRONG = 1
_UNREAD = 2
_REPAIRED = 4
# Flags of a row, as the page reads them.
_DAMAGE = (BestResponseError, ArithmeticError, LookupError, TypeError, ValueError)
"""What a play raises that its game does not take: it is shown without the game."""


@dataclass(frozen=True, slots=True)
class ShownPlay:
    """A play with everything that is shown of it."""

    play: StoredPlay
    calls: Sequence[JsonMapping]
    stages: Sequence[ReplayStage]
    judgement: Judgement
    rules: str

    @property
    def steps(self) -> list[Step]:
        """The answers of the seats, in their order; what nature drew is part of them."""
        return [step for stage in self.stages for step in stage.steps]


class PlayPages:
    """The plays of a run, in the order in which they finished."""

    def __init__(self, run: Run[Any]) -> None:
        self._run = run
        self._prices = price_by_model(run.manifest)
        self._solved: dict[int, tuple[AnyGame, tuple[tuple[str, str], ...]]] = {}
        self._rules: dict[int, tuple[AnyGame, str]] = {}

    @cached_property
    def total(self) -> int:
        """How many plays the run holds."""
        return sum(1 for _ in read_raw(self._run.path / "records.jsonl"))

    def render(self) -> str:
        """Return the page that shows them."""
        study = self._run.study
        return render_viewer(
            fill_template(study.title, self._run),
            fill_template(study.subtitle, self._run),
            self._run.manifest.footer,
        )

    @property
    def _most_answers(self) -> int:
        """How many answers are listed: fewer where no model was asked, if the study says so."""
        unasked = self._run.study.own.most_unasked
        return _MOST_ANSWERS if unasked is None or self._places else unasked

    def list_shown(self) -> Iterator[ShownPlay]:
        """Yield the plays that are listed, one at a time."""
        answers = 0
        most_answers = self._most_answers
        plays = islice(self._run.folder.plays(), MOST_PLAYS)
        while batch := list(islice(plays, _BATCH)):
            for play, judgement in zip(batch, self._judge(batch), strict=True):
                answers += len(play.record.submissions)
                if answers > most_answers:
                    return
                yield self._show(play, judgement)

    def summarise(self, shown: ShownPlay) -> list[object]:
        """Return the row of the list: name, players, answers, payoffs, loss, flags and tokens."""
        record = shown.play.record
        players = [name for role, name in record.players.items() if role not in (NATURE, REFEREE)]
        loss = shown.judgement.loss
        answers = [step for step in shown.steps if step.role not in (NATURE, REFEREE)]
        return [
            name_play(shown.play),
            ", ".join(dict.fromkeys(players)),
            len(answers),
            _write_payoffs(record.payoffs) if record.void is None else _tell_void(record.void),
            loss,
            _find_flags(shown.play.record, loss),
            sum(map(_count_tokens, shown.calls)),
        ]

    def describe(self, shown: ShownPlay) -> JsonObject:
        """Return the play with all its answers."""
        record = shown.play.record
        asked = group_calls(record, shown.calls)
        facts = []
        for role, amount in record.payoffs.items():
            facts.append((f"{role} ({record.players.get(role, '')})", format_number(float(amount))))
        turns = []
        for step in shown.steps:
            turns.append(_describe_turn(step, record, asked.get(step.number, ()), self._prices))
        return {
            "spec": shown.play.spec,
            "name": name_play(shown.play),
            "void": "" if record.void is None else _tell_void(record.void),
            "facts": [*facts, *shown.judgement.facts],
            "rules": shown.rules,
            "stages": len(shown.stages),
            "earned": [_write_payoffs(stage.earned) for stage in shown.stages],
            "turns": turns,
        }

    def _judge(self, plays: Sequence[StoredPlay]) -> Sequence[Judgement | None]:
        """Let the study judge the plays; None where it leaves that to the solution of the game."""
        judge = self._run.study.own.judge
        return [None] * len(plays) if judge is None else judge(self._run.config, plays)

    def _show(self, play: StoredPlay, judgement: Judgement | None) -> ShownPlay:
        calls = self._find_calls(play.spec)
        game = None
        solution: tuple[tuple[str, str], ...] = ()
        with suppress(*_DAMAGE):
            game = self._run.game(play.data)
        try:
            if judgement is None:
                solution = self._solve(game)
            stages = list_stages(play.record, game, told=False, priced=bool(solution))
        except _DAMAGE:  # the game has changed since, and no longer takes these answers
            game = None
            stages = list_stages(play.record, None)
        if judgement is None:
            judgement = _judge_by_solution(stages, solution)
        rules = "" if calls or game is None else self._write_rules(game)
        return ShownPlay(play, calls, stages, judgement, rules)

    def _solve(self, game: AnyGame | None) -> tuple[tuple[str, str], ...]:
        """Say what the solution of a game is.

        Returns nothing where none is known, or enough were solved.
        """
        if game is None:
            return ()
        key = id(game)
        if key not in self._solved:
            if len(self._solved) >= _MOST_SOLVED:
                return ()
            self._solved[key] = (game, _tell_solution(game))
        return self._solved[key][1]

    def _write_rules(self, game: Game[S]) -> str:
        """Write the rules of a game once for all plays of it."""
        key = id(game)
        if key not in self._rules:
            self._rules[key] = (game, write_rules(game.view(game.start(), game.roles[0])))
        return self._rules[key][1]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where the calls of every play begin in their file."""
        path = self._run.folder.path / "calls.jsonl"
        places: dict[str, list[int]] = {}
        offset = 0
        for number, line in enumerate(read_raw(path), 1):
            places.setdefault(find_spec_id(line, path, number), []).append(offset)
            offset += len(line)
        return places

    def _find_calls(self, spec: str) -> list[JsonObject]:
        path = self._run.folder.path / "calls.jsonl"
        found = []
        for place in self._places.get(spec, ()):
            line = next(read_raw(path, place))
            found.append(parse_line(line, path, 0))
        return found


def _tell_solution(game: AnyGame) -> tuple[tuple[str, str], ...]:
    """Write the first equilibrium of a game in words; nothing where none is known."""
    if not may_have_equilibrium(game):
        return ()
    theory = describe_theory(game)
    if theory.known is not None:
        return ((str(theory.known.concept), str(theory.known.words)),)
    if not theory.predicted:
        return ()
    first = theory.predicted[0]
    lines = []
    for role, infosets in first.shares.items():
        for label, mix in infosets.items():
            where = f"{role}, {label}" if label else role
            lines.append(f"{where}: {_write_mix(mix)}")
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more information sets"]
    count = len(theory.predicted)
    title = "Equilibrium" if count == 1 else f"The first of {count} equilibria"
    return ((title, "; ".join(lines)), ("It earns", _write_payoffs(first.payoffs)))


def _write_mix(mix: Mapping[str, float]) -> str:
    played = {move: share for move, share in mix.items() if share > NOISE}
    if len(played) == 1:
        return next(iter(played))
    return ", ".join(f"{move} {format_number(share)}" for move, share in played.items())


def _write_payoffs(payoffs: Mapping[str, float]) -> str:
    shown = []
    for role, amount in islice(payoffs.items(), _MOST_SEATS):
        shown.append(f"{role} {format_number(float(amount))}")
    more = len(payoffs) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more > 0 else shown)


def _tell_void(void: Void) -> str:
    return f"void: {void.role}, {void.why}"


def _judge_by_solution(
    stages: Iterable[ReplayStage], solution: tuple[tuple[str, str], ...]
) -> Judgement:
    """Judge a play by what its worst answer lost.

    The loss is against the equilibrium, or else against the others.
    """
    losses = [
        step.regret if step.regret_equilibrium is None else step.regret_equilibrium
        for stage in stages
        for step in stage.steps
    ]
    known = [loss for loss in losses if loss is not None]
    if not known:
        return Judgement(None, solution)
    worst = max(known)
    return Judgement(worst, (("Loss of the worst answer", format_number(worst)), *solution))


def _find_flags(record: Record, loss: float | None) -> int:
    """Tell whether an answer of a play was wrong, could not be read, or was repaired."""
    readings = [answer.decision.reading.status for answer in record.submissions]
    last = [answer.decision.remarks[-1] for answer in record.submissions if answer.decision.remarks]
    refuted = any(
        claim["verdict"] == "refuted" for remark in last for claim in _list_claims(remark)
    )
    flags = 0
    if refuted or (loss is not None and loss > NOISE):
        flags |= _WRONG
    if record.void is not None or not all(status.readable for status in readings):
        flags |= _UNREAD
    if Status.REPAIRED in readings:
        flags |= _REPAIRED
    return flags


def _list_claims(remark: JsonMapping) -> Sequence[JsonMapping]:
    """List the claims that a reviewer found in a reasoning; none in a remark of another kind."""
    claims = remark.get("claims")
    return claims if isinstance(claims, list) else ()


def _count_tokens(call: JsonMapping) -> int:
    usage = call["reply"]["usage"]
    return (usage.get("prompt") or 0) + (usage.get("completion") or 0)


def _describe_turn(
    step: Step,
    record: Record,
    calls: Sequence[JsonMapping],
    prices: Prices,
) -> JsonObject:
    decision = record.submissions[step.number - 1].decision
    last = decision.remarks[-1] if decision.remarks else {}
    beside = []
    if step.regret is not None:
        beside.append(("Lost against the others", format_number(step.regret)))
    if step.regret_equilibrium is not None:
        beside.append(("Lost in equilibrium", format_number(step.regret_equilibrium)))
    if calls:
        beside.append(("Tokens", f"{sum(map(_count_tokens, calls)):,}"))
        beside.append(("Seconds", format_number(sum(call["reply"]["latency"] for call in calls))))
        money = [prices(call["model"], call["reply"]["usage"]) for call in calls]
        known = [amount for amount in money if amount is not None]
        if len(known) == len(money) and sum(known) > 0:
            beside.append(("US dollars", f"{sum(known):.4f}"))
    return {
        "stage": step.stage,
        "role": step.role,
        "who": record.players.get(step.role, ""),
        "move": step.action,
        "status": step.status,
        "unread": not decision.reading.status.readable,
        "how": step.how,
        "standIn": step.stand_in,
        "words": step.words,
        "checked": last.get("summary", ""),
        "claims": [
            (claim["verdict"], claim["words"] or claim["claim"], claim["correction"] or "")
            for claim in _list_claims(last)
        ],
        "situation": step.situation,
        "calls": [_describe_call(call) for call in calls],
        "beside": beside,
    }


def _describe_call(call: JsonMapping) -> JsonObject:
    usage = call["reply"]["usage"]
    read = usage.get("prompt") or 0
    written = usage.get("completion") or 0
    return {
        "model": call["model"],
        "messages": call["request"]["messages"],
        "reply": call["reply"]["text"],
        "cost": f"{read:,} input tokens, {written:,} output tokens",
    }


def write_plays(run: Run[Any]) -> list[Path]:
    """Write the page of single plays and its data beside the report.

    Returns nothing where there are no plays.
    """
    pages = PlayPages(run)
    if not pages.total:
        return []
    folder = run.path / PLAYS_FOLDER
    _make_folder(folder)
    rows: list[object] = []
    starts: list[int] = []
    for number, part in enumerate(_pack(pages, rows)):
        starts.append(len(rows) - len(part))
        write_text(folder / name_part(number), write_part(number, part))
    write_text(folder / "index.js", write_index(rows, starts, pages.total))
    return [run.folder.write_text(PLAYS_PAGE, pages.render())]


def _pack(pages: PlayPages, rows: list[object]) -> Iterator[list[JsonObject]]:
    """Yield the plays in parts that load quickly; the row of every play is added to `rows`."""
    part: list[JsonObject] = []
    size = 0
    for shown in pages.list_shown():
        rows.append(pages.summarise(shown))
        part.append(pages.describe(shown))
        size += sum(_measure_call(call) for call in shown.calls)
        size += sum(len(step.words) + len(step.situation) for step in shown.steps)
        if size >= _PART_BYTES or len(part) >= _PART_PLAYS:
            yield part
            part = []
            size = 0
    if part:
        yield part


def _measure_call(call: JsonMapping) -> int:
    said = sum(len(text) for _, text in call["request"]["messages"])
    return said + len(call["reply"]["text"])


def _make_folder(folder: Path) -> None:
    """Make the folder of the plays; a link of that name is replaced, never followed."""
    try:
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, f"making the folder {folder}") from None
