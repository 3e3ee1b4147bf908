"""`bestresponse play`: a person at the terminal among strategies, bidders, solvers and models."""

import secrets
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from shutil import get_terminal_size
from typing import ClassVar

import typer

import bestresponse as br
from bestresponse.analysis.costs import ChoiceRow, price_choices
from bestresponse.analysis.decisions import judge_play
from bestresponse.analysis.truth import find_truth
from bestresponse.cli.study_command import make_settings_command
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.capabilities import AdjustableRounds, check_telling
from bestresponse.core.episode import Episode, Record, SeatAsk
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.files import read_toml
from bestresponse.core.game import REFEREE, AnyGame, Game, S, find_first_asks
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision, Player
from bestresponse.games.capabilities import HasCourse, HasSpeakers, HasStage
from bestresponse.games.dialogue.domain import domain_names, scenarios
from bestresponse.games.dialogue.game import DialogueGame, PlainDialogue
from bestresponse.games.dialogue.offers import OfferDialogue
from bestresponse.games.lookup import NamedGame
from bestresponse.games.mechanisms import with_repeated
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.players.dialogue.speaker import Unguided
from bestresponse.players.llm.agent import WithFailurePolicy, lets_pass
from bestresponse.players.lookup import (
    check_seat_name,
    choose_default,
    find_known_strategies,
    find_strategy,
    seat_model,
)
from bestresponse.players.people.console import ConsolePlayer, Left, summarise_rules
from bestresponse.report.frames import Frame
from bestresponse.report.text import visible
from bestresponse.runs.models import open_models
from bestresponse.runs.run import find_revision, find_unfinished, read_command_line
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings
from bestresponse.runs.store.folder import Manifest, RunFolder, Spec, environment, identify_settings
from bestresponse.telling.render import list_rounds, word_rules, write_history

ME = "me"


@settings
class PlayConfig(RunSettings):
    """Play a game yourself. Without --seat you take the first one.

    At the end you see what each of your choices cost, if that is known. Type `help` at the
    prompt to see what else you can type. You can leave at any time; run the same command to resume.
    """

    game: str = setting(argument=True)
    """A game: see `bestresponse games`, a game file, or a dialogue: see `bestresponse steer`."""
    seat: Mapping[str, str] = setting(default_factory=dict, metavar="ROLE=PLAYER")
    """Who sits where: me, a model, verified:MODEL (its reasoning is checked), random, equilibrium,
    always:MOVE, a bidder or baseline."""
    others: str | None = setting(default=None)
    """Player for all other seats, such as tit-for-tat with --rounds. [default: one that suits
    the game]"""
    rounds: int | None = setting(default=None, ge=1, le=10_000)
    """Rounds of a game with a payoff table; days of the water game."""
    abundance: str | None = setting(default=None, help="Water game: low, medium or high.")
    low: int | None = setting(default=None, ge=0, help="Water game: smallest daily supply.")
    high: int | None = setting(default=None, ge=0, help="Water game: largest daily supply.")
    rules: Path | None = setting(default=None, metavar="FILE")
    """Water game: TOML with residents and any other rules instead of the published ones."""
    seed: int | None = setting(
        default=None,
        ge=0,
        lt=2**63,
        help="Seed for chance moves and random players.",
    )
    unused: ClassVar[frozenset[str]] = OF_PLAYS


def play_with_person(setup: PlayConfig) -> None:
    """Seat everybody, and play to the end or until the person leaves."""
    output_dir = Path(setup.output_dir)
    town = _read_town(setup)
    table = _make_game(setup.game, town, setup.rounds, is_ruled=REFEREE in setup.seat)
    seats = _seat_players(table, setup.seat, setup.others or choose_default(table))
    about: JsonObject = {
        "game": setup.game,
        "town": None if town is None else town.rules.to_json(),
        "rounds": setup.rounds,
        "seats": seats,
    }
    seed = _choose_seed(setup, about)
    if isinstance(table, HasSpeakers):  # the people and what they know are drawn by the seed
        table = table.with_seed(seed)
    if ME in seats.values():
        check_telling(table)

    seated: dict[str, Player] = {}
    modelled: dict[str, str] = {}
    for role, name in seats.items():
        if name == ME:
            continue
        strategy = find_strategy(name, table, role, seed)
        if strategy is None:
            modelled[role] = name
        else:
            seated[role] = strategy
    names = tuple(dict.fromkeys(modelled.values()))
    for name in names:
        check_seat_name(name, table)
    passing = lets_pass(find_first_asks(table))
    with open_models(names, output_dir, setup.limits) as opened:
        for role, name in modelled.items():
            player = seat_model(name, opened.models[name], table, role, seed=0)
            # where the game lets a seat pass, a model without a usable answer passes
            seated[role] = WithFailurePolicy(player, "abstain") if passing else player
        in_order = {role: seated[role] for role in seats if role in seated}
        _sit_down(table, {**about, "seed": seed}, in_order, output_dir)


