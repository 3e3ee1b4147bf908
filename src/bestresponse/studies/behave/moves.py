"""The moves of recorded runs in one form: a table of payoffs, and what each seat did in a match."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TypedDict

from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import BestResponseError, SettingError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonObject, canonical, digest
from bestresponse.games.capabilities import HasSpeakers, find_stage_form
from bestresponse.games.lookup import find_game
from bestresponse.models.base import ModelsByName
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.run import explain_no_run, load_run
from bestresponse.runs.store.folder import (
    RunFolder,
    StoredPlay,
    encode_rows,
    read_lines,
    read_sorted,
)
from bestresponse.studies.behave.config import BehaveConfig, Move
from bestresponse.studies.tournament.entries import StageGame, formalize_entries
from bestresponse.theory.games.normal_form import NormalForm

_LENGTHS = {"rounds", "continuation", "discount"}
"""Parameters of a session that leave the table of a round, and what is meant by a move, as they
are."""


class UnusedRow(TypedDict):
    """What was not used, and why."""

    what: str
    why: str
    times: int


@dataclass(frozen=True, eq=False)
class SeatMoves:
    """The moves of one player in one match, numbers or mixtures.

    `subject` and `rival` name the persons in this seat and in the other one, None where they have
    no names.
    """

    labels: Mapping[str, str]
    form: NormalForm
    seat: int
    own: tuple[Move, ...]
    other: tuple[int, ...]
    match: str
    subject: str | None = None
    rival: str | None = None
    imported: bool = False

    @property
    def unit(self) -> str:
        """Name the person, or the seat of the match where the person has no name."""
        return self._name(self.subject) if self.subject else f"{self.match} {self.labels['seat']}"

    @property
    def cluster(self) -> str:
        """Name what is resampled: the person, the other person, or the match.

        It is the other person if only that one has a name.
        """
        known = self.subject or self.rival
        return self._name(known) if known else self.match

    @property
    def persons(self) -> tuple[str, ...]:
        """Name everybody on whom these moves depend, or the match where nobody has a name."""
        known = [self._name(name) for name in (self.subject, self.rival) if name]
        return tuple(sorted(known)) or (self.match,)

    @property
    def has_moves(self) -> bool:
        """Whether every answer is a move and none a mixture."""
        return all(isinstance(move, int) for move in self.own)

    def _name(self, person: str) -> str:
        return f"{self.labels['run']} {person}"


def prepare_behave(config: BehaveConfig) -> BehaveConfig:
    """Make the plays that are described part of the identity.

    Also lets the model write strategies that are in words.
    """
    if not config.runs:
        raise SettingError("runs", "name at least one folder of a run")
    sources = []
    for folder in list_folders(config.runs):
        records = folder / "records.jsonl"
        size = records.stat().st_size if records.exists() else 0
        sources.append(f"{folder.name} {size}")

    def find_stage() -> StageGame:
        plays = chain.from_iterable(map(list_recorded_plays, list_folders(config.runs)))
        first = next(play for play in plays if not isinstance(play, str))
        form = make_form(canonical(first["data"]["form"]))
        return StageGame(form.name, form)

    entries = formalize_entries(config.strategies, config.model, config, find_stage)
    return replace(config, sources=tuple(sources), strategies=entries)


def list_folders(paths: Sequence[str | Path]) -> list[Path]:
    """List the folders of all runs that are named or below a folder that is, each once.

    Runs of this study describe others and are passed over unless they are named.

    Raises: UsageError: a path holds no run.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if (path / "manifest.json").exists():
            found[path] = None
            continue
        below = sorted(manifest.parent for manifest in path.rglob("manifest.json"))
        if not below:
            raise UsageError(explain_no_run(path, "simulate"))
        for folder in below:
            if RunFolder.read(folder).manifest.study != "behave":
                found[folder] = None
    return list(found)


def list_recorded_plays(path: Path) -> Iterator[JsonObject | str]:
    """Yield the plays of a run in the form of imported ones.

    A text says why a play is of no use.
    """
    folder = RunFolder.read(path)
    if folder.manifest.study == "behave":
        yield "a run of `behave` itself; name the runs that it describes"
        return
    if folder.manifest.study == "import":
        for line in read_lines(folder.path / "records.jsonl"):
            known = "form" in line["data"]
            yield line if known else explain_unusable(load_run(path).game(line["data"]), None)
        return
    try:
        run = None if folder.manifest.study == "sessions" else load_run(folder.path)
    except BestResponseError as error:
        yield str(error)
        return
    for play in folder.plays():
        try:
            game = _find_session_game(play) if run is None else run.game(play.data)
            form = None if game is None else find_stage_form(game)
        except BestResponseError as error:
            yield str(error)
            continue
        if play.record.void:
            yield "a void play"
        elif form is None or form.num_players != 2 or getattr(game, "noise", None):
            yield explain_unusable(game, form)
        else:
            yield from _keep_play(play, form)


def _find_session_game(play: StoredPlay) -> AnyGame | None:
    """Find the game of a session of people by its name, which is never opened as a file.

    None for a formalized game, which may have the name of another one, and where parameters may set
    another table or noise.
    """
    choice = play.data["setup"]["game"]
    parameters = set(choice.get("parameters", ()))
    if choice.get("program") or parameters - _LENGTHS:
        return None
    return find_game(choice["name"], allow_files=False).playable()


