"""A steering run from settings to results, and the same again from the record.

This covers its games, who takes part, and what it takes.

Scenarios written by a model from examples: names, situations or topics, and private information.

The examples are drawn by the domain's own generator, others for every question; replies are kept in
the book like every other answer, so the same scenarios are written once. What the model writes is
checked (`games.dialogue.domain`); what is no scenario of the domain, or one that is there already,
is rejected and the reason kept. If too few are left, that is an error: the generator never fills in
for the model.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import cast

from bestresponse.core.errors import (
    InvalidGame,
    ModelError,
    NotCached,
    StoreError,
    TooLarge,
    UsageError,
)
from bestresponse.core.json import canonical, digest
from bestresponse.core.player import Player, Reading, Status
from bestresponse.core.seeds import split
from bestresponse.games.dialogue import domain as domains
from bestresponse.games.dialogue.game import DialogueGame, Entry, RecordedDialogue
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import (
    Finish,
    Message,
    Model,
    ModelsByName,
    Reply,
    Request,
    Usage,
)
from bestresponse.models.schema import schema_text
from bestresponse.models.wrappers.limits import Budget, find_price
from bestresponse.players.dialogue.speaker import (
    Arbiter,
    DealReferee,
    Observer,
    ScoreReferee,
    Speaker,
    Voices,
)
from bestresponse.players.llm.player import Sampling
from bestresponse.players.llm.reading import find_json_objects
from bestresponse.runs.execution import Outcome, Progress
from bestresponse.runs.store.folder import Manifest, RunFolder
from bestresponse.runs.study import Estimate, recorded_models
from bestresponse.studies.steer import psro as search
from bestresponse.studies.steer.answers import AnswerStore, Cast, read_answers
from bestresponse.studies.steer.building import Built, build_dialogue, count_missing_calls, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import Embedding, HashedWords, MiniLM
from bestresponse.studies.steer.following import (
    Followed,
    Opinions,
    compare_rulings,
    follow_rate,
    spoken_messages,
)
from bestresponse.studies.steer.fresh import FreshPlays, Nearest, hold_talk, play_fresh
from bestresponse.studies.steer.imitation import (
    NETWORK_FILE,
    Imitation,
    KeptNetwork,
    LearntGame,
    Trainer,
    Training,
    imitate,
    train_network,
)
from bestresponse.studies.steer.meta_game import PromptArena
from bestresponse.studies.steer.oracles import Inventor
from bestresponse.studies.steer.solving import (
    SolvedDialogue,
    judge_policy,
    learn_policy,
    solve_dialogue,
    unguided_policy,
)
from bestresponse.telling.render import write_rules
from bestresponse.theory.trees.compile import compile_game

_AT_ONCE = 4
_EXAMPLES = 3
_TOKENS_EACH = 250
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Written:
    """The scenarios that can be played, and why others cannot."""

    scenarios: tuple[domains.Scenario, ...]
    rejected: tuple[str, ...]

    def of(self, domain: domains.Domain) -> domains.Domain:
        """Return the domain with these scenarios and no others.

        Other private information is still drawn.
        """
        return replace(domain, written=tuple(scenario.to_json() for scenario in self.scenarios))


def most_questions(count: int) -> int:
    """Say how many times a model is asked for `count` scenarios before that is given up."""
    return 2 * -(-count // _AT_ONCE) + 2


@dataclass(frozen=True, slots=True, eq=False)
class Author:
    """Asks `model` for scenarios of `domain`; `seed` draws the examples."""

    model: Model
    domain: domains.Domain
    answers: AnswerStore
    seed: int

    def write(self, count: int) -> Written:
        """Write `count` different scenarios; InvalidGame where the model does not write so many."""
        written: dict[str, domains.Scenario] = {}
        rejected: list[str] = []
        for number in range(most_questions(count)):
            if len(written) == count:
                break
            examples = domains.scenarios(
                self.domain,
                split(self.seed, "examples", number),
                _EXAMPLES,
            )
            entry = self._ask(number, min(_AT_ONCE, count - len(written)), examples)
            if entry.text is None:
                rejected.append(entry.reading.how)
                continue
            taken = {_spell(example) for example in examples}
            for data in json.loads(entry.text):
                try:
                    scenario = domains.read_scenario(self.domain, data)
                except InvalidGame as error:
                    rejected.append(str(error))
                    continue
                spelling = _spell(scenario)
                if spelling in taken or spelling in written:
                    rejected.append("it already exists")
                elif len(written) < count:
                    written[spelling] = scenario
        if len(written) < count:
            common = Counter(rejected).most_common(1)
            why = (
                f"{len(rejected)} were rejected, mostly because {common[0][0]}"
                if common
                else "it wrote no others"
            )
            raise InvalidGame(
                f"{self.model.id} wrote {len(written)} scenarios that can be played, not {count},"
                f" in {most_questions(count)} answers; {why}; another seed asks it again"
            )
        return Written(tuple(written.values()), tuple(rejected))

    def _ask(self, number: int, count: int, examples: list[domains.Scenario]) -> Entry:
        content = TEXTS.fill(
            "dialogue_write",
            domain=self.domain.name,
            rules=domains.scenario_rules(self.domain),
            examples="\n".join(
                json.dumps(example.to_json(), ensure_ascii=False) for example in examples
            ),
            count=count,
            form=", ".join(["<scenario>"] * count),
        )
        request = Request(
            (Message("system", TEXTS.text("dialogue_author")), Message("user", content)),
            max_tokens=_TOKENS_EACH * count,
            temperature=1.0,
            seed=split(self.seed, "author", number) % 2**31,
            schema=(
                schema_text(domains.scenario_schema(self.domain, count))
                if self.model.abilities.schema
                else None
            ),
            replicate=number,
        )
        return self.answers.ask_model("write", self.model, request, _list_scenarios)


def _list_scenarios(reply: Reply) -> tuple[str | None, Reading]:
    """List the scenarios of a reply, as JSON: those of a list, or each object that has names."""
    if reply.finish is Finish.REFUSAL:
        return None, Reading(Status.REFUSED, "the provider's filter ended the reply")
    if len(reply.text) > _LONGEST:
        return None, Reading(
            Status.ILLEGAL, f"the answer has {len(reply.text)} characters; the limit is {_LONGEST}"
        )
    listed: list[object] = []
    for _, data in find_json_objects(reply.text):
        inner = data.get("scenarios")
        if isinstance(inner, list):
            listed += inner
        elif "names" in data:
            listed.append(data)
    if listed:
        return canonical(listed), Reading()
    status = Status.TRUNCATED if reply.finish is Finish.LENGTH else Status.UNPARSEABLE
    return None, Reading(status, f"there is no scenario in {reply.text.strip()[:80]!r}")


def _spell(scenario: domains.Scenario) -> str:
    """Return one spelling for scenarios that differ in capital letters only."""
    return canonical(scenario.to_json()).casefold()


Tell = Callable[[Progress], None]
_BYTES_PER_TOKEN = 3
"""Of English prose in common vocabularies; an estimate must not be too low."""


@dataclass(frozen=True, slots=True, eq=False)
class GameResult:
    """One game: its recorded dialogue and solution, or why there is none."""

    number: int
    game: DialogueGame
    recorded: RecordedDialogue | None = None
    solved: SolvedDialogue | None = None
    why_void: str = ""
    followed: Followed = field(default_factory=Followed)
    opinions: Opinions = field(default_factory=Opinions)
    fresh: FreshPlays | None = None


@dataclass(slots=True, eq=False)
class SteerResults:
    """What a run found."""

    config: SteerConfig
    domain: domains.Domain
    written: Written | None = None
    games: tuple[GameResult, ...] = ()
    psro: search.PsroResult | None = None
    psro_played: int = 0
    psro_voids: int = 0
    psro_held_out: FreshPlays | None = None
    imitation: Imitation | None = None
    learnt: tuple[LearntGame, ...] = ()
    """The games that imitation has learnt from or was judged on, solved by CFR."""
    stopped: str = ""
    entries: tuple[Entry, ...] = ()
    """Every recorded answer that the run is made of, in order."""

    @property
    def solved(self) -> list[SolvedDialogue]:
        """The solutions of the games that were solved."""
        return [game.solved for game in self.games if game.solved is not None]


@dataclass(frozen=True, slots=True, eq=False)
class SteerSession:
    """Everybody that the games of a run need, and the answers so far.

    These are those who speak, who rule, and who tell manners apart.
    """

    config: SteerConfig
    domain: domains.Domain
    models: ModelsByName
    answers: AnswerStore
    workers: int = 1

    @property
    def cast(self) -> Cast:
        """Who speaks and who rules."""
        config = self.config
        judge = self.models[config.judge or config.model]
        second = self.models[config.second_judge] if config.second_judge else judge
        calls = {
            "": 0,
            "deal": 1,
            "score": 1 + self.domain.players * len(self.domain.payoffs.parts),
        }
        named = self.domain.manners(config.actions).models

        def speak(number: int) -> Player:
            sampling = Sampling(config.temperature, max_tokens=config.max_tokens, replicate=number)
            voices = {
                manner: Speaker(self.models[name], sampling) for manner, name in named.items()
            }
            speaker = Speaker(self.models[config.model], sampling)
            return Voices(speaker, voices) if voices else speaker

        def rule(kind: str, model: Model) -> Player:
            return (
                DealReferee(model, self.domain)
                if kind == "deal"
                else ScoreReferee(model, self.domain)
            )

        referee = rule(config.payoffs, judge)
        if config.observe == "summary":
            referee = Arbiter(referee, Observer(judge))
        return Cast(
            speak,
            referee,
            rule(config.second, second) if config.second else None,
            calls[config.payoffs],
            calls[config.second],
        )

    @property
    def embed(self) -> Embedding:
        """How texts become numbers."""
        return MiniLM() if self.config.embed == "minilm" else HashedWords()

    def draw_games(self) -> tuple[list[DialogueGame], list[DialogueGame]]:
        """Draw the games for the solver, then those on which the learning is judged."""
        config = self.config
        domain = self.domain
        manners = domain.manners(config.actions)
        games = []
        for scenario in domains.scenarios(domain, config.seed, config.games + config.held_out):
            games.append(
                DialogueGame(
                    domain,
                    domains.variants(domain, scenario, config.seed, config.types),
                    manners,
                    config.replies,
                    config.early_end,
                    summaries=config.observe == "summary",
                )
            )
        return games[: config.games], games[config.games :]

    def write_scenarios(self) -> tuple[SteerSession, Written | None]:
        """Let a model write the scenarios where the settings want it.

        Return the session in which they are played.
        """
        config = self.config
        if not config.scenarios_by:
            return self, None
        author = Author(
            self.models[config.scenarios_by],
            self.domain,
            self.answers,
            config.seed,
        )
        written = author.write(config.games + config.held_out)
        return replace(self, domain=written.of(self.domain)), written

    def open_arena(self, games: Sequence[DialogueGame]) -> PromptArena:
        """Return where profiles of manners are played on these games."""
        swap = self.config.swap_seats
        seed = self.config.seed
        return PromptArena(
            games,
            self.cast,
            self.answers,
            workers=self.workers,
            seed=seed,
            swap=swap,
        )

    def prepare_search(self) -> tuple[PromptArena, Inventor]:
        """Return who plays in the search in prompt space, and who proposes."""
        config = self.config
        games = self.draw_games()[0]
        task = write_rules(games[0].view(games[0].start(), "referee"))
        inventor = Inventor(
            self.models[config.model],
            task,
            self.answers,
            max(config.temperature, 0.7),
        )
        return self.open_arena(games), inventor


def run(
    config: SteerConfig,
    models: ModelsByName,
    answers: AnswerStore,
    *,
    workers: int = 1,
    on_progress: Tell = lambda progress: None,
    train: Trainer | None = train_network,
) -> tuple[SteerResults, Outcome]:
    """Do everything that the settings want; what is on record already is not asked again.

    Without `train` nothing is learnt: imitation then only asks for its texts.
    """
    session, written = SteerSession(
        config,
        config.read_domain(),
        models,
        answers,
        workers,
    ).write_scenarios()
    results = SteerResults(config, session.domain, written)
    match config.solver:
        case "cfr":
            outcome = _run_cfr(session, results, on_progress)
        case "psro":
            outcome = _run_psro(session, results, on_progress)
        case "imitation":
            outcome = _run_imitation(session, results, on_progress, train)
    results.stopped = outcome.stopped or "; ".join(outcome.failures)
    results.entries = tuple(entry for entry in answers.book.entries if entry.key in answers.used)
    return results, outcome


def _run_cfr(session: SteerSession, results: SteerResults, tell: Tell) -> Outcome:
    """Build, solve and judge one game after another, as far as that is possible."""
    outcome = Outcome()
    games = session.draw_games()[0]
    embed = session.embed
    for number, (game, built) in enumerate(_build_games(session, games, outcome, tell)):
        result = _judge_game(
            session,
            _solve_game(session, number, game, built),
            built,
            embed,
        )
        results.games = (*results.games, result)
    return outcome


def _build_games(
    session: SteerSession,
    games: Sequence[DialogueGame],
    outcome: Outcome,
    tell: Tell,
) -> Iterator[tuple[DialogueGame, Built]]:
    """Ask for every text of the games that is not on record, until building stops.

    Each game, once it is worked on, counts as failed, played or found on record.
    """
    for game in games:
        before = session.answers.calls
        built = build_dialogue(
            game,
            session.cast,
            session.answers,
            wordings=session.config.wordings,
            workers=session.workers,
        )
        yield game, built
        outcome.stopped = built.stopped
        if built.failed or built.stopped:
            outcome.failed += 1
        elif session.answers.calls > before:
            outcome.played += 1
        else:
            outcome.found += 1
        if built.last_failure and built.last_failure not in outcome.failures:
            outcome.failures.append(built.last_failure)
        tell(Progress(len(games), outcome.found, outcome.played, outcome.failed))
        if outcome.stopped:
            return


def _run_imitation(
    session: SteerSession,
    results: SteerResults,
    tell: Tell,
    train: Trainer | None,
) -> Outcome:
    """Build all games, those held out too; then learn from the first and judge on the others."""
    config = session.config
    outcome = Outcome()
    learnt_from, held_out = session.draw_games()
    if results.domain.players != 2:
        raise UsageError("imitation needs the same actions in every game: a domain of two speakers")
    games = [*learnt_from, *held_out]
    for number, (game, built) in enumerate(_build_games(session, games, outcome, tell)):
        recorded, why_void = _read_recorded(session, game, built)
        results.games = (*results.games, GameResult(number, game, recorded, why_void=why_void))
    if train is not None and not outcome.stopped:
        parts = (results.games[: config.games], results.games[config.games :])
        known, unseen = (
            [_learn_game(session, game) for game in part if game.recorded] for part in parts
        )
        results.learnt = (*known, *unseen)
        manners = games[0].manners.options
        how = Training(seed=config.seed)
        results.imitation = imitate(
            known,
            unseen,
            actions=manners,
            embed=session.embed,
            how=how,
            train=train,
        )
    return outcome


def _learn_game(session: SteerSession, game: GameResult) -> LearntGame:
    """Solve a game by counterfactual regret minimisation alone."""
    recorded = cast(RecordedDialogue, game.recorded)
    tree = compile_game(recorded)
    unguided = unguided_policy(recorded, tree)
    policy = learn_policy(tree, session.config.iterations, session.config.variant)
    return LearntGame(unguided, judge_policy(unguided, policy))


def _solve_game(
    session: SteerSession,
    number: int,
    game: DialogueGame,
    built: Built,
) -> GameResult:
    config = session.config
    recorded, why_void = _read_recorded(session, game, built)
    if recorded is None:
        return GameResult(number, game, why_void=why_void)
    solved = solve_dialogue(
        recorded,
        config.iterations,
        follow=config.policy,
        variant=config.variant,
    )
    second = session.cast.second
    opinions = Opinions() if second is None else compare_rulings(recorded, second, session.answers)
    return GameResult(number, game, recorded, solved, opinions=opinions)


def _read_recorded(
    session: SteerSession,
    game: DialogueGame,
    built: Built,
) -> tuple[RecordedDialogue | None, str]:
    """Return the game on record, or None and why it cannot be played."""
    book = session.answers.book
    try:
        return RecordedDialogue(game, book, session.config.wordings), ""
    except InvalidGame as error:
        if built.stopped or built.last_failure:
            return None, built.stopped or built.last_failure
        lost = (entry for entry in book.entries if entry.key in built.keys and entry.text is None)
        unread = Counter(entry.reading.how for entry in lost)
        if not unread:
            return None, str(error)
        common = unread.most_common(1)[0][0]
        return None, f"no dialogue has a readable end, mostly because {common}"


def _judge_game(
    session: SteerSession,
    result: GameResult,
    built: Built,
    embed: Embedding,
) -> GameResult:
    """Add the metrics that take further calls; where these end early, the reason is noted."""
    config = session.config
    recorded = result.recorded
    if recorded is None or result.solved is None or built.stopped:
        return result
    try:
        if config.fresh:
            draws = range(config.wordings, config.wordings + config.fresh)
            policy = Nearest(result.solved.policy, embed, config.farthest)
            talks = (result.game, policy, session.cast, session.answers, draws)
            result = replace(
                result, fresh=play_fresh(*talks, seed=config.seed, workers=session.workers)
            )
        if config.follow:
            followed = follow_rate(
                spoken_messages(recorded),
                result.game.manners,
                {name: session.models[name] for name in config.classifiers},
                session.answers,
                session.workers,
            )
            result = replace(result, followed=followed)
    except ModelError as error:
        built.stopped = str(error)
    return result


def _run_psro(session: SteerSession, results: SteerResults, tell: Tell) -> Outcome:
    """Search in prompt space over the run's games, and play the result on those held out."""
    config = session.config
    total = config.iterations + 1
    arena, inventor = session.prepare_search()
    result = search.psro(
        arena,
        inventor,
        config,
        lambda number: tell(Progress(total, 0, number, 0)),
    )
    results.psro = result
    results.psro_played = arena.played
    results.psro_voids = arena.voids
    if config.held_out and not result.stopped:
        held_out = session.open_arena(session.draw_games()[1])
        results.psro_held_out = search.play_held_out(
            result,
            held_out,
            range(config.held_out * config.fresh),
            config.seed,
        )
    tell(Progress(total, 0, total, 0))
    return Outcome(played=len(result.history), stopped=result.stopped)


