"""`bestresponse formalize`: a story becomes a checked game program, alone or together with a
person."""

import sys
from dataclasses import replace
from functools import partial
from json import dumps
from pathlib import Path

import typer

from bestresponse.api.formalizing import (
    FormalizeConfig,
    Formalized,
    formalize_story,
    formalize_strategy,
)
from bestresponse.cli.options import AsJson
from bestresponse.cli.study_command import make_settings_command
from bestresponse.cli.terminal import console, print_document, print_note
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import read_text
from bestresponse.formal.evaluate.validation import find_names
from bestresponse.formal.formalize.autoformalizer import (
    Attempt,
    Election,
    Formalization,
    Formalizer,
    check_story,
    elect,
)
from bestresponse.formal.formalize.forms import estimate_formalizing
from bestresponse.formal.formalize.plan import Example, write_example
from bestresponse.formal.formalize.story_claims import MOST_ASKED
from bestresponse.formal.strategies.agents import StrategyAttempt, StrategySettings
from bestresponse.games.describing import describe_changes
from bestresponse.logic.programs.validate import feedback
from bestresponse.models.wrappers.limits import estimate_price
from bestresponse.report.files import write_text
from bestresponse.report.text import visible
from bestresponse.runs.inputs import OptionalGameSetting
from bestresponse.runs.settings import setting, settings


@settings
class FormalizeOptions(FormalizeConfig):
    """Turn a story into a game program that is checked, repaired with feedback, and solved.

    With --strategy FILE --game GAME, a strategy in words becomes rules for select/4, which are
    checked and repaired in the same way. Until there is a game, the best program so far is in
    NAME.partial.pl and its messages are in NAME.messages.txt.

    The exit code is 1 if there is no game. It is also 1 if the story is contradictory or
    incomplete: the game is then written with stated assumptions, and the open questions are printed
    (--interactive asks them). It is also 1 if a check finds a difference between story and game, or
    has no readable answer.
    """

    story: str | Path = setting(default="", kw_only=False, argument=True)
    """A text file with the story, or - to read it from standard input."""
    strategy: Path | None = setting(default=None)
    """A text file with a strategy in words, instead of a story; its rules go to --output (.pl), or
    rules and game together as an agent (.json)."""
    game: OptionalGameSetting = setting(default=None)
    """The game that the strategy is for: a name or a file; two players who choose among the same
    moves at once."""
    output: Path | None = setting(
        default=None,
        short="-o",
        help="File for the program. [default: the story's name with .pl]",
    )
    page: Path | None = setting(default=None)
    """Also write a page (.html): story, game in words, picture and solution."""
    interactive: bool = setting(
        default=False,
        short="-i",
        help="Look at the game, say what is wrong, and let the model revise it.",
    )
    save_example: Path | None = setting(
        default=None, help="Save the story and its game in this folder, for --examples."
    )


