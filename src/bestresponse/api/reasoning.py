"""Check reasoning, play single games, open models, and work out published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from bestresponse.core.episode import (
    Record,
    SeatAsk,
    Submission,
    ask_in_turn,
    play as play_episode,
)
from bestresponse.core.errors import BestResponseError, SettingError, UsageError
from bestresponse.core.game import NATURE, REFEREE, Game, S
from bestresponse.core.player import Decision, Nature, Player
from bestresponse.core.registry import Registry, did_you_mean
from bestresponse.formal.claims import translation
from bestresponse.formal.claims.claim import FormSet, check_forms
from bestresponse.formal.claims.review import Review, Reviewer, check_reasoning
from bestresponse.formal.claims.subject import Subject
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.games.lookup import GameLike, as_loaded_game, as_source
from bestresponse.logic.engine import EngineKind, open_engine
from bestresponse.models.base import Model
from bestresponse.models.registry import open_model as open_by_name
from bestresponse.players.lookup import check_seat_name, choose_default, find_strategy, seat_model
from bestresponse.players.strategies import FunctionPlayer, ViewFunction
from bestresponse.runs.inputs import ModelLike, as_model, count_parameters
from bestresponse.runs.models import Opening, open_models
from bestresponse.studies.reproduce.reproduction import Reproduction

papers = Registry(
    "bestresponse.papers",
    "paper",
    {
        "akata": "bestresponse.studies.reproduce.recorded_play:reproduce_akata",
        "alympics": "bestresponse.studies.reproduce.alympics:reproduce_alympics",
        "autoformalization": (
            "bestresponse.studies.reproduce.autoformalization:reproduce_autoformalization"
        ),
        "dilemma": "bestresponse.studies.reproduce.recorded_play:reproduce_dilemma",
        "fairgame": "bestresponse.studies.reproduce.recorded_play:reproduce_fairgame",
        "lelma": "bestresponse.studies.verify.reproduction:reproduce_lelma",
        "stories": "bestresponse.studies.stories.study:reproduce_stories",
    },
)
"""Functions of a folder that return a `Reproduction`."""


def open_model(name: str, *, workers: int = 16, threads: int = 1) -> Model:
    """Open a model by its name, with keys from the environment.

    Nothing is cached, counted or limited.
    """
    return open_by_name(name, Opening((), workers, threads).settings)


def verify(
    game: GameLike,
    text: str,
    *,
    seat: str | None = None,
    translator: ModelLike | None = None,
    feedback: Literal["positive", "negative"] = "positive",
    forms: FormSet = "all",
    solver: str = "both",
    engine: EngineKind = "embedded",
    output_dir: str | Path = "results",
) -> Review:
    """Check a reasoning about a game: find its claims, and prove or refute each.

    The player `seat` reasons, the first if none is named. Without a `translator` rules find the
    claims; else the translator of a package does, by its name, or a model, whose replies are kept
    in `output_dir`; a model's claim has no verdict where the words that it quotes do not say it.
    `feedback` corrects by the true values or by the negation. Of `forms` only those about
    "payoffs", or those of the LELMA "paper", may be counted. Logic and theory decide `both`, unless
    a `solver` is named.

    >>> verify("prisoners-dilemma", "If I defect and you cooperate, I get 1.").state.value
    'refuted'
    """
    if isinstance(game, str) and game.rstrip().endswith((".", "!", "?")):
        raise UsageError(
            f"expected verify(game, text), got a text in place of the game: {game!r:.60}"
        )
    check_reasoning(text)
    form = as_loaded_game(game).solvable()
    if seat is not None and seat not in form.players:
        raise SettingError(
            "seat", f"there is no player {seat!r}; expected {' or '.join(form.players)}"
        )
    subject = Subject(form, 0 if seat is None else form.players.index(seat))
    checked_forms = check_forms(forms)
    opened = open_engine(engine, confined=False)

    def review(used: translation.Translator) -> Review:
        reviewer = Reviewer(
            used,
            lambda: opened,
            tone=feedback,
            forms=checked_forms,
            solver=solver,
        )
        return reviewer.review(text, subject)

    try:
        if translator is None:
            return review(translation.find_translator("rules"))
        if isinstance(translator, str) and translator in translation.translators.names():
            return review(translation.find_translator(translator))
        named = as_model(translator)
        with open_models((named,), Path(output_dir)) as models:
            opened_model = models.models[named]
            return review(translation.ModelTranslator(opened_model, forms=checked_forms))
    finally:
        opened.close()


def play(
    game: GameLike,
    players: (
        Mapping[str, ModelLike | Player | ViewFunction]
        | Sequence[ModelLike | Player | ViewFunction]
    ) = (),
    *,
    seed: int = 0,
    submissions: Iterable[Submission] = (),
    ask_seats: Callable[[list[SeatAsk]], list[Decision]] = ask_in_turn,
    on_submission: Callable[[Submission], None] | None = None,
) -> Record:
    """Play a game once and return its record.

    A player is the name of a strategy or a model, a model, a function from a prompt to a text
    (which is a model), a player with `decide(view, ask)`, or a function of view and ask. A sequence
    fills the seats in the order of the roles. Seats that nobody was named for are taken by an
    equilibrium, by the first strategy of the game, or in a dialogue by simulated people.

    A play that was left goes on from its `submissions`; `on_submission` is told every new one, so
    that it can be kept. `ask_seats` asks those who move at the same time, by default one after the
    other.

    >>> play("prisoners-dilemma", {"row": "always:cooperate"})
    Record('prisoners-dilemma', 2 submissions, payoffs [0.0, 5.0])
    """
    if isinstance(game, str | Path):
        rules = as_source(game).game()
    else:
        rules = as_loaded_game(game).playable()
    seats = (*rules.roles, REFEREE) if isinstance(rules, HasSpeakers) else rules.roles
    if not isinstance(players, Mapping):
        if players and len(players) != len(rules.roles):
            raise UsageError(
                f"{rules.name} has the seats {', '.join(rules.roles)}; name a player for each"
            )
        players = dict(zip(rules.roles, players, strict=False))
    for role in players:
        if role not in (*seats, NATURE):
            hint = did_you_mean(role, list(seats)) or f" There are {', '.join(seats)}."
            raise UsageError(f"{rules.name} has no seat {role!r}.{hint}")
    named = dict.fromkeys(seats, choose_default(rules)) | dict(players)
    seated = {role: _seat(player, rules, role, seed) for role, player in named.items()}
    return play_episode(
        rules,
        {NATURE: Nature(seed), **seated},
        submissions=submissions,
        ask_seats=ask_seats,
        on_submission=on_submission,
    )


def _seat(player: object, rules: Game[S], role: str, seed: int) -> Player:
    if isinstance(player, str):
        if (strategy := find_strategy(player, rules, role, seed)) is not None:
            return strategy
        check_seat_name(player, rules)
        return seat_model(player, open_model(player), rules, role, seed)
    if hasattr(player, "decide"):
        return cast(Player, player)
    if isinstance(player, Model) or (callable(player) and count_parameters(player) == 1):
        named = as_model(player)
        return seat_model(named, cast(Model, named.model), rules, role, seed)
    if callable(player) and count_parameters(player) == 2:
        return FunctionPlayer(player, getattr(player, "__name__", "function"))
    raise UsageError(
        f"{role}: expected a strategy, a model, a player, a function from a prompt to a text, or a"
        f" function of view and ask; got {type(player).__name__}"
    )


def reproduce(paper: str, data: str | Path) -> Reproduction:
    """Work out the figures of a paper from its recorded runs in the folder or archive `data`."""
    if not (Path(data).is_dir() or Path(data).suffix == ".zip"):
        raise UsageError(f"{data}: there is no such folder")
    reproduce_paper: Callable[[Path], Reproduction] = papers.load(paper)
    try:
        return reproduce_paper(Path(data))
    except BestResponseError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        what = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"{data} does not hold the records of {paper} as they were published ({what[:200]})"
        ) from error
