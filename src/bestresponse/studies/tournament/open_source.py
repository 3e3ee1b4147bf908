"""Tournaments of programs that read each other.

With `open_source` everybody who takes part is a program (see `formal.strategies.open_source`): one
that was written before, or one that a model writes when it meets its opponent. A match has several
meta-rounds. In each of them models write or revise their programs, both at the same time, and then
the programs play the game. A model is shown the program that its opponent has at that moment (none
before the first meta-round, if the opponent is a model too), its own one, and what both earned.

A model whose revision cannot be played keeps its program; if its first one cannot, the match is
missing. Payoffs of programs are worked out exactly. The payoff of a match is the mean over its
meta-rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Reading
from bestresponse.formal.strategies.agents import (
    RulesTask,
    StrategySettings,
    ask_for_rules,
    write_match_program,
)
from bestresponse.formal.strategies.open_source import LEVELS, OpenProgram, link_programs
from bestresponse.formal.strategies.texts import TEXTS
from bestresponse.models.base import Model
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Block, Code
from bestresponse.report.frames import column
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.store.folder import Spec, StoredPlay
from bestresponse.runs.study import Estimate
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import Contestant, StageGame, as_automata
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import Automaton, cooperative_actions
from bestresponse.theory.repeated.round_robin import exact_round_robin

_PROGRAM_TOKENS = 1024
"""Tokens of a program at least: `max_tokens` is made for single moves."""
_PROGRAM_ATTEMPTS = 3
"""Attempts at a program at least."""
_CHARACTERS_PER_TOKEN = 4
_SEATS = ("first", "second")
_MOST_SHOWN = 20
"""Programs in the report; programs.csv has all."""


class ProgramRow(TypedDict):
    """The program of one side in one meta-round of a match, and what it earned."""

    game: str
    name: str
    against: str
    seat: str
    play: int
    meta_round: int
    per_round: Annotated[float, column("payoff per round", ".3f")]
    cooperates: Annotated[float | None, column(format=".0%")]
    """share of rounds in which it makes the cooperative move"""
    exploits: Annotated[float | None, column(format=".0%")]
    """share of rounds in which it does not cooperate and the other does"""
    exploited: Annotated[float | None, column(format=".0%")]
    """share of rounds in which it cooperates and the other does not"""
    reads: bool
    """its rules ask about the other program"""
    written: bool
    """a model wrote it in this meta-round"""
    rules: str


class MetaRoundRow(TypedDict):
    """One who took part in one meta-round: means over matches, in both seats."""

    game: str
    name: str
    meta_round: Annotated[int, column("meta-round")]
    per_round: Annotated[float, column("payoff per round", ".3f")]
    cooperates: Annotated[float | None, column(format=".0%")]
    exploits: Annotated[float | None, column(format=".0%")]
    exploited: Annotated[float | None, column(format=".0%")]
    reads: Annotated[float, column("programs that read the other", ".0%")]
    programs: int


@dataclass(frozen=True, slots=True)
class MetaRound:
    """What the programs of both seats did: means per round.

    Shares are None where no move is the cooperative one.
    """

    number: int
    programs: tuple[str, str]
    per_round: tuple[float, float]
    cooperates: tuple[float, float] | None
    exploits: tuple[float, float] | None

    def to_json(self) -> dict[str, object]:
        """Return the meta-round as plain data."""
        return {
            "meta_round": self.number,
            "programs": list(self.programs),
            "per_round": list(self.per_round),
            "cooperates": None if self.cooperates is None else list(self.cooperates),
            "exploits": None if self.exploits is None else list(self.exploits),
        }


def count_meta_rounds(config: TournamentConfig) -> int:
    """Count the meta-rounds of a match: one where no model takes part, since nobody revises."""
    return config.meta_rounds if config.models else 1


def play_programs(
    programs: tuple[str, str],
    config: TournamentConfig,
    number: int = 1,
) -> MetaRound:
    """Let two programs that read each other play; InvalidGame names the one that cannot."""
    automata = _find_automata(programs, config.stage, config.default_move)
    form = config.stage.form
    per_round = _average(automata, form, config)
    cooperates = exploits = None
    try:
        first, second = cooperative_actions(form)
    except InvalidGame:
        pass
    else:
        mine, theirs = np.zeros((2, *form.shape), dtype=bool)
        mine[first, :] = True
        theirs[:, second] = True
        cooperates = _average(automata, _count_in(form, mine, theirs), config)
        exploits = _average(automata, _count_in(form, theirs & ~mine, mine & ~theirs), config)
    return MetaRound(number, programs, per_round, cooperates, exploits)


def _find_automata(
    programs: tuple[str, str],
    stage: StageGame,
    default_move: str | None,
) -> tuple[Automaton, Automaton]:
    """Return what each program does against the other."""
    first, second = (OpenProgram.read(text) for text in programs)
    found = []
    for seat, (own, other) in enumerate(((first, second), (second, first))):
        linked = Contestant(f"the {_SEATS[seat]} program", "rules", rules=link_programs(own, other))
        seats = as_automata(linked, stage, default_move)
        assert seats is not None  # rules are always automata
        found.append(seats[seat])
    return found[0], found[1]


def _average(
    automata: tuple[Automaton, Automaton],
    form: NormalForm,
    config: TournamentConfig,
) -> tuple[float, float]:
    """Return what both seats earn per round."""
    first, second = exact_round_robin(automata, form, config.rules).totals[0, 1]
    return float(first) / config.rounds, float(second) / config.rounds


def _count_in(form: NormalForm, first: np.ndarray, second: np.ndarray) -> NormalForm:
    """Return a game that pays each seat 1 where something holds of it."""
    return NormalForm(np.array([first, second], dtype=float), form.players, form.actions)


def prepare_open_matches(config: TournamentConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one match of programs, with all its meta-rounds."""

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        places = spec.data["places"]
        entries = (config.entries[places[0]], config.entries[places[1]])
        match = _Match(
            config,
            models,
            entries,
            repetition=spec.data["repetition"],
            done=done,
            keep=keep,
        )
        return match.play()

    return play_one


