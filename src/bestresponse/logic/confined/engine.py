"""Both engines behind a process border.

What a program does to memory, time or Python stays in a confined child.

`ConfinedEngine` sends each request to the children that all engines of this process share
(`client`). A child reads, gates and runs the program with the embedded engine, or has a SWI-Prolog
run it that no other child can ask.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TypeVar

from bestresponse.core import errors
from bestresponse.core.errors import BestResponseError, LimitReached, LogicError
from bestresponse.logic.confined.client import ChildLost, ChildReply, Kind, share_children
from bestresponse.logic.engine import Answer, Limits, LogicEngine, Program, RuntimeFault
from bestresponse.logic.gate.check import GatedProgram
from bestresponse.logic.language.terms import Atom, Term, variables_of, write
from bestresponse.logic.programs.report import Report, decode_report, describe_failure
from bestresponse.logic.programs.strategies import SeatsFound, decode_seats
from bestresponse.logic.settings import Layer, settings
from bestresponse.logic.swi.engine import TOO_BUSY, TOO_SLOW
from bestresponse.logic.swi.terms import decode

_Read = TypeVar("_Read")


class ConfinedEngine(LogicEngine):
    """A `LogicEngine` that runs another one in confined children; threads may share it."""

    def __init__(
        self,
        limits: Limits | None = None,
        seed: int = 0,
        kind: Kind = "embedded",
    ) -> None:
        self.name: str = kind
        self._kind: Kind = kind
        self.limits = limits or settings.limits
        self._seed = seed
        self._layers: tuple[Layer, ...] = ()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """How far the children are confined, and what is missing."""
        if not self._layers:  # the first request of a process waits until everything is loaded
            self.load("")
        return self._layers

    def validate(self, source: str) -> Report:
        """Put a game program through all stages in a child.

        What ends the child is a diagnosis too.
        """
        return self._report(source, "validate", source=source)

    def validate_strategy(self, source: str, game: str) -> Report:
        """Put a strategy through reader, static checks and a first move, in a child.

        The first move is made in the given game.
        """
        return self._report(source, "validate_strategy", source=source, game=game)

    def find_seats(
        self,
        game: str,
        rules: str,
        default_move: str | None,
        usual_moves: Sequence[str],
    ) -> SeatsFound:
        """Find out in a child what a strategy does in either seat of a game."""
        arguments = {
            "game": game,
            "rules": rules,
            "default_move": default_move,
            "usual_moves": list(usual_moves),
        }

        def read_seats(reply: ChildReply) -> SeatsFound:
            return decode_seats(reply.head["result"])

        try:
            return self._request("find_seats", read_seats, **arguments)
        except LimitReached as error:
            hint = describe_failure(error).hint
            raise LimitReached(f"{error} {hint[:1].upper()}{hint[1:]}.") from None

    def load(self, source: str | GatedProgram) -> Program:
        """Check a program, or `ProgramRefused`; its clauses stay in the children."""
        text = source if isinstance(source, str) else source.source

        def read_verdict(reply: ChildReply) -> Report:
            return decode_report(text, reply.head["result"])

        report = self._request("gate", read_verdict, source=text)
        return Program(GatedProgram(text, (), report.diagnostics, report.defined), self)

    def solutions(
        self,
        program: Program,
        goal: str | Term,
        limit: int | None = None,
    ) -> tuple[Answer, ...]:
        """The first `limit` solutions of a goal, all within the time for one program."""
        if not (isinstance(program.handle, ConfinedEngine) and program.handle.name == self.name):
            raise LogicError("This program was loaded by another engine; load it with this one.")
        if isinstance(goal, str) and not isinstance(goal, Atom):
            text = goal
            names = list[str]()
        else:
            text = write(goal)
            names = [variable.name for variable in variables_of(goal)]

        def read_answers(reply: ChildReply) -> tuple[Answer, ...]:
            answers = []
            for answer in reply.read_items():
                answers.append({name: decode(value) for name, value in answer.items()})
            return tuple(answers)

        return self._request(
            "ask",
            read_answers,
            source=program.gated.source,
            goal=text,
            names=names,
            limit=limit,
        )

    def _report(self, text: str, job: str, **arguments: object) -> Report:
        def read_report(reply: ChildReply) -> Report:
            return decode_report(text, reply.head["result"], reply.read_items())

        try:
            return self._request(job, read_report, **arguments)
        except LogicError as error:
            return Report(text, frozenset(), (describe_failure(error),))

    def _request(
        self,
        job: str,
        read: Callable[[ChildReply], _Read],
        **arguments: object,
    ) -> _Read:
        """Let a child do a job and read its reply, or raise the error it ended with.

        All of it within the time.
        """
        limits = self.limits
        body = json.dumps(
            {
                "job": job,
                "seed": self._seed,
                "limits": asdict(limits),
                "given": arguments,
            }
        ).encode()
        try:
            reply, self._layers = share_children().request(
                self._kind,
                body,
                limits,
                self._seed,
            )
            head = reply.head
            if "error" not in head:
                return read(reply)
            if head["error"] == "RuntimeFault":
                raise RuntimeFault(head["message"], head["line"], head["source_line"])
            kind = getattr(errors, head["error"], LogicError)
            raise (kind if issubclass(kind, BestResponseError) else LogicError)(head["message"])
        except ChildLost as lost:
            raise LimitReached(_LOST[lost.kind].format(limits)) from lost


_LOST = {
    "time": TOO_SLOW,
    "clock": TOO_BUSY,
    "ended": "It used up the memory that it may have.",
    "output": "The answers are larger than the limit on output.",
}