def locate_store(
    config: SteerConfig,
    identities: Mapping[str, Mapping[str, object]],
    output_dir: Path,
) -> Path:
    """Return the folder shared by all that asks the same of the same models.

    It does not matter what is done with the answers.

    `identities` are those of the models, by name.
    """
    domain = config.read_domain()
    asked = [
        config.model,
        config.judge,
        config.payoffs,
        config.temperature,
        config.max_tokens,
    ]
    hashed = digest(
        [domain.digest, {name: dict(identities[name]) for name in config.models}, asked], 12
    )
    return output_dir / f"dialogues-{domain.name}-{hashed}"


def find_answers(config: SteerConfig, manifest: Manifest, output_dir: Path) -> Path:
    """Return the folder in which the answers of a stored run are; StoreError where they are not."""
    identities = {name: entry["identity"] for name, entry in manifest.models.items()}
    path = locate_store(config, identities, output_dir)
    if not path.exists():
        raise StoreError(
            f"the answers of run {manifest.run} were kept in {path}, which is not there"
        )
    return path


def read_results(config: SteerConfig, folder: RunFolder) -> SteerResults:
    """Work out the results of a stored run from its record alone."""
    path = find_answers(config, folder.manifest, folder.path.parent)
    answers = AnswerStore(read_answers(path), offline=True)
    return run(
        config,
        recorded_models(folder),
        answers,
        train=KeptNetwork(folder.path / NETWORK_FILE),
    )[0]