@dataclass
class _Match:
    """A match of two programs on its way through the meta-rounds."""

    config: TournamentConfig
    models: Mapping[str, Model]
    entries: tuple[Contestant, Contestant]
    repetition: int
    done: list[Submission]
    keep: Callable[[Submission], None]

    def __post_init__(self) -> None:
        self.submissions: list[Submission] = []
        self.programs = [entry.rules for entry in self.entries]
        self.history: list[MetaRound] = []

    def play(self) -> Record:
        """Play every meta-round; the match is void where somebody has no program that can play."""
        for number in range(1, count_meta_rounds(self.config) + 1):
            void = self._play_meta_round(number)
            if void is not None:
                return self._record(void)
        return self._record(None)

    def _play_meta_round(self, number: int) -> Void | None:
        roles = self.config.repeated.roles
        # Both write at the same time: neither sees what the other writes now.
        shown = list(self.programs)
        for seat, entry in enumerate(self.entries):
            if entry.kind != "model":
                continue
            turn = self._submit(roles[seat], partial(self._write, seat, shown, number))
            if turn.decision.reading.status.readable:
                self.programs[seat] = turn.decision.action["rules"]
            elif not self.programs[seat]:
                return Void(roles[seat], turn.decision.reading.how)
        try:
            played = play_programs((self.programs[0], self.programs[1]), self.config, number)
        except InvalidGame as error:
            seat = 1 if str(error).startswith("the second program") else 0
            return Void(roles[seat], str(error))
        self.history.append(played)
        self._submit(NATURE, lambda: Decision(played.to_json()))
        return None

    def _submit(self, role: str, decide: Callable[[], Decision]) -> Submission:
        """Take the next submission from those that are recorded, or make it."""
        place = len(self.submissions)
        if place < len(self.done):
            turn = self.done[place]
        else:
            turn = Submission(role, decide())
            self.keep(turn)
        self.submissions.append(turn)
        return turn

    def _write(self, seat: int, shown: Sequence[str], number: int) -> Decision:
        """Let a model write or revise its program."""
        entry = self.entries[seat]
        program = self.config.stage.program or write_match_program(self.config.stage.form)
        prompt = TEXTS.fill(
            "open_task",
            rounds="one round" if self.config.rounds == 1 else f"{self.config.rounds} rounds",
            seat=_SEATS[seat],
            levels=str(LEVELS),
            game=program.strip(),
            history=_tell_history(seat, shown, self.history),
        )
        # Before the first meta-round the other may have no program; then the new one meets itself.
        other = shown[1 - seat]
        written = ask_for_rules(
            RulesTask("", prompt, TEXTS.text("open_system")),
            self.models[entry.source],
            lambda rules: _find_fault(rules, other or rules, self.config),
            StrategySettings(
                attempts=max(self.config.attempts, _PROGRAM_ATTEMPTS),
                max_tokens=max(self.config.max_tokens, _PROGRAM_TOKENS),
                temperature=self.config.temperature,
                # Repetitions, meta-rounds and seats are asked anew, whatever the cache holds.
                replicate=(self.repetition * self.config.meta_rounds + number - 1) * 2 + seat,
            ),
        )
        last = written.attempts[-1]
        return Decision(
            {"meta_round": number, "rules": last.rules},
            last.reply.text,
            Reading(written.status, written.trouble),
            written.calls,
        )

    def _record(self, void: Void | None) -> Record:
        game = self.config.repeated
        players = {role: entry.name for role, entry in zip(game.roles, self.entries, strict=True)}
        payoffs: dict[str, float] = {}
        if void is None:
            for seat, role in enumerate(game.roles):
                earned = fmean(played.per_round[seat] for played in self.history)
                payoffs[role] = earned * self.config.rounds
        return Record(
            game.name,
            game.version,
            players=players,
            submissions=tuple(self.submissions),
            payoffs=payoffs,
            void=void,
        )


