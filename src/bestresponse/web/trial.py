"""Try an experiment before people come.

Programs or models go through its real pages, as people would, and fill in their forms.

What they read and answered is kept; what the server has kept of it in the end is compared with
their own notes.
"""

import asyncio
import html
import json
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from random import Random

from httpx import ASGITransport, AsyncClient, Response

from bestresponse.core import Action, Choice, Words
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.ruled import RuledDialogue
from bestresponse.players.lookup import OpenModel
from bestresponse.web.access import SeatContext, ServerState
from bestresponse.web.app import ServerSettings, open_web_server
from bestresponse.web.experiments.items import Item
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.pages import PreviewPage, SeenPage
from bestresponse.web.reader import ask_reader, read_page
from bestresponse.web.render import load_asset, render_text
from bestresponse.web.security import RateLimit
from bestresponse.web.services import seat as service
from bestresponse.web.services.export import TABLES, export_table, list_participants
from bestresponse.web.services.fields import read_fields, write_fields
from bestresponse.web.services.play import create_experiment
from bestresponse.web.sessions.lobbies import Lobby, draw_treatments
from bestresponse.web.sessions.seat_worker import SeatWorker, make_seat
from bestresponse.web.sessions.setup import list_named_models
from bestresponse.web.texts import PageTexts

RANDOM = "strategy:random"
_LOOK = 0.02
_HIDDEN = re.compile(r'<input\s+type="hidden"\s+name="([^"]+)"\s+value="([^"]*)"')
_CONFIRM = re.compile(r'name="confirmed"\s+value="([^"]+)"')
_FORM = re.compile(r'<form\s+method="post"\s+action="([^"]+)".*?</form>', re.DOTALL)
_VERSION = re.compile(r'data-version="(([a-z]+)[^"]*)"')
_NEXT = re.compile(r'<a\s+class="button"\s+href="(/seat/[^"]+)"')


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """How many programs take part, who they are, and how many of 100 leave for good.

    Each is a strategy or `model:NAME`.

    With `readers` the participants are these models, one after the other, who read the pages and
    answer everything themselves. Time limits are divided by `speed`.
    """

    people: int
    player: str = RANDOM
    drop_outs: int = 0
    speed: int = 100
    models: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()


@dataclass
class Trial:
    """The result of a trial; `turned_away` found no free seat.

    `wrong` are answers of which the server has kept something else or nothing.
    """

    people: int
    finished: int = 0
    turned_away: int = 0
    answers: int = 0
    wrong: list[str] = field(default_factory=list)
    money: list[Decimal] = field(default_factory=list)
    seconds: float = 0.0
    pages: list[SeenPage] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def list_findings(self) -> list[str]:
        """Say what came of it, in sentences."""
        lines = [
            f"{self.finished} of {self.people} finished in {self.seconds:.1f} s;"
            f" {self.answers} answers."
        ]
        if self.turned_away:
            lines.append(f"{self.turned_away} found no free seat.")
        if self.money:
            paid = f"{min(self.money)} to {max(self.money)}, {sum(self.money)} in all"
            lines.append(f"{len(self.money)} people would be paid {paid}.")
        if not self.wrong:
            return [*lines, "Every answer was kept as it was sent."]
        return [
            *lines,
            (
                f"{len(self.wrong)} answers were not kept as they were sent, the first:"
                f" {self.wrong[0]}"
            ),
        ]