play_command = make_settings_command(PlayConfig, play_with_person)


def _choose_seed(setup: PlayConfig, about: JsonMapping) -> int:
    """Return the seed that was given, that of the game of these settings that was left, or a new
    one."""
    if setup.seed is not None:
        return setup.seed
    before = find_unfinished(Path(setup.output_dir), {**about, "seed": 0})
    if before is None:
        return secrets.randbelow(2**31)
    print(f"going on with {before.path}; --seed begins another game", file=sys.stderr)
    seed: int = before.manifest.config["seed"]
    return seed


def _read_town(setup: PlayConfig) -> Water | None:
    """Make the water game that the settings describe; None where they say nothing of it."""
    given = {name: getattr(setup, name) for name in ("abundance", "low", "high")}
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes and setup.rules is None:
        return None
    if setup.game != "water":
        option = next(iter(changes), "rules")
        raise UsageError(f"--{option} belongs to the water game")
    rules = WaterRules() if setup.rules is None else WaterRules.from_json(read_toml(setup.rules))
    return Water(rules).with_parameters(changes)


def _make_game(
    name: str,
    town: Water | None,
    rounds: int | None,
    *,
    is_ruled: bool,
) -> AnyGame:
    if name in domain_names() or Path(name).suffix == ".toml":
        game = NamedGame.find(name).game()
        if isinstance(game, OfferDialogue) and is_ruled:
            game = game.talk
        if isinstance(game, PlainDialogue):  # two messages each, or until all agree
            domain = game.domain
            drawn = (scenarios(domain, 0, 1)[0],)
            game = DialogueGame(domain, drawn, domain.manners(), replies=2, early_end=True)
    else:
        game = town or br.find_game(name).playable()
    if rounds is None:
        return game
    return (
        game.with_rounds(rounds)
        if isinstance(game, AdjustableRounds)
        else with_repeated(game, rounds)
    )


def _seat_players(game: Game[S], chosen: Mapping[str, str], others: str) -> dict[str, str]:
    named = dict(chosen)
    roles = (*game.roles, REFEREE) if isinstance(game, HasSpeakers) else game.roles
    for role in named:
        if role not in roles:
            raise SettingError(
                "seat", f"there is no seat {role!r}; expected one of {', '.join(roles)}"
            )
    if named.get(REFEREE) == ME:
        raise UsageError("the referee of a dialogue is a model, or `simulated`")
    if set(named) <= {REFEREE}:
        named[game.roles[0]] = ME
    return {role: named.get(role, others) for role in roles}


def _sit_down(
    game: Game[S],
    config: JsonMapping,
    seated: Mapping[str, Player],
    output_dir: Path,
) -> None:
    """Play to the end, or until the person leaves."""
    person = ConsolePlayer(lambda prompt: input(visible(prompt)), _show, game=game)
    people = [role for role, name in config["seats"].items() if name == ME]
    players: dict[str, Player] = {**seated, **dict.fromkeys(people, person)}
    if isinstance(game, HasSpeakers):  # nobody tells a person in which manner to write
        for role in people:
            players[role] = Unguided(person, game.neutral(game.roles.index(role)), choosing=True)
    created = datetime.now().astimezone().isoformat(timespec="seconds")
    run = identify_settings("play", config)
    manifest = Manifest(
        run,
        "play",
        config=dict(config),
        command=read_command_line(),
        created=created,
        environment=environment(find_revision()),
    )
    spec = Spec.of(dict(config))
    with RunFolder.open(output_dir / f"play-{run}", manifest) as folder:
        for role in people:
            rules = word_rules(game, game.view(game.start(), role))
            _show(summarise_rules(rules))
        if spec.id in folder.finished():
            raise UsageError(
                f"this game (seed {config['seed']}) has been played; give another --seed, or none"
            )
        begun = folder.begun(set()).get(spec.id, [])
        try:
            record = br.play(
                game,
                players,
                seed=config["seed"],
                submissions=begun,
                ask_seats=_people_last,
                on_submission=lambda submission: folder.submit(spec.id, submission),
            )
        except Left as left:
            print(f"\n{left}; run the same command to resume this game.")
            raise typer.Exit(1 if "ended" in str(left) else 0) from None
        folder.finish(spec.id, spec.data, record)
        folder.mark_finished()
    _tell_end(game, record, people)


