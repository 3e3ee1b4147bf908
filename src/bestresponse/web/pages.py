"""What each page shows: a model for every template, whose fields are the names it may use.

A view makes the model, and `render` fills the template with it. Beside the fields a template knows
the filters and texts of `render` only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from bestresponse.core.episode import Void
from bestresponse.report.document import Block, Document
from bestresponse.report.page import PageModel, page_model
from bestresponse.runs import Manifest, StoredPlay
from bestresponse.runs.reporting.steps import ReplayStage
from bestresponse.web.experiments.items import FormPage
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.services.chat import ChatLine
from bestresponse.web.services.export import Row
from bestresponse.web.services.fields import DrawnField
from bestresponse.web.services.people import PersonState
from bestresponse.web.services.play import LobbyState, LobbySummary
from bestresponse.web.services.seat import SeatView, StudyStage
from bestresponse.web.services.session_report import RoundSummary
from bestresponse.web.services.situation import ShownSituation
from bestresponse.web.sessions.lobbies import Lobby, Room
from bestresponse.web.sessions.session import SessionTable
from bestresponse.web.sessions.setup import GameChoice, Offer
from bestresponse.web.texts import PageTexts
from bestresponse.web.watching.runs import PlayGroup, RunProgress
from bestresponse.web.watching.steps import ReplayBoard


@page_model
class SitePage(PageModel):
    """What every page has: a name and a picture at its top, and `here`, the entry of the menu under
    which it is."""

    brand: str = "bestresponse"
    logo: str = ""
    here: str = ""


@page_model
class ParticipantPage(SitePage):
    """A page in the language `t` of a study."""

    t: PageTexts


@page_model
class AdminForm(SitePage):
    """A page of the admin with a form; `error` says what was wrong with what was sent."""

    csrf: str
    error: str = ""


@page_model
class ErrorPage(ParticipantPage):
    """A sentence that says what did not work."""

    template = "error.html"

    sentence: str
    status: int


@page_model
class LeavePage(SitePage):
    """The question whether to log out."""

    template = "leave.html"

    csrf: str


class LeftPage(SitePage):
    """The page after logging out."""

    template = "left.html"


# What participants see.


@page_model
class JoinPage(ParticipantPage):
    """The invitation to a study; only one that was read from a file has a `title`.

    `labels` are sent back with the form; `name` is the one that tells the person apart.
    """

    template = "join.html"

    title: str
    welcome: str
    consent: str
    labels: Mapping[str, str]
    name: str
    error: str
    path: str
    csrf: str


@page_model
class GoodbyePage(ParticipantPage):
    """The last page of a person who takes no part; `why` names the text that says why not."""

    template = "goodbye.html"

    title: str
    why: str
    participant: str
    completion: str
    back: str


class EmptyRoomPage(ParticipantPage):
    """A room in which nothing is open yet."""

    template = "room.html"


@dataclass(frozen=True)
class SeatForms:
    """What was typed into the fields of the page and what is wrong with it.

    A note, what theory says, and what the answer would settle for good.
    """

    note: str = ""
    blocks: tuple[Block, ...] | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    settles: str = ""


@dataclass(frozen=True, kw_only=True)
class ShownGame:
    """A game as one seat is shown it: its situation, and the fields of what is asked.

    `calculator` has number and name of every seat where the table of payoffs is too large to be
    read.
    """

    title: str
    told: ShownSituation
    calculator: list[tuple[int, str]]
    fields: list[DrawnField]
    void: Void | None


@page_model
class SeatPage(ParticipantPage):
    """The page of a seat: what its person may know, what is asked, and what comes after the game.

    `page` holds the questions that come before anything else, `others` the payoffs of the others by
    their names. `studied` is how much of the study is done, between 0 and 1, and `parts` how many
    games it has. Whoever is `looking` sends nothing. `key` marks what this page sends, so
    that the same click is stored once.
    """

    template = "seat.html"

    view: SeatView
    game: ShownGame
    forms: SeatForms
    stage: StudyStage
    table: SessionTable
    experiment: Experiment
    from_file: bool
    parts: int
    studied: float
    page: FormPage | None
    others: Mapping[str, float]
    quiz_options: list[Sequence[str]]
    messages: list[str]
    chat: list[ChatLine]
    chat_open: bool
    answered: str
    looking: bool
    path: str
    csrf: str
    key: str


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page as somebody saw it: treatment, game, role, kind of page, and HTML."""

    treatment: str
    part: int
    role: str
    kind: str
    html: str


@dataclass(frozen=True)
class PreviewPage(PageModel):
    """Every page of an experiment, as participants see them."""

    template = "preview.html"

    title: str
    pages: list[SeenPage]


# What the experimenter sees.