def estimate_run(
    config: SteerConfig,
    models: ModelsByName,
    answers: AnswerStore,
) -> tuple[Estimate, int]:
    """Say the most that a run still takes, and the nodes that a tree can have.

    All is put down to the speaker.
    """
    session = SteerSession(config, config.read_domain(), models, answers.rehearse())
    calls = 0
    try:
        session, _ = session.write_scenarios()
    except NotCached:  # before they are written, games that the seed draws take as many calls
        calls = most_questions(config.games + config.held_out)
    estimate = _estimate_psro if config.solver == "psro" else _estimate_trees
    calls_to_play, nodes = estimate(session)
    calls += calls_to_play
    game = session.draw_games()[0][0]
    state = game.start() if len(game.cases) == 1 else game.apply(game.start(), {"nature": 0})
    # About the longest prompt (with the whole transcript), in tokens.
    prompt = len(write_rules(game.view(state, game.roles[0])).encode()) // _BYTES_PER_TOKEN + 200
    prompt += game.messages * config.max_tokens
    words = f"{config.games} game{'s' if config.games > 1 else ''} of {config.domain}"
    words += f", {nodes:,} nodes per tree" if nodes else ""
    return (
        Estimate.of_calls(
            None,
            words,
            {str(config.model): calls},
            prompt,
            config.max_tokens,
        ),
        nodes,
    )


