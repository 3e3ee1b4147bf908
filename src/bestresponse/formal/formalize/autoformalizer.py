"""Stories into checked game programs: write, check, and repair with feedback.

A model is shown a few examples and the story, and answers with a program. The program passes
through the four stages of `logic.validate`; as long as something is wrong, the model is told only
that, with its program in numbered lines, and may try again. What it wrote is foreign text
throughout: it runs nowhere but inside the logic engine.

After Mensfelt, Stathis and Trencsenyi (2024), algorithm 1, who showed one example and gave back the
loader's messages.

Several programs for one story are put to the vote by the games they describe: programs that look
different may be the same game; what is counted is the tree each produces, up to names that do not
occur in both and the order of simultaneous moves. The game that most candidates describe wins, the
earliest among equals (self-consistency: Wang et al., "Self-Consistency Improves Chain of Thought
Reasoning in Language Models", 2023, applied to trees).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.formal.formalize.forms import (
    Form,
    ProgramForm,
    TreeForm,
    what_is_wrong,
)
from bestresponse.formal.formalize.json_answer import OpenQuestion
from bestresponse.formal.formalize.plan import (
    FIRST,
    Example,
    FormName,
    Wish,
    library,
    nearest,
    plan,
)
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.describing import describe_game
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.language.diagnostics import Severity, Stage
from bestresponse.logic.programs.orders import make_defect
from bestresponse.logic.programs.recorded import Plays, check_plays
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.models.base import Finish, Message, Model, Reply, Request

MOST_CHARACTERS = 50_000
_STAGES = (Stage.READER, Stage.STATIC, Stage.RUNTIME, Stage.CONTRACT)
# Enough freedom for a model that would give the same answer again to give another one.
_HEAT = 0.7
# Characters at the end of an answer: where it holds them more than twice, it runs in circles.
_CIRCLE = 80
_MOST_SHOWN = 10
"""Recorded plays that a model is shown; every one is compared with its program."""
MOST_ROOM = 32_000
"""Tokens up to which an answer that was cut off gets more room."""
NO_MATTER = "every end has the same payoffs, so that no choice matters to anybody"
NO_CHOICE = "nobody in this game has a choice between two moves"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked.

    `shots` examples are shown: the nearest, or with `choose="first"` the prisoner's dilemma as in
    the published prompt. With `form="tree"` the model writes JSON, under a schema
    where it can be held to one, and the program is written by rule; `auto` chooses by the story and
    the model (see `plan.plan`). `replicate` tells repeated tries of one story apart.
    """

    attempts: int = 5
    shots: int = 1
    choose: Literal["nearest", "first"] = "nearest"
    form: Wish = "auto"
    max_tokens: int = 1500
    temperature: float = 0.0
    seed: int | None = None
    effort: str | None = None
    reasoning_tokens: int | None = None
    replicate: int = 0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise SettingError("attempts", f"{self.attempts} is too few; give at least 1")
        if self.shots < 0:
            raise SettingError("shots", f"{self.shots} examples cannot be shown; give 0 or more")
        for name, wishes in (("form", get_args(Wish)), ("choose", ("nearest", "first"))):
            if getattr(self, name) not in wishes:
                raise SettingError(name, f"{getattr(self, name)}: expected {', '.join(wishes)}")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of the model: request, reply, program, and findings about the program.

    `problem` says in words what kept the answer from being a program; `report` is None then. `form`
    is what the model was asked to write.
    """

    request: Request
    reply: Reply
    source: str = ""
    report: Report | None = None
    problem: str = ""
    form: FormName = "program"
    questions: tuple[OpenQuestion, ...] = ()
    misfit: str | None = None
    """The reason, where the model says that this form cannot hold the game."""

    @property
    def ok(self) -> bool:
        """Whether there is a whole game.

        A game whose text was cut off may lack moves that its last clauses would give.
        """
        whole = not self.problem or self.reply.finish is not Finish.LENGTH
        return whole and self.report is not None and self.report.ok

    @property
    def wrong(self) -> str:
        """What is wrong with the answer, as the model is told; empty where it is a game."""
        if self.misfit is not None:
            return f"- this form does not fit: {self.misfit}"
        return self.problem if self.report is None else what_is_wrong(self.report, self.problem)

    @property
    def trouble(self) -> str:
        """Why the answer is no game, in a few words; empty where it is one."""
        if self.ok:
            return ""
        if self.misfit is not None:
            return f"the {self.form} does not fit: {self.misfit}"
        if self.report is None:
            return f"no {self.form}: {self.problem}{self.room}"
        unfinished = (
            f"{self.problem}{self.room}" if self.problem else "no table could be taken out of it"
        )
        return str(self.report.errors[0]) if self.report.errors else unfinished

    @property
    def room(self) -> str:
        """What to do where the model had too little room, for whoever set the limit.

        Returns an empty result where it had enough.
        """
        if self.reply.finish is not Finish.LENGTH:
            return ""
        thought = self.reply.usage.reasoning or (
            0 if self.reply.text.strip() else self.request.max_tokens
        )
        spent = f", {thought:,} of them for reasoning" if thought else ""
        return f" ({self.request.max_tokens:,} tokens were too few{spent}; raise max_tokens)"

    @property
    def progress(self) -> tuple[int, int]:
        """How far it came: the stage of its first error, and how few errors there are.

        Larger is better.
        """
        if self.report is None:
            return (-1, 0)
        if self.ok:
            return (len(_STAGES), 0)
        stages = [_STAGES.index(error.stage) for error in self.report.errors] or [len(_STAGES) - 1]
        return (min(stages), -len(stages))


@dataclass(frozen=True, slots=True)
class Formalization:
    """The result of formalizing a story: every attempt, and the best of them."""

    story: str
    model: str
    examples: tuple[str, ...]
    attempts: tuple[Attempt, ...] = ()
    no_game: str | None = None
    """The reason, where the model says that the story is no game."""
    remarks: tuple[str, ...] = ()
    """What a reader has said; every later prompt holds all of it."""

    @property
    def best(self) -> Attempt | None:
        """The attempt that came furthest, the latest among equals."""
        latest_first = reversed(self.attempts)
        return max(latest_first, key=lambda attempt: attempt.progress, default=None)

    @property
    def ok(self) -> bool:
        """Whether there is a game."""
        return self.no_game is None and self.best is not None and self.best.ok

    @property
    def source(self) -> str:
        """The best program, empty if there is none."""
        return self.best.source if self.best is not None else ""

    @property
    def table(self) -> GameTable | None:
        """The game of the best program, where it is one."""
        best = self.best
        if best is None or best.report is None or not best.ok:
            return None
        return best.report.table

    def describe(self, most: int | None = None) -> tuple[str, ...]:
        """Tell the game in sentences, at most `most` on choices and ends; none where there is none.

        Of a game that has too many plays, the number of its positions is told.
        """
        best = self.best
        if best is None or best.report is None or not self.ok:
            return ()
        if best.report.table is None:
            return (str(best.report.positions),)
        return describe_game(best.report.table, most)

    @property
    def questions(self) -> tuple[OpenQuestion, ...]:
        """What the story leaves open and no remark has answered.

        The model that wrote the best program says what is open.
        """
        if self.best is None:
            return ()
        left = []
        for question in self.best.questions:
            if not any(question.text in remark for remark in self.remarks):
                left.append(question)
        return tuple(left)

    @property
    def told(self) -> str:
        """The story with the reader's remarks."""
        listed = "\n".join(f"- {remark}" for remark in self.remarks)
        return TEXTS.fill("remarks", story=self.story, remarks=listed) if listed else self.story

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of all prompts and of all replies, as far as they were counted."""
        usages = [attempt.reply.usage for attempt in self.attempts]
        of_prompts = sum(usage.prompt or 0 for usage in usages)
        of_replies = sum(usage.completion or 0 for usage in usages)
        return of_prompts, of_replies

    @property
    def trouble(self) -> str:
        """Why there is no game, in one sentence; empty if there is one."""
        if self.ok:
            return ""
        if self.no_game is not None:
            return f"{self.model} finds no game in the story: {self.no_game}"
        best = self.best
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        if best is not None and best.misfit is not None:
            return (
                f"after {tries} {self.model} says that the {best.form} does not fit: {best.misfit}"
            )
        if best is None or best.report is None:
            why = best.problem + best.room if best else "it was not asked"
            return f"after {tries} {self.model} has written no program: {why}"
        return f"after {tries} the program of {self.model} is still no game: {best.trouble}"


def check_story(story: str) -> str:
    """The story without white space around it; UsageError where it cannot be one."""
    plain = story.strip()
    if not any(c.isalpha() for c in plain):
        raise UsageError("the story is empty: tell who chooses what, when, and what everybody gets")
    if len(plain) > MOST_CHARACTERS:
        raise UsageError(
            f"the story has {len(plain):,} characters; expected at most {MOST_CHARACTERS:,}"
        )
    return plain


@dataclass(frozen=True)
class Formalizer:
    """Writes games with a model and checks them with an engine.

    `tell` hears of every attempt as it is made.
    """

    model: Model
    engine: LogicEngine
    settings: Settings = field(default_factory=Settings)
    examples: tuple[Example, ...] = field(default_factory=library)
    tell: Callable[[Attempt], None] = lambda attempt: None
    plays: Plays = ()
    """Recorded plays, which a game must allow and pay alike."""

    def formalize(self, story: str) -> Formalization:
        """A checked program for `story`, or all that was tried."""
        story = check_story(story)
        if self.plays:
            shown = "\n".join(f"- {play}" for play in self.plays[:_MOST_SHOWN])
            story = TEXTS.fill("plays", story=story, plays=shown)
        names = plan(self.settings.form, self.model, self.settings.attempts, story)
        return self._tried(Formalization(story, self.model.id, ()), names, None)

    def revise(self, before: Formalization, remark: str) -> Formalization:
        """The game changed as a person asks, in the form in which it was written.

        The attempts of `before` are kept.

        Where no game comes of it, `best` stays the attempt it was.
        """
        remark = " ".join(remark.split())
        told = replace(before, remarks=(*before.remarks, remark))
        return self._change(before, remark, told)

    def repair(self, before: Formalization, findings: Sequence[str]) -> Formalization:
        """The game changed by what a check found.

        Unlike a person's remark that adds nothing to the story.
        """
        return self._change(before, " ".join(" ".join(findings).split()), before)

    def _change(
        self,
        before: Formalization,
        remark: str,
        told: Formalization,
    ) -> Formalization:
        name = before.best.form if before.best is not None else "program"
        game = "\n".join(before.describe()) or "It is not a game yet."
        begun = replace(told, attempts=(), no_game=None)
        text = self._form(name, before.story).revise(
            before.told,
            before.source,
            game,
            remark,
        )
        fresh = self._tried(begun, (name,) * self.settings.attempts, text)
        no_game = None if before.ok else fresh.no_game
        return replace(fresh, attempts=(*before.attempts, *fresh.attempts), no_game=no_game)

    def _form(self, name: FormName, story: str) -> Form:
        if name != "program":
            return TreeForm()
        if self.settings.choose == "nearest":
            return ProgramForm(nearest(story, self.examples, self.settings.shots))
        first = tuple(example for example in self.examples if example.name == FIRST)
        return ProgramForm(first[: self.settings.shots])

    def _tried(
        self,
        begun: Formalization,
        names: Sequence[FormName],
        first: str | None,
    ) -> Formalization:
        """Attempts until one is a game.

        The first text may be given; after that a form begins with its task.
        """
        made: list[Attempt] = []
        shown: dict[str, None] = dict.fromkeys(begun.examples)
        last: Form | None = None
        unfit: set[FormName] = set()
        for name in names:
            if name in unfit:
                continue
            form = last if last is not None and last.name == name else self._form(name, begun.story)
            request = self._request(form, _text(begun.told, form, made, first), made)
            reply = self.model.complete(request)
            answer = form.read(reply)
            report = self._validated(answer.source) if answer.source else None
            attempt = Attempt(
                request,
                reply,
                source=answer.source,
                report=report,
                problem=answer.problem,
                form=form.name,
                questions=answer.questions,
                misfit=answer.misfit,
            )
            no_game = answer.no_game
            last = form
            made.append(attempt)
            shown |= dict.fromkeys(form.examples)
            if attempt.misfit is not None:
                unfit.add(name)
            if no_game is None:
                self.tell(attempt)
            if attempt.ok or no_game is not None:
                return replace(
                    begun,
                    attempts=tuple(made),
                    no_game=no_game,
                    examples=tuple(shown),
                )
        return replace(begun, attempts=tuple(made), examples=tuple(shown))

    def _validated(self, source: str) -> Report:
        """The report on a program; a game in which nobody has a choice is none for a story."""
        report = check_plays(validate(source, self.engine), self.plays)
        if report.table is None:
            return report
        has_choice = any(len(moves) > 1 for moves in report.table.moves)
        if not has_choice:
            return _add_doubt(
                report,
                NO_CHOICE,
                "check legal/2 and final/1",
                Severity.ERROR,
            )
        outcomes = {row.payoffs for row in report.table.rows}
        if len(outcomes) == 1:
            return _add_doubt(
                report,
                NO_MATTER,
                "is that what the story says?",
                Severity.WARNING,
            )
        return report

    def _request(self, form: Form, text: str, before: Sequence[Attempt]) -> Request:
        """Make the next request, with more freedom if the model repeats itself.

        An answer given twice, or running in circles, would come again.

        After every answer that was cut off the next may be twice as long: a model that reasons
        needs room for both.
        """
        s = self.settings
        answers = [attempt.reply.text for attempt in before[-2:] if attempt.form == form.name]
        stuck = len(answers) == 2 and answers[0] == answers[1]
        cut = bool(before) and before[-1].reply.finish is Finish.LENGTH
        cuts = 0
        for attempt in before:
            if attempt.reply.finish is Finish.LENGTH and not _runs_in_circles(attempt.reply.text):
                cuts += 1
        room = min(s.max_tokens << cuts, MOST_ROOM)
        return Request(
            (Message("system", form.system()), Message("user", text)),
            schema=form.schema(self.model),
            max_tokens=max(s.max_tokens, room),
            temperature=max(s.temperature, _HEAT) if stuck or cut else s.temperature,
            seed=s.seed,
            replicate=s.replicate * 1000 + len(before),
            effort=s.effort,
            reasoning_tokens=s.reasoning_tokens,
        )


def _runs_in_circles(text: str) -> bool:
    """Tell whether an answer says its end again and again, and would fill more room with it."""
    end = text[-_CIRCLE:]
    return bool(text.strip()) and text.count(end) > 2


def _add_doubt(report: Report, message: str, hint: str, severity: Severity) -> Report:
    fault = replace(make_defect("moves", message, hint), severity=severity)
    return replace(report, diagnostics=(*report.diagnostics, fault))


def _text(story: str, form: Form, before: Sequence[Attempt], first: str | None) -> str:
    """What the model is told now: the task, or what is wrong with its last answer.

    No diagnosis is lost.
    """
    if not before:
        return form.task(story) if first is None else first
    last = before[-1]
    if last.form != form.name:
        return TEXTS.fill(
            "earlier",
            task=form.task(story),
            form=last.form,
            wrong=last.wrong,
        )
    return form.repair(story, last.reply, last.source, last.wrong)


@dataclass(frozen=True, slots=True)
class Election:
    """All candidates, the votes as groups of their numbers (the largest first), and the winner."""

    candidates: tuple[Formalization, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def winner(self) -> Formalization:
        """The first candidate of the largest group.

        Where none is a game, the one that came furthest.
        """
        if self.groups:
            return self.candidates[self.groups[0][0]]
        return max(
            self.candidates,
            key=lambda candidate: candidate.best.progress if candidate.best else (-2, 0),
        )

    @property
    def votes(self) -> int:
        """How many candidates describe the winner's game."""
        return len(self.groups[0]) if self.groups else 0


def elect(candidates: Sequence[Formalization]) -> Election:
    """Group candidates by the game they describe."""
    groups: list[list[int]] = []
    for number, candidate in enumerate(candidates):
        table = candidate.table
        if table is None:
            continue
        for group in groups:
            other = candidates[group[0]].table
            if other is not None and compare_tables(table, other).exact:
                group.append(number)
                break
        else:
            groups.append([number])
    ordered = sorted(groups, key=lambda group: (-len(group), group[0]))
    return Election(tuple(candidates), tuple(map(tuple, ordered)))


def formalize_many(formalizer: Formalizer, story: str, count: int) -> Election:
    """Formalize a story `count` times and vote.

    The first time is at the set temperature, later ones give the model more freedom.
    """
    if count < 1:
        raise UsageError(f"{count} candidates is too few; give at least 1")
    base = formalizer.settings
    candidates: list[Formalization] = []
    for number in range(count):
        heat = base.temperature if number == 0 else max(base.temperature, _HEAT)
        warm = replace(base, temperature=heat, replicate=base.replicate + number)
        candidates.append(replace(formalizer, settings=warm).formalize(story))
        if candidates[-1].no_game is not None and number == 0:
            break
    return elect(candidates)