@page_model
class PlayPage(SitePage):
    """The lobbies, a page at a time, the rooms with their paths, and what can be played."""

    template = "play.html"
    here: str = "play"

    lobbies: list[LobbySummary]
    page: int
    pages: int
    rooms: Mapping[str, str]
    opened: Mapping[str, Room]
    offers: tuple[Offer, ...]
    saved: tuple[str, ...]


@page_model
class NewExperimentPage(AdminForm):
    """The form for an experiment file: its text, and what was found when it was tried."""

    template = "experiment_new.html"
    here: str = "play"

    typed: str = ""
    note: str = ""


@page_model
class NewTablePage(AdminForm):
    """The form for new tables of a game, and what its first role will read."""

    template = "play_new.html"
    here: str = "play"

    choice: GameChoice
    key: str
    roles: tuple[str, ...]
    is_table: bool
    parameters: Mapping[str, str]
    rounds_word: str
    briefing: str
    strategies: tuple[str, ...]
    referees: list[str]
    models: tuple[str, ...]
    languages: Sequence[str]
    typed: Mapping[str, str]


@page_model
class LobbyPage(SitePage):
    """The monitor of a lobby: its people and tables, a page at a time, and the links to share.

    `people` are those at a `stage` and with the words `find`; `paths` leads to the seats of each.
    `rooms` are the links of rooms that lead here.
    """

    template = "lobby.html"
    here: str = "play"

    lobby: Lobby
    state: LobbyState
    open: bool
    page: int
    pages: int
    note: str
    people: list[PersonState]
    paths: Mapping[tuple[str, int], str]
    counts: Mapping[str, int]
    stages: Mapping[str, str]
    stage: str
    find: str
    rooms: Mapping[str, str]
    known_rooms: list[str]
    links: list[str]
    join: str
    base: str
    csrf: str


@page_model
class PaymentsPage(SitePage):
    """What everybody is paid, as a list to be printed and signed."""

    template = "payments.html"
    here: str = "play"

    lobby: Lobby
    rows: list[Row]
    total: Decimal


@page_model
class SessionReportPage(SitePage):
    """What people have answered so far."""

    template = "session_report.html"
    here: str = "play"

    lobby: Lobby
    rows: list[RoundSummary]


@page_model
class ExportPage(SitePage):
    """The files that can be downloaded, and the latest of `count` decisions."""

    template = "export.html"
    here: str = "export"

    tables: Sequence[str]
    formats: list[str]
    rows: list[Row]
    count: int


@dataclass(frozen=True)
class WantedRuns:
    """Which runs are shown, and in which order."""

    find: str
    study: str
    status: str
    sort: str


@page_model
class RunsPage(SitePage):
    """The runs that fit, `step` at a time: `count` of all that are `known`.

    And how well players did in them.
    """

    template = "watch.html"
    here: str = "watch"

    runs: list[RunProgress]
    wanted: WantedRuns
    query: str
    start: int
    step: int
    count: int
    known: int
    studies: list[str]
    sorts: list[str]


@page_model
class ComparePage(SitePage):
    """Two runs beside each other."""

    template = "watch_compare.html"
    here: str = "watch"

    first: str
    second: str
    names: list[str]
    document: Document


@dataclass(frozen=True)
class WantedPlays:
    """Which plays of a run are shown, in which order, and by what they are counted together."""

    find: str
    only: str
    sort: str
    group: str


@page_model
class RunPage(SitePage):
    """The progress of a run and its plays by their names, `step` at a time.

    `live` are those under way.

    `calls` are shown where the run has no plays of its own, and `others` are the runs with which it
    can be compared.
    """

    template = "watch_run.html"
    here: str = "watch"

    run: RunProgress
    manifest: Manifest
    has_report: bool
    others: list[RunProgress]
    wanted: WantedPlays
    query: str
    start: int
    step: int
    sorts: list[str]
    groups: list[str]
    grouped: list[PlayGroup]
    plays: list[tuple[StoredPlay, str]]
    live: list[tuple[StoredPlay, str]]
    calls: list[dict[str, object]]


@dataclass(frozen=True, kw_only=True)
class ReplayLinks:
    """The pages above a play (`crumbs`, each with its name), before and after it, and whether to
    `follow` it as it goes on."""

    crumbs: list[tuple[str, str]]
    before: str = ""
    after: str = ""
    follow: bool


@page_model
class ReplayPage(SitePage):
    """A play step by step; `priced` says that the cost of some answer is known."""

    template = "watch_play.html"
    here: str = "watch"

    title: str
    play: StoredPlay
    briefing: str
    stages: list[ReplayStage]
    priced: bool
    replay: ReplayBoard
    links: ReplayLinks