def _estimate_trees(session: SteerSession) -> tuple[int, int]:
    config = session.config
    cast = session.cast
    answers = session.answers
    draws = range(config.wordings, config.wordings + config.fresh)
    calls = nodes = 0
    for game in chain(*session.draw_games()):
        missing = count_missing_calls(game, cast, answers, config.wordings)
        size = size_of(game, config.wordings)
        calls += missing + (size.messages if config.follow and missing else 0)
        for draw in draws:
            known = answers.has_all_of(partial(hold_talk, game, cast, draw, config.seed))
            calls += 0 if known else _count_draw(game, cast)
        nodes = max(nodes, size.nodes)
    if config.follow and calls:
        labelled = session.domain.manners(config.actions).labelled
        calls += len(labelled) * len(config.classifiers)
    return calls, nodes


def _estimate_psro(session: SteerSession) -> tuple[int, int]:
    config = session.config
    calls = search.count_missing_psro_calls(*session.prepare_search(), config)
    games = session.draw_games()[1]
    numbers = range(config.held_out * config.fresh)
    if games:
        arena = session.open_arena(games)
        known = session.answers.has_all_of(
            lambda answers: search.play_neutral(arena.rehearse(answers), numbers)
        )
        calls += 0 if known else len(numbers) * _count_draw(games[0], session.cast)
    return calls, 0


