"""Every error this library raises on purpose. Catch `BestResponseError` to catch them all.

BestResponseError
├── InvalidMove       an answer is not one the game asked for; `kind` says in which way
├── NotAsked          a role answered although nobody asked it
├── InvalidGame       a game, matrix, tree or file is malformed; names the place, what was expected
│   └── TooLarge      enumerating it would not fit; says how large it is
├── NotCertified      a solver could not certify its answer
├── ModelError        a language model could not be used
│   ├── UnknownModel      no such model; says what was meant perhaps
│   ├── MissingKey        no API key; names the variable
│   ├── ModelUnavailable  it could not be reached, stalled, or kept failing
│   │   └── Transient         it may work if tried again; `retry_after` says when, if known
│   │       └── Unreached         no connection was made
│   ├── BadReply          it answered, but not in its own protocol
│   ├── NotCached         replay mode, and this call was never recorded
│   └── OverBudget        the next call would pass the budget
├── LogicError        a logic program could not be read, loaded or run
│   ├── ProgramRefused    the static gate refused it
│   └── LimitReached      it ran out of steps, memory, time, answers or output
├── StoreError        a run folder cannot be read or written
├── Interrupted       somebody stopped a computation; says what it had found
└── UsageError        arguments that contradict each other or do not exist
    └── SettingError      a setting of a study cannot be used; `field` names it
"""

from enum import StrEnum


class BestResponseError(Exception):
    """Base class of everything raised on purpose; its text is a sentence for the user."""


class Flaw(StrEnum):
    """In which way an answer failed."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    ILLEGAL = "illegal"


class InvalidMove(BestResponseError, ValueError):
    """An answer is not one the game asked for."""

    def __init__(self, why: str, kind: Flaw = Flaw.ILLEGAL) -> None:
        super().__init__(why)
        self.kind = kind


class NotAsked(BestResponseError, ValueError):
    """A role answered although the game is not waiting for it."""


class InvalidGame(BestResponseError, ValueError):
    """A game, matrix, tree or game file is malformed."""


class TooLarge(InvalidGame):
    """Enumerating this would not fit in memory or time."""


class Interrupted(BestResponseError):
    """A computation was stopped from outside."""


class NotCertified(BestResponseError, ArithmeticError):
    """A solver could not certify its answer."""


class ModelError(BestResponseError):
    """A language model could not be used."""


class UnknownModel(ModelError):
    """No model of that name."""


class MissingKey(ModelError):
    """The provider needs an API key and none was given."""


class ModelUnavailable(ModelError):
    """The model could not be reached, stalled, or kept failing."""


class Transient(ModelUnavailable):
    """One attempt failed in a way that another may not.

    `retry_after` is in seconds, None where nobody said. `billed` says that the model may have
    answered all the same, so that its provider may ask for money.
    """

    def __init__(self, why: str, retry_after: float | None = None, *, billed: bool = False) -> None:
        super().__init__(why)
        self.retry_after = retry_after
        self.billed = billed


class Unreached(Transient):
    """No connection was made at all: nobody listens, or nobody has that address."""


class BadReply(ModelError):
    """The model's server answered, but not in its own protocol."""


class NotCached(ModelError, LookupError):
    """Replay mode, and this call was never recorded."""


class OverBudget(ModelError):
    """The next call would pass the budget."""


class LogicError(BestResponseError):
    """A logic program could not be read, loaded or run."""


class ProgramRefused(LogicError):
    """The static gate refused a logic program."""


class LimitReached(LogicError):
    """A logic program ran out of steps, memory, time, answers or output."""


class StoreError(BestResponseError):
    """A run folder cannot be read or written."""


class UsageError(BestResponseError):
    """Arguments that contradict each other or do not exist."""


class SettingError(UsageError):
    """A setting of a study cannot be used.

    `field` is its name, `problem` says what is wrong and what was expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"