def write_game(config: FormalizeOptions, as_json: AsJson = False) -> None:
    """Formalize the story in a file, keep the best program so far, and show the game."""
    if config.strategy is not None:
        write_strategy(config, as_json)
        return
    if config.game is not None:
        raise UsageError("--game is the game of a strategy; give --strategy FILE too")
    story = str(config.story)
    if not story:
        raise UsageError(
            "name a text file with the story, for example story.txt; or --strategy FILE --game GAME"
        )
    if config.interactive and (story == "-" or as_json):
        raise UsageError(
            "--interactive reads remarks from standard input; give the story as a file and leave"
            " out --json"
        )
    text = check_story(_read_story(story))
    target = _find_target(story, config.output)
    _show_estimate(text, config)
    made: list[Attempt] = []

    def tell(attempt: Attempt) -> None:
        """Print a line for each answer of the model, and keep the best one so far, whatever happens
        next."""
        made.append(attempt)
        line = "the program is a game" if attempt.ok else attempt.trouble
        print(f"attempt {len(made)}: {visible(line)}", file=sys.stderr, flush=True)
        if not attempt.ok:
            _keep_partial(max(made, key=lambda earlier: earlier.progress), target)

    refine = partial(talk, target=target) if config.interactive else None
    result = formalize_story(
        replace(config, story=text, name=target.stem, tell=tell, refine=refine)
    )
    files = _write_files(result, target, config.page)
    if as_json:
        print(
            dumps(
                {**result.to_json(), "files": [str(path) for path in files]},
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        _show(result)
    for path in files:
        print_note(f"wrote {path}")
    if not result.ok:
        print(f"bestresponse: {visible(result.formalization.trouble)}", file=sys.stderr)
    for question in result.formalization.questions:
        print(f"bestresponse: the story leaves open: {visible(str(question))}", file=sys.stderr)
    if not result.agrees:
        raise typer.Exit(1)
    if config.save_example is not None:
        write_example(
            config.save_example, Example(target.stem, result.formalization.story, result.program)
        )


_STORY_ONLY = (
    "story",
    "candidates",
    "back_check",
    "claims",
    "shots",
    "choose",
    "examples",
    "form",
    "plays",
    "page",
    "interactive",
    "save_example",
    "effort",
    "reasoning_tokens",
)
"""Settings that mean nothing where a strategy is formalized."""


def write_strategy(config: FormalizeOptions, as_json: bool) -> None:
    """Formalize the strategy in a file, and write its rules or the agent that plays by them."""
    config.refuse_set(_STORY_ONLY, "is for stories; leave it out with --strategy")
    if config.game is None:
        raise UsageError(
            "--strategy needs the game it is for, for example --game prisoners-dilemma"
        )
    assert config.strategy is not None
    words = _read_story(str(config.strategy))
    target = config.output or Path(config.strategy.with_suffix(".pl").name)
    if target.suffix not in (".pl", ".json"):
        raise UsageError(
            f"--output {target}: expected a name that ends in .pl (rules) or .json (an agent)"
        )
    if not target.parent.is_dir():
        raise UsageError(f"--output {target}: there is no folder {target.parent}")
    made: list[StrategyAttempt] = []

    def tell(attempt: StrategyAttempt) -> None:
        made.append(attempt)
        line = (
            attempt.wrong.strip("- ")
            if attempt.wrong
            else "the rules give a move in every situation"
        )
        print(f"attempt {len(made)}: {visible(line)}", file=sys.stderr, flush=True)

    asked = StrategySettings(
        attempts=config.attempts,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
        seed=config.llm_seed,
    )
    result = formalize_strategy(
        words,
        config.game,
        config.model,
        name=target.stem,
        asked=asked,
        limits=config.limits,
        output_dir=config.output_dir,
        tell=tell,
    )
    if as_json:
        print(dumps(result.to_json(), indent=2, ensure_ascii=False))
    elif result.ok:
        print(visible(result.rules))
    if not result.ok:
        print(f"bestresponse: {visible(result.formalization.trouble)}", file=sys.stderr)
        raise typer.Exit(1)
    if target.suffix == ".json":
        result.agent.save(target)
    else:
        comments = "".join(f"% {line}\n" for line in result.formalization.words.splitlines())
        write_text(target, f"{comments}{result.rules}\n")
    print_note(f"wrote {target}")


formalize_command = make_settings_command(FormalizeOptions, write_game)


def _read_story(story: str) -> str:
    if story == "-":
        return sys.stdin.read()
    path = Path(story)
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such file; write the story into a text file, or give - and"
            " type it"
        )
    return read_text(path, 1_000_000)


def _find_target(story: str, output: Path | None) -> Path:
    target = output or Path("game.pl" if story == "-" else Path(story).with_suffix(".pl").name)
    if target.suffix != ".pl":
        raise UsageError(
            f"--output {target}: expected a name that ends in .pl, so that other commands know it"
        )
    if story != "-" and target.exists() and target.resolve() == Path(story).resolve():
        raise UsageError(f"{target} is the story itself; give another --output")
    if not target.parent.is_dir():
        raise UsageError(f"--output {target}: there is no folder {target.parent}")
    return target


def _show_estimate(text: str, config: FormalizeConfig) -> None:
    """Say what the calls will take if the first answer is a game, as it mostly is with a large
    model."""
    each_prompt, each_reply = estimate_formalizing(text)
    checks = config.back_check + config.claims  # their prompts are about half as long
    count = config.candidates + checks
    most = config.candidates * config.attempts + checks * MOST_ASKED
    if checks:  # what they find is given back once, and the new game is checked again
        most += config.attempts + checks * MOST_ASKED
    prompt = config.candidates * each_prompt + checks * each_prompt // 2
    reply = count * each_reply
    money = estimate_price(config.model, prompt, reply)
    price = f", {money:.4f} US dollars" if money else ""
    line = (
        f"calls: about {count}, at most {most}; about {prompt:,} input and {reply:,} output"
        f" tokens{price}"
    )
    print_note(line)


def _write_files(result: Formalized, target: Path, page: Path | None) -> list[Path]:
    winner = result.formalization
    pages = [] if page is None else [write_text(page, result.to_page())]
    if not result.ok and winner.no_game is None:
        return [
            *pages,
            *(
                _keep_partial(winner.best, target, winner.trouble)
                if winner.best is not None
                else ()
            ),
        ]
    for suffix in (".partial.pl", ".messages.txt"):
        target.with_suffix(suffix).unlink(missing_ok=True)
    return [*([result.save(target)] if result.ok else []), *pages]


def _keep_partial(attempt: Attempt, target: Path, trouble: str = "") -> list[Path]:
    """Write what an attempt gave, as far as it came, and what is wrong with it."""
    answer = attempt.reply.text[:100_000].splitlines()
    source = attempt.source or "\n".join(f"% {line}" for line in answer)
    messages = feedback(attempt.report) if attempt.report is not None else attempt.problem
    return [
        write_text(target.with_suffix(".partial.pl"), source + "\n"),
        write_text(
            target.with_suffix(".messages.txt"), visible(f"{trouble}\n\n{messages}".strip()) + "\n"
        ),
    ]


def _show(result: Formalized) -> None:
    winner = result.formalization
    if winner.ok:
        names = find_names(winner.table) if winner.table is not None else ()
        if names:
            console().print(f"satisfies the constraints of: {', '.join(names)}", markup=False)
        try:
            print_document(console(), result.solve().to_document())
        except BestResponseError as error:
            console().print("\n".join(map(visible, result.words)), markup=False, soft_wrap=True)
            print(
                f"bestresponse: the game cannot be solved here: {visible(str(error))}",
                file=sys.stderr,
            )
    spent = result.spent
    cost = "" if spent.unpriced else f", {spent.money:.4f} US dollars"
    lines = [
        f"attempts: {len(winner.attempts)}; calls: {spent.calls}, {spent.tokens:,} tokens{cost}; "
        f"examples shown: {', '.join(winner.examples) or 'none'}"
    ]
    if winner.ok and winner.best is not None and winner.best.report is not None:
        lines += winner.best.report.not_compared
    election = result.election
    if len(election.candidates) > 1:
        sizes = ", ".join(str(len(group)) for group in election.groups)
        lines.append(
            f"{election.votes} of {len(election.candidates)} candidates describe this game (votes:"
            f" {sizes})"
        )
    if result.told_back is not None:
        verdict = {
            True: "agrees with the story",
            False: "differs from the story",
            None: "cannot be judged",
        }
        why = f": {result.told_back.why}" if result.told_back.why else ""
        lines.append(f"told back in words, the game {verdict[result.told_back.agrees]}{why}")
    tested = result.tested
    if tested is not None and tested.problem:
        lines.append(f"the claims of the story cannot be read: {tested.problem}")
    elif tested is not None:
        count = len(tested.claims)
        unread = len(tested.claims) - tested.held - len(tested.broken)
        lines.append(
            f"of {count} statements of the story {tested.held} hold in the game, {unread} cannot be"
            " tested"
        )
        lines += [f"does not hold: {claim.words!r}: {claim.why}" for claim in tested.broken]
    for line in lines:
        print_note(visible(line))


_INVITATION = (
    "What should be different? (an empty line: it is good; `program` shows the program; `game` the"
    " whole game; `undo` takes the last change back)"
)


def talk(formalizer: Formalizer, election: Election, target: Path) -> Election:
    """Show the game, ask its questions, read remarks until an empty line, and return the last good
    state."""
    states = [election.winner]
    _show_state(states[-1])
    while True:
        states[-1], answers = _ask(states[-1])
        remark = answers or _read(_INVITATION)
        if not remark:
            return elect([states[-1]])
        if remark == "program":
            _print(states[-1].source)
        elif remark == "game":
            _show_state(states[-1])
        elif remark == "undo":
            states = states[:-1] or states
            _show_state(states[-1])
        else:
            states = _revise(formalizer, states, remark)
            if states[
                -1
            ].ok:  # each good state is written at once, so that an interrupted talk loses nothing
                write_text(target, states[-1].source + "\n")


def _ask(state: Formalization) -> tuple[Formalization, str]:
    """Ask what the story leaves open; return the answers as one remark, and keep the assumptions
    that are accepted."""
    answers = []
    for question in state.questions:
        assumed = question.assumed or "as you think best"
        answer = _read(f"{question.text} (an empty line: {assumed})")
        if answer:
            answers.append(f"{question.text} {answer}")
        else:
            state = replace(state, remarks=(*state.remarks, f"{question.text} {assumed}"))
    return state, " ".join(answers)


def _revise(
    formalizer: Formalizer,
    states: list[Formalization],
    remark: str,
) -> list[Formalization]:
    before = states[-1]
    after = formalizer.revise(before, remark)
    if before.ok and after.best is before.best:
        trouble = after.attempts[-1].trouble or "the model finds no game in it"
        _print(f"That did not become a game ({trouble}); the game before it is kept.")
        return states
    if before.table is None or after.table is None:
        _show_state(after)
    else:
        changes = describe_changes(before.table, after.table) or (
            "Nothing in the game has changed.",
        )
        _print("\n".join(f"- {line}" for line in changes))
    return [*states, after]


def _show_state(state: Formalization) -> None:
    _print("\n".join(state.describe()) or f"There is no game yet: {state.trouble}")


def _read(question: str) -> str:
    _print(question)
    return sys.stdin.readline().strip()


def _print(text: str) -> None:
    print(visible(text), flush=True)