def try_experiment(text: str, settings: TrialSettings, open_model: OpenModel) -> Trial:
    """Let programs take part in an experiment in a folder that is thrown away.

    Raises UsageError where the file is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        app, server, _ = open_web_server(ServerSettings(Path(folder)), open_model, settings.models)
        server.seats = RateLimit(1e9, 1e9)  # programs click faster than people may
        with (
            closing(server.sessions.journal),
            closing(SeatWorker(server.sessions, server.model)) as worker,
        ):
            worker.start()
            began = time.monotonic()
            lobby = create_experiment(server, text, settings.speed)
            trial = asyncio.run(_take_part(ASGITransport(app), server, lobby, settings))
            trial.seconds = time.monotonic() - began
            rows = list_participants(server, lobby.id)
            trial.money = [Decimal(str(row["money"])) for row in rows if row["money"] is not None]
            trial.files |= {
                f"{table}.csv": export_table(server, table, "csv", lobby.id) for table in TABLES
            }
    return trial


async def _take_part(
    transport: ASGITransport, server: ServerState, lobby: Lobby, settings: TrialSettings
) -> Trial:
    kind = _Reader if settings.readers else _Participant
    people = [kind(server, lobby, number, settings) for number in range(settings.people)]
    await asyncio.gather(*(person.take_part(transport) for person in people))
    finished = sum(person.finished for person in people)
    turned_away = sum(person.turned_away for person in people)
    trial = Trial(settings.people, finished, turned_away)
    readings = [row for person in people for row in person.readings]
    if readings:
        lines = [json.dumps(row, ensure_ascii=False) for row in readings]
        trial.files["readings.jsonl"] = "".join(f"{line}\n" for line in lines).encode("utf-8")
    for person in people:
        trial.pages += person.pages
        trial.answers += len(person.notes)
        for (session, role, turn), answer in person.notes.items():
            kept = server.sessions.get_session(session).answer(role, turn)
            if kept is None or kept.decision.stand_in or kept.decision.action != answer:
                where = f"{session}, {role}, answer {turn + 1}"
                trial.wrong.append(f"{where}: sent {answer!r}, kept {kept and kept.decision}")
    return trial


class _Participant:
    """One program with a browser of its own.

    It keeps the pages it saw and notes of what it answered.
    """

    def __init__(
        self, server: ServerState, lobby: Lobby, number: int, settings: TrialSettings
    ) -> None:
        self._server = server
        self._lobby = lobby
        self._settings = settings
        self._random: Random = generator(number, "trial")
        self._number = number
        self._label = f"bot-{number + 1}"
        leaves = self._random.random() * 100 < settings.drop_outs
        self._last_answer = self._random.randrange(5) if leaves else None
        self.pages: list[SeenPage] = []
        self.notes: dict[tuple[str, str, int], Action] = {}
        self.readings: list[dict[str, str]] = []
        self.finished = False
        self.turned_away = False
        self.gone = False

    async def take_part(self, transport: ASGITransport) -> None:
        """Go through the study page by page, to the last one or until it is time to leave."""
        labels = self._lobby.experiment.assignment.labels
        label = next(iter(labels[self._number :]), self._label)
        async with AsyncClient(
            transport=transport, base_url="http://localhost", follow_redirects=True
        ) as client:
            page = await client.get(self._server.personal_path(self._lobby.id, label))
            self._keep(page, SeenPage("", 0, "", "invitation", page.text))
            page = await self._join(client, page)
            self.turned_away = not page.url.path.startswith("/seat/")
            while not (self.turned_away or self.finished or self.gone):
                page = await self._go_on(client, page)
                self.gone = self.gone or self._last_answer == len(self.notes)

    async def _join(self, client: AsyncClient, page: Response) -> Response:
        return await self._send(client, page, "/join/", {"do": "agree"})

    async def _go_on(self, client: AsyncClient, page: Response) -> Response:
        """Do what the page asks for, and return the next one."""
        _, _, session, number, token = page.url.path.split("/")[:5]
        place = self._server.find_place(token, session, int(number))
        if place is None:
            raise RuntimeError(f"{self._label} has lost the seat {session} {number}")
        context = SeatContext(self._server, self._server.sessions.get_session(place[0]), place[1])
        version = _VERSION.search(page.text)
        if version is None and page.status_code == _OK:
            # Whoever was screened out sees a page without a seat.
            self.turned_away = True
            return page
        if version is None:
            shown = f"{page.status_code} {page.text[:200]}"
            raise RuntimeError(f"{self._label} came to a page that belongs to no seat: {shown}")
        table = context.session.table
        home = page.url.path
        seen = SeenPage(
            table.treatment,
            table.number,
            context.role,
            self._name_page(page, version[2]),
            page.text,
        )
        self._keep(page, seen)
        if "/questionnaire" in page.text:
            return await self._answer_questionnaire(client, page, context)
        match version[2]:
            case "welcome":
                return await self._get_ready(client, page, context)
            case "turn":
                return await self._answer(client, page, context)
            case "gathering" | "waiting":
                # The version of the page, not that of now: the session may have gone on since it
                # was rendered.
                while context.session.version(context.seat) == version[1]:
                    await asyncio.sleep(_LOOK)
                return await client.get(home)
        if following := _NEXT.search(page.text):
            return await client.get(following[1])
        self.finished = True
        return page

    async def _answer_questionnaire(
        self, client: AsyncClient, page: Response, context: SeatContext
    ) -> Response:
        texts = context.session.table.texts
        items = self._lobby.experiment.list_items()
        answers = {f"item.{item.name}": self._fill(item, texts) for item in items}
        return await self._send(client, page, "/questionnaire", answers)

    async def _get_ready(
        self, client: AsyncClient, page: Response, context: SeatContext
    ) -> Response:
        texts = context.session.table.texts
        quiz = service.list_quiz_questions(context.session, context.seat)
        right = [
            getattr(question, "right", "") or texts.figure(question.answer) for question in quiz
        ]
        answers = {f"quiz.{k}": answer for k, answer in enumerate(right)}
        return await self._send(client, page, "/ready", {"consent": "yes", **answers})

    def _name_page(self, page: Response, phase: str) -> str:
        question = re.search(r'<p class="ask">([^<]+)</p>', page.text)
        asked = "questionnaire" if "/questionnaire" in page.text else ""
        return ", ".join(part for part in (phase, question[1] if question else asked) if part)

    def _keep(self, page: Response, seen: SeenPage) -> None:
        if page.status_code >= 400:
            raise RuntimeError(
                f"{self._label}, {seen.kind}: the server answered {page.status_code}"
            )
        self.pages.append(seen)

    async def _answer(self, client: AsyncClient, page: Response, context: SeatContext) -> Response:
        session = context.session
        role = context.role
        with session.lock:
            ask = session.pending().get(role)
            turn = session.turn(role)
            view = session.episode.view(role)
        if ask is None:
            return await client.get(page.url.path)
        seed = self._random.randrange(2**31)
        is_random = self._settings.player == RANDOM
        if is_random and isinstance(ask, Words):
            typed = {"answer": f"{self._label}: {turn + 1}"}
        elif is_random and isinstance(ask, Choice) and isinstance(session.game, RuledDialogue):
            typed = {"answer": self._random.choice(ask.options)}
        else:
            player = make_seat(self._settings.player, session.game, role, seed, self._server.model)
            decision = await asyncio.to_thread(player.decide, view, ask)
            typed = write_fields(ask, decision.action, session.table.texts)
        # What is typed is read by the ask, so a number of the strategy may be kept rounded.
        self.notes[session.id, role, turn] = read_fields(ask, typed, session.table.texts)[0]
        return await self._send(client, page, "/answer", typed)

    def _fill(self, item: Item, texts: PageTexts) -> str:
        if item.choices:
            return self._random.choice(item.choices)
        if item.kind not in ("number", "slider"):
            return self._label
        usual = 0.0 if item.high is None else min(0.0, item.high)
        return texts.figure(usual if item.low is None else item.low)

    async def _send(
        self, client: AsyncClient, page: Response, action: str, typed: dict[str, str]
    ) -> Response:
        """Send the form of the page whose address has `action` in it, with its hidden fields."""
        for form in _FORM.finditer(page.text):
            if action in form[1]:
                fields = {name: html.unescape(value) for name, value in _HIDDEN.findall(form[0])}
                answered = await client.post(form[1], data=fields | typed)
                if confirmed := _CONFIRM.search(answered.text):
                    fields["confirmed"] = html.unescape(confirmed[1])
                    answered = await client.post(form[1], data=fields | typed)
                return answered
        raise RuntimeError(f"{self._label} finds no form {action} on the page {page.url.path}")


_TRIES = 3
"""So often a model may send a page that is refused, before it is taken for somebody who left."""


class _Reader(_Participant):
    """A model with its own browser.

    It is told what the page says, and fills in every form itself.
    """

    def __init__(
        self, server: ServerState, lobby: Lobby, number: int, settings: TrialSettings
    ) -> None:
        super().__init__(server, lobby, number, settings)
        name = settings.readers[number % len(settings.readers)]
        self._model = server.model(name)
        self._label = f"{name} {number + 1}"
        self._done: list[str] = []

    async def _join(self, client: AsyncClient, page: Response) -> Response:
        return await self._fill_in(client, page, "/join/", self._lobby.texts)

    async def _answer_questionnaire(
        self, client: AsyncClient, page: Response, context: SeatContext
    ) -> Response:
        return await self._fill_in(client, page, "/questionnaire", context.session.table.texts)

    async def _get_ready(
        self, client: AsyncClient, page: Response, context: SeatContext
    ) -> Response:
        return await self._fill_in(client, page, "/ready", context.session.table.texts)

    async def _answer(self, client: AsyncClient, page: Response, context: SeatContext) -> Response:
        session = context.session
        role = context.role
        texts = session.table.texts
        with session.lock:
            ask = session.pending().get(role)
            turn = session.turn(role)
        answered = await self._fill_in(client, page, "/answer", texts)
        kept = session.answer(role, turn)
        if ask is not None and kept is not None and not kept.decision.stand_in:
            self.notes[session.id, role, turn] = read_fields(ask, self._typed, texts)[0]
        return answered

    async def _fill_in(
        self, client: AsyncClient, page: Response, action: str, texts: PageTexts
    ) -> Response:
        """Let the model fill in a page until it is taken; whoever cannot is gone."""
        for tried in range(_TRIES):
            read = read_page(page.text)
            earlier = "\n".join(self._done[-_REMEMBERED:])
            seed = self._number * _TRIES + tried
            self._typed: dict[str, str] = {}
            if read.fields:
                prompt, reply, self._typed = await asyncio.to_thread(
                    ask_reader, self._model, read, earlier, texts, seed
                )
                self.readings.append({"who": self._label, "prompt": prompt, "reply": reply})
            page = await self._send(client, page, action, self._typed)
            if page.status_code != _REFUSED:
                told = ", ".join(f"{name} = {value}" for name, value in self._typed.items())
                self._done.append(f"- {told}" if told else "- read a page and went on")
                return page
        self.gone = True
        return page


_REMEMBERED = 40
"""So many of its latest answers a model is reminded of."""
_OK = 200
_REFUSED = 422


def render_preview(title: str, pages: Sequence[SeenPage]) -> str:
    """Return a sheet with every kind of page of every role, each as somebody saw it first."""
    style = load_asset("app.css")
    shown: dict[tuple[object, ...], SeenPage] = {}
    for page in pages:
        alone = re.sub(r"<script.*?</script>", "", page.html)
        alone = alone.replace(
            '<link rel="stylesheet" href="/static/app.css">', f"<style>{style}</style>"
        )
        key = (page.part, page.treatment, page.role, page.kind)
        shown.setdefault(key, replace(page, html=alone))
    in_order = sorted(shown.values(), key=lambda page: (page.part, page.treatment, page.role))
    return render_text(PreviewPage(title, in_order))


def list_seated_models(text: str) -> list[str]:
    """List the models that an experiment file seats or lets rule."""
    _, treatments = parse_experiment(text)
    named: dict[str, None] = {}
    for part in chain.from_iterable(treatments.values()):
        named |= dict.fromkeys(list_named_models(part.setup))
    return list(named)


def count_people(text: str) -> int:
    """Return how many people fill one group of every treatment.

    Groups that are matched have one treatment.
    """
    experiment, treatments = parse_experiment(text)
    first = draw_treatments(experiment)[: len(treatments) * experiment.assignment.matching_groups]
    return sum(len(treatments[treatment][0].setup.persons) for treatment in first)