def _count_draw(game: DialogueGame, cast: Cast) -> int:
    """Count the calls of an unguided talk, and of one talk for each guided seat.

    In the first everybody is unguided. The others are counted from the guided seat's turn on.
    """
    players = game.domain.players
    messages = game.messages + sum(game.messages - seat for seat in range(players))
    rulings = sum(game.rules_after(message) for message in range(1, game.messages + 1))
    summaries = messages if game.summaries else 0
    return messages + summaries + (players + 1) * cast.referee_calls * rulings


def check_budget(
    config: SteerConfig,
    models: ModelsByName,
    need: Estimate,
    nodes: int,
    budget: Budget,
) -> None:
    """Refuse before the first call what cannot be finished."""
    if nodes > config.max_nodes:
        raise TooLarge(
            f"a tree could have {nodes:,} nodes, more than {config.max_nodes:,}; choose fewer"
            " replies or wordings, or raise `max_nodes`"
        )
    usage = Usage(sum(need.prompt_tokens.values()), sum(need.reply_tokens.values()))
    prices = [find_price(models[name])(usage) for name in config.models]
    price = max((price for price in prices if price is not None), default=0.0)
    advice = "raise the limit, choose a smaller game, or say `cut_short` to build as far as it goes"
    for wanted, allowed, words in (
        (need.total_calls, budget.calls, "take {:,} calls, more than the {:,}"),
        (need.total_tokens, budget.tokens, "take {:,} tokens, more than the {:,}"),
        (price, budget.money, "cost ${:.2f}, more than the ${:.2f}"),
    ):
        if allowed is not None and wanted > allowed:
            raise UsageError(f"this could {words.format(wanted, allowed)} allowed; {advice}")