def _show(text: str) -> None:
    """Text on the terminal, broken between words; lines of tables are left as they are."""
    width = min(get_terminal_size().columns, 100)
    for line in visible(text).split("\n"):
        start = line.lstrip(" ")
        indent = len(line) - len(start)
        later = " " * (indent + 2) if start.startswith("- ") else ""
        if not line.startswith("|"):
            line = textwrap.fill(line, width, subsequent_indent=later)
        print(line, flush=True)


def _people_last(questions: list[SeatAsk]) -> list[Decision]:
    """Everybody else thinks while the person does."""
    with ThreadPoolExecutor(max(1, len(questions))) as pool:
        thinking: dict[str, Future[Decision]] = {}
        for role, player, view, ask in questions:
            if player.name != ME:
                thinking[role] = pool.submit(player.decide, view, ask)
        decided: dict[str, Decision] = {}
        for role, player, view, ask in questions:
            if role not in thinking:
                decided[role] = player.decide(view, ask)
        for role, future in thinking.items():
            decided[role] = future.result()
        return [decided[role] for role, _, _, _ in questions]


def _tell_end(game: Game[S], record: Record, people: list[str]) -> None:
    if record.void:
        _show(
            f"\nThe game is void: {record.void.role} gave no answer that could be used"
            f" ({record.void.why})."
        )
        return
    state = Episode(game, record.submissions).state
    view = game.view(state, people[0] if people else game.roles[0])
    past, _ = list_rounds(view) or ([], "")
    last = (past or [write_history(view)])[-1]
    _show(f"\n{last}\n\nWhat everybody got:")
    for role, payoff in record.payoffs.items():
        print(visible(f"  {role} ({record.players[role]}): {payoff:g}"))
    for role in people:
        strategies = find_known_strategies(game, record.players)
        choices = price_choices(game, record, role, strategies)
        if choices.rows:
            table = choices.to_table(caption=f"What the choices of {role} cost")
            print_table(console(), table)
            _show(_explain_costs(game, choices))
        _show(_tell_regret(game, record, role))


def _tell_regret(game: Game[S], record: Record, role: str) -> str:
    """Say what decisions lost and which was the worst, where single ones can be judged."""
    judged = judge_play(1, record, game, find_truth(game), {})
    own = [one for one in judged.decisions if one.seat == role]
    if not own:
        return ""
    worst = max(own, key=lambda one: one.lost)
    mean = sum(one.lost for one in own) / len(own)
    told = f"Regret per move of {role}: {mean:.3g}, over {len(own)} decisions that mattered."
    if worst.lost:
        told += f" Worst: {worst.answer} instead of {worst.best}, which lost {worst.lost:.3g}."
    return told


def _explain_costs(game: Game[S], choices: Frame[ChoiceRow]) -> str:
    """Say what the costs count, and why there are none where the others are not known."""
    if not isinstance(game, HasStage):
        return ""
    if choices.rows[0]["cost"] is None:
        return (
            "The best reply over all rounds is not known: it depends on how the others would have"
            " replied. The cost in equilibrium is that of each round."
        )
    slips = ", and what you meant counts, not what noise made of it" if _is_noisy(game) else ""
    return (
        "Each cost counts what your choice changed in the rounds that followed: it is what you"
        f" lost against the best way to go on from there{slips}."
    )


def _is_noisy(game: Game[S]) -> bool:
    return isinstance(game, HasCourse) and game.repetition.noise > 0