def _keep_play(play: StoredPlay, form: NormalForm) -> Iterator[dict[str, object] | str]:
    """Yield a play of a game with this table in the form of imported ones.

    What a stand-in did is no behaviour of the player, whose later moves follow from it; the other
    seat is kept.
    """
    treatment = play.data.get("treatment")
    persons = play.data.get("subjects", {})
    data = {
        "form": _keep_form(form),
        "treatment": {"treatment": treatment} if treatment else {},
        "subjects": [persons.get(role, "") for role in form.players],
    }
    record = record_to_json(play.record)
    turns = play.record.submissions
    for role in {turn.role for turn in turns if turn.decision.stand_in}:
        record["players"][role] = ""
        yield "a seat for which a stand-in answered"
    yield {"spec": play.spec, "data": data, "record": record}


def explain_unusable(game: AnyGame | None, form: NormalForm | None) -> str:
    """Say why nothing is estimated from the plays of a game."""
    if game is None:
        return "its game is not known by name, so that its payoff table is not known either"
    if isinstance(game, HasSpeakers):
        return "a dialogue: what people say is text, and the estimates need moves in a payoff table"
    if form is None:
        return f"{game.name} has no payoff table, which every estimate needs"
    if form.num_players != 2:
        return f"{game.name} has {form.num_players} players; the estimates are for two"
    return (
        "moves go wrong there: the estimates need plays in which moves are made as they are meant"
    )


def _keep_form(form: NormalForm) -> JsonObject:
    return {
        "name": form.name,
        "actions": form.actions,
        "payoffs": form.payoffs.tolist(),
        "players": form.players,
    }


def copy_plays(
    config: BehaveConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Keep the plays of all runs, each under the name of its run, and count what is of no use."""
    outcome = Outcome()
    done = folder.finished()
    unused = Counter[tuple[str, str]]()
    kept: dict[str, str] = {}
    if folder.finished_whole:
        return Outcome(found=len(done))
    for path in list_folders(config.runs):
        name = path.name
        for play in list_recorded_plays(path):
            if isinstance(play, str):
                unused[name, play] += 1
                continue
            try:
                spec = digest([name, play["spec"]])
                record = digest(play["record"])
            except ValueError:
                raise UsageError(
                    f"{path / 'records.jsonl'} is damaged: a play holds a number that is not finite"
                ) from None
            if not all(isinstance(player, str) for player in play["record"]["players"].values()):
                raise UsageError(
                    f"{path / 'records.jsonl'} is damaged: the name of a player is not a text"
                )
            if kept.get(spec, record) != record:
                raise SettingError(
                    "runs", f"two folders called {name} hold different plays; rename one of them"
                )
            if spec not in done and spec not in kept:
                data = {**play["data"], "run": name}
                folder.finish_encoded(encode_rows([{**play, "spec": spec, "data": data}]))
                outcome.played += 1
            kept[spec] = record
        how.on_progress(Progress(None, len(done), outcome.played, 0))
    if not kept and not done:
        reasons = "; ".join(f"{name}: {why}" for name, why in unused) or "no play is finished"
        raise UsageError(f"there are no moves to describe: {reasons}")
    rows = [UnusedRow(what=name, why=why, times=times) for (name, why), times in unused.items()]
    folder.write_text("unused.jsonl", encode_rows(rows).decode())
    return outcome


@lru_cache(maxsize=4096)
def make_form(kept: str) -> NormalForm:
    """Return the table that a play keeps as JSON; equal ones are one object."""
    data = json.loads(kept)
    players = tuple(data.get("players") or ("row", "column"))
    actions = tuple(map(tuple, data["actions"]))
    return NormalForm(data["payoffs"], players, actions, data["name"])


def list_sequences(folder: RunFolder) -> Iterator[SeatMoves]:
    """Yield what every known player did in every match."""
    for line in read_sorted(folder.path / "records.jsonl"):
        data = line["data"]
        record = line["record"]
        form = make_form(canonical(data["form"]))
        moves: tuple[list[Move], list[Move]] = ([], [])
        for submission in record["submissions"]:
            if submission["role"] in form.players:
                seat = form.players.index(submission["role"])
                action = submission["action"]
                if isinstance(action, str):
                    moves[seat].append(form.actions[seat].index(action))
                else:
                    moves[seat].append(tuple(action))
        subjects = [*data.get("subjects", ()), "", ""]
        for seat, role in enumerate(form.players):
            player = record["players"].get(role)
            if not player:
                continue
            opponent = form.players[1 - seat]
            # What both seats share first, then the own part of this one.
            shared = {}
            own = {}
            for name, value in data["treatment"].items():
                if isinstance(value, list):
                    own[name] = str(value[seat])
                else:
                    shared[name] = str(value)
            treatment = shared | own
            labels = {
                "player": player,
                "opponent": record["players"].get(opponent) or "",
                "game": form.name,
                "seat": role,
                "run": data["run"],
                **treatment,
                "treatment": ", ".join(treatment.values()),
            }
            answers = moves[1 - seat]
            yield SeatMoves(
                labels,
                form,
                seat,
                own=tuple(moves[seat]),
                other=tuple(move if isinstance(move, int) else -1 for move in answers),
                match=line["spec"],
                subject=subjects[seat] or None,
                rival=subjects[1 - seat] or None,
                imported=data.get("study") == "import",
            )