def _find_fault(rules: str, other: str, config: TournamentConfig) -> str:
    """Say what keeps a new program from playing against another, in both seats."""
    try:
        _find_automata((rules, other), config.stage, config.default_move)
        _find_automata((other, rules), config.stage, config.default_move)
    except InvalidGame as error:
        return f"- {error}"
    return ""


def _tell_history(seat: int, shown: Sequence[str], history: Sequence[MetaRound]) -> str:
    """Tell a writer both programs as they are now, and what they earned."""
    own, other = shown[seat], shown[1 - seat]
    parts = []
    if own:
        parts.append(f"Your program until now:\n\n```prolog\n{own.strip()}\n```")
    if other:
        parts.append(f"The program of your opponent:\n\n```prolog\n{other.strip()}\n```")
    else:
        parts.append("Your opponent writes a program at this moment, and has none before.")
    for played in history:
        mine, theirs = played.per_round[seat], played.per_round[1 - seat]
        parts.append(
            f"Meta-round {played.number}: you earned {mine:g} per round, your opponent {theirs:g}."
        )
    if own:
        parts.append("You may revise your program, or write it again as it is.")
    return "\n\n".join(parts)


def list_program_rows(config: TournamentConfig, play: StoredPlay) -> Iterator[ProgramRow]:
    """Yield the programs of a match with what they earned, one row for each side and meta-round.

    A match that broke off has no payoffs and counts for nobody.
    """
    if play.record.void is not None:
        return
    names = [config.entries[place].name for place in play.data["places"]]
    roles = config.repeated.roles
    wrote: set[tuple[str, int]] = set()
    for turn in play.record.submissions:
        action = turn.decision.action
        number = action["meta_round"]
        if turn.role in roles:
            if turn.decision.reading.status.readable:
                wrote.add((turn.role, number))
            continue
        cooperates = action["cooperates"] or (None, None)
        exploits = action["exploits"] or (None, None)
        for seat, name in enumerate(names):
            rules = action["programs"][seat]
            yield ProgramRow(
                game=config.game.name,
                name=name,
                against=names[1 - seat],
                seat=_SEATS[seat],
                play=play.data["repetition"] + 1,
                meta_round=number,
                per_round=action["per_round"][seat],
                cooperates=cooperates[seat],
                exploits=exploits[seat],
                exploited=exploits[1 - seat],
                reads=OpenProgram.read(rules).reads_other,
                written=(roles[seat], number) in wrote,
                rules=rules,
            )


def sum_up_meta_rounds(rows: Sequence[ProgramRow]) -> Iterator[MetaRoundRow]:
    """Yield the means of everybody in every meta-round, in the order of the rows."""
    for game, name, number in sorted(
        {(row["game"], row["name"], row["meta_round"]) for row in rows}
    ):
        own = [
            row
            for row in rows
            if (row["game"], row["name"], row["meta_round"]) == (game, name, number)
        ]
        yield MetaRoundRow(
            game=game,
            name=name,
            meta_round=number,
            per_round=fmean(row["per_round"] for row in own),
            cooperates=_mean_share(row["cooperates"] for row in own),
            exploits=_mean_share(row["exploits"] for row in own),
            exploited=_mean_share(row["exploited"] for row in own),
            reads=fmean(row["reads"] for row in own),
            programs=len(own),
        )


def _mean_share(shares: Iterator[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


def show_last_programs(measured: Measurement) -> Shown | None:
    """Show the programs that models had in the end, with whom they met."""
    config: TournamentConfig = measured.config
    blocks: list[Block] = []
    for row in measured.frame("programs").rows:
        if row["written"] and row["meta_round"] == config.meta_rounds:
            title = f"{row['name']} against {row['against']}, {row['seat']} seat"
            blocks.append(Code(row["rules"], "prolog", title=title))
    return Shown("Programs of the last meta-round", tuple(blocks[:_MOST_SHOWN])) if blocks else None


def estimate_open_matches(config: TournamentConfig) -> Estimate:
    """Count every attempt at a program, in every meta-round of every match."""
    repetitions = config.repetitions or 1
    attempts = max(config.attempts, _PROGRAM_ATTEMPTS)
    calls = dict.fromkeys(map(str, config.models), 0)
    for pair in config.played_pairs:
        for index in pair:
            entry = config.entries[index]
            if entry.kind == "model":
                calls[entry.source] += config.meta_rounds * attempts * repetitions
    program = config.stage.program or write_match_program(config.stage.form)
    reply = max(config.max_tokens, _PROGRAM_TOKENS)
    # The task, the game, and a program of either side.
    prompt = (len(TEXTS.text("open_task")) + len(program)) // _CHARACTERS_PER_TOKEN + 2 * reply
    matches = len(config.played_pairs) * repetitions
    meta_rounds = count_meta_rounds(config)
    what = f"{matches:,} matches of programs"
    if meta_rounds > 1:
        what += f", {meta_rounds} meta-rounds each"
    return Estimate.of_calls(matches, what, calls, prompt, reply)
