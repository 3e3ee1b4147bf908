"""Every promise of the paper "ALYMPICS: LLM agents meet game theory", each with a call and a check
of what comes out.

The ids are the promises with the section of the paper they stand in. docs/papers/alympics.md tells
the same in words.
"""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import pytest
import running
from recorded import DATA, recorded
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.games.water.bidders import BIDDERS
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import ABUNDANCE, RESIDENTS, Resident, WaterRules, allocate
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import published_personas
from bestresponse.report.document import Figure, Table
from bestresponse.report.tables import to_csv
from bestresponse.studies.reproduce.alympics import reproduce_alympics
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.judging import (
    SCALES,
    ResidentScore,
    judge_run,
    make_sheets,
    read_sheets,
    rubric,
    summarise,
)
from bestresponse.studies.water.study import water
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.sessions.setup import GameChoice, make_game
from bestresponse.web.trial import TrialSettings, try_experiment

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers" / "alympics.md"
EXPERIMENT = ROOT / "examples" / "experiments" / "water.toml"
NAMES = ("Alex", "Bob", "Cindy", "David", "Eric")
PROMISES = []


def promise(sentence, *marks):
    """Put a check under the sentence that it holds the program to."""

    def add(check):
        PROMISES.append(pytest.param(check, id=sentence, marks=marks))
        return check

    return add


def explain(request):
    """Bid 12.5 and give the day as a reason."""
    day = re.findall(r"Day (\d+) of", request.messages[-1].content)[-1]
    return json.dumps({"reasons": f"It is day {day}.", "answer": 12.5})


@dataclass
class Shared:
    """What several checks look at; each run is made once, when the first of them asks."""

    folder: Path
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(explain, name="m"))

    @cached_property
    def six(self):
        """Two games of 20 days in each of the six settings, without a model."""
        return running.run(water, WaterConfig("need", grid=True, repeats=2), self.folder / "six")

    @cached_property
    def recorded(self):
        """The same games, written down as recorded ones are."""
        lines = {}
        for row in self.six.frame("days"):
            low, high = ABUNDANCE[row["condition"].partition(" ")[0]]
            day = lines.setdefault(
                (row["condition"], row["repeat"], row["day"]),
                {
                    "persona": row["condition"].endswith("with personas"),
                    "low": low,
                    "high": high,
                    "number": row["repeat"],
                    "day": row["day"],
                    "supply": row["supply"],
                    "bids": {},
                    "winners": [],
                },
            )
            day["bids"][row["resident"]] = row["bid"]
            day["winners"] += [row["resident"]] if row["served"] else []
        folder = self.folder / "recorded"
        folder.mkdir()
        (folder / "rounds.jsonl").write_text("\n".join(map(json.dumps, lines.values())))
        return reproduce_alympics(folder)

    @cached_property
    def spoken(self):
        """A game of three days in which five models with personas give reasons."""
        config = WaterConfig("m", with_personas="on", days=3, repeats=1)
        return running.run(water, config, self.folder / "spoken", {"m": self.model})

    @cached_property
    def asked(self):
        """What Alex was asked in that game, day by day."""
        assert self.spoken.answered == 1
        return [
            request
            for request in self.model.asked
            if "You are Alex" in request.messages[-1].content
        ]

    def section(self, run, title):
        """Return the blocks of a section of the report."""
        return next(section.blocks for section in run.report().sections if section.title == title)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return Shared(tmp_path_factory.mktemp("alympics"))


def command(*words):
    """Type a command in this process; return what it prints."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def refuse_models(name):
    raise AssertionError(f"no model was to be opened, but {name} was")


def find_tau(values):
    """Count pairs that rise and fall; tau-b leaves out equal ones on the root of the shares."""
    pairs = list(combinations(values, 2))
    rising = sum(later > earlier for earlier, later in pairs)
    falling = sum(later < earlier for earlier, later in pairs)
    return (rising - falling) / ((rising + falling) * len(pairs)) ** 0.5


def list_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def play_day(game, state, supply, *bids):
    state = game.apply(state, {"nature": supply})
    return game.apply(state, dict(zip(game.roles, bids, strict=True)))


@promise(
    "3.1: 20 days, 8 of 10 health, +2 with water, -n on the n-th dry day, highest bid first, ties"
    " to lower need"
)
def check_rules(shared):
    game = Water()
    assert (game.rules.days, game.rules.health, game.rules.most_health) == (20, 8, 10)
    first = play_day(game, game.start(), 19, 40, 40, 10, 20, 30)
    # Alex and Bob bid the same: Alex needs 8 of 19, Bob 9 of the 11 that are left.
    assert first.past[0].winners == (True, True, False, False, False)
    # Of two that bid the same and do not both fit, the lower need comes first.
    assert play_day(game, game.start(), 10, 40, 40, 10, 20, 30).past[0].winners[:2] == (True, False)
    second = play_day(game, first, 8, 0, 0, 1, 1, 1)
    assert [(s.health, s.dry_days) for s in second.standings] == [
        (10, 0),
        (9, 1),
        (5, 2),
        (5, 2),
        (5, 2),
    ]


@promise("figure 3: five residents with these needs and salaries")
def check_residents(shared):
    known = [(resident.name, resident.need, resident.salary) for resident in RESIDENTS]
    assert known == [
        ("Alex", 8, 70),
        ("Bob", 9, 75),
        ("Cindy", 10, 100),
        ("David", 11, 120),
        ("Eric", 12, 120),
    ]


@promise(
    "4.2: a persona has a profession, a personality and a background, and is told to the model"
)
def check_personas(shared):
    assert tuple(published_personas()) == NAMES
    system = shared.asked[0].messages[0].content
    persona = published_personas()["Alex"]
    assert all(
        text in system for text in (persona.profession, persona.personality, persona.background)
    )


@promise("4.2: supply is uniform on 10-20, 15-25 and 20-30 units")
def check_supply(shared):
    ranges = {
        group.abundance: (group.rules.low, group.rules.high)
        for group in shared.six.config.conditions
    }
    assert ranges == {"low": (10, 20), "medium": (15, 25), "high": (20, 30)}
    (chances,) = Water(WaterRules(low=10, high=20)).asks(Water().start()).values()
    assert [outcome for outcome, _ in chances.chances] == list(range(10, 21))
    assert [chance for _, chance in chances.chances] == pytest.approx([1 / 11] * 11)


@promise("table 1: six settings, ten games each")
def check_settings(shared):
    assert WaterConfig("need", grid=True).repeats == 10
    settings = [
        (condition.persona, condition.abundance) for condition in shared.six.config.conditions
    ]
    assert settings == [
        (persona, name) for persona in (False, True) for name in ("low", "medium", "high")
    ]
    assert len(shared.six.frame("games")) == 12


@promise(
    "equation 1: a reply depends on the rules, the own replies, and the bids and states of all days"
    " before"
)
def check_memory_of_all(shared):
    last = shared.asked[2].messages[-1].content
    assert last.count("got water") + last.count("got none") == 10
    assert "It is day 1." in last
    assert "It is day 2." in last


@promise("3.1: the supply of a day is announced before the bids")
def check_announcement(shared):
    assert re.search(
        r"Day 1 of 3\. Salaries are paid\. There are \d+ units of water today\.",
        shared.asked[0].messages[-1].content,
    )


@promise(
    "equation 2: RSR is 0.3, 0.4 and 0.5 at the start (RSR_S), and is given for the end (RSR_E)"
)
def check_rsr(shared):
    starts = [round(values["rsr_start"], 9) for _, values in shared.six.metrics.groups]
    assert starts == [0.3, 0.4, 0.5] * 2
    row = next(row for row in shared.six.frame("games") if row["survivors"])
    condition = next(c for c in shared.six.config.conditions if c.name == row["condition"])
    needs = sum(resident.need for resident in RESIDENTS if row["alive"][resident.name])
    assert {round(one["rsr_start"], 9) for one in shared.six.frame("games")} == {0.3, 0.4, 0.5}
    assert row["rsr_end"] == pytest.approx((condition.rules.low + condition.rules.high) / 2 / needs)
    for game in shared.six.frame("games"):
        needs = sum(resident.need for resident in RESIDENTS if game["alive"][resident.name])
        supply = sum(ABUNDANCE[game["abundance"]]) / 2
        assert game["rsr_end"] == (pytest.approx(supply / needs) if needs else None)
    for heads, values in shared.six.metrics.groups:
        games = shared.six.frame("games").select(condition=heads[0])
        ends = [game["rsr_end"] for game in games if game["rsr_end"] is not None]
        assert values["rsr_end"].estimate == pytest.approx(mean(ends))


@promise("6.2: the less water at the start, the higher RSR_E in the paper's games")
def check_rsr_end_recorded(shared):
    ends = {}
    for row in shared.six.frame("games"):
        if row["survivors"]:
            needs = sum(resident.need for resident in RESIDENTS if row["alive"][resident.name])
            ends.setdefault(row["condition"], []).append(
                sum(ABUNDANCE[row["abundance"]]) / 2 / needs
            )
    (table,) = shared.recorded.tables
    shown = {row[0]: row[-1] for row in table.rows}
    assert shown == {name: pytest.approx(mean(rates)) for name, rates in ends.items()}
    found = [
        check
        for check in shared.recorded.checks
        if check.what.startswith("RSR at the end is higher with medium")
    ]
    low, high = (mean(ends[name]) for name in list(ends)[1:3])
    assert found[1].found == f"{low:.2f} {'>' if low > high else '<='} {high:.2f}"
    if DATA.is_dir():
        checks = reproduce_alympics(recorded("water")).checks
        found = [check for check in checks if check.what.startswith("RSR at the end is higher")]
        assert [check.agrees for check in found] == [True] * 4


@promise("4.4: N_survivor, and the survival rate of every player")
def check_survival(shared):
    games = shared.six.frame("games").select(condition="low (10-20), without personas")
    rates = {
        row["resident"]: row["survived"].estimate for row in shared.six.frame("survival").rows[:5]
    }
    assert rates == {name: sum(row["alive"][name] for row in games) / 2 for name in NAMES}
    assert [row["survivors"] for row in games] == [sum(row["alive"].values()) for row in games]
    # Who is alive in the end has earned 1; four days without water cost 1 + 2 + 3 + 4 of 8 points.
    game = Water(WaterRules(days=4))
    state = game.start()
    for _ in range(4):
        state = play_day(game, state, 8, 5, 1, 1, 1, 1)
    assert game.payoffs(state) == dict(zip(NAMES, (1, 0, 0, 0, 0), strict=True))


@promise("4.4: p_n, the minimum successful bid of day n")
def check_price(shared):
    # One who needs 4 units is served on days with 4, and not on those with 3.
    rules = WaterRules((Resident("Mill", 4, 30),), low=3, high=4, days=4)
    dry = running.run(water, WaterConfig("need", rules=rules, repeats=6), shared.folder / "dry")
    for run, fewest in ((shared.six, 2), (dry, 1)):
        served = {}
        for day in run.frame("days"):
            if day["served"]:
                place = (day["condition"], day["day"])
                served.setdefault(place, {}).setdefault(day["repeat"], []).append(day["bid"])
        rows = {(row["condition"], row["day"]): row for row in run.frame("prices")}
        assert rows.keys() == served.keys()
        for place, games in served.items():
            prices = [min(bids) for bids in games.values()]
            row = rows[place]
            assert (row["games"], row["least"], row["most"]) == (
                len(games),
                min(prices),
                max(prices),
            )
        assert fewest <= min(row["games"] for row in rows.values()) < 6


@promise(
    "figure 4: box plots by day with the line of medians and, in dashed red, their mean",
    pytest.mark.drawn,
)
def check_boxes(shared):
    figures = [
        block
        for block in shared.section(shared.six, "What water cost")
        if isinstance(block, Figure)
    ]
    assert len(figures) == 6
    drawn = figures[0].image if isinstance(figures[0].image, str) else figures[0].image.decode()
    rows = shared.six.frame("prices").select(condition="low (10-20), without personas")
    assert {
        f'id="box-{row["day"]}"' in drawn and f'id="whisker-{row["day"]}"' in drawn for row in rows
    } == {True}
    assert 'id="medians"' in drawn
    assert 'id="level"' in drawn
    medians = [row["median"] for row in rows]
    for row in rows:
        days = shared.six.frame("days").select(condition=row["condition"], day=row["day"])
        bids = {}
        for day in days:
            if day["served"]:
                bids.setdefault(day["repeat"], []).append(day["bid"])
        least, *_, most = sorted(min(served) for served in bids.values())
        # Of one or two prices a quartile lies a quarter of the way from one end.
        assert row["first_quartile"] == pytest.approx(least + (most - least) / 4)
        assert row["third_quartile"] == pytest.approx(most - (most - least) / 4)
    assert any(row["least"] < row["most"] for row in rows)
    assert rows[0]["mean_of_medians"] == pytest.approx(sum(medians) / len(medians))
    assert rows[0]["mean_of_medians"] != pytest.approx(median(medians))


@promise(
    "5.2: with abundant water the price has an upward trend, and falls after day 10 with little"
)
def check_trend(shared):
    prices = {}
    for row in shared.six.frame("days").select(condition="high (20-30), without personas"):
        if row["served"]:
            prices.setdefault((row["day"], row["repeat"]), []).append(row["bid"])
    by_day = {}
    for (day, _), bids in prices.items():
        by_day.setdefault(day, []).append(min(bids))
    medians = [median(by_day[day]) for day in sorted(by_day)]
    checks = {check.what: check for check in shared.recorded.checks}
    check = checks["with high supply the price rises throughout, without personas"]
    assert check.found == f"tau {find_tau(medians):.2f}"
    if not DATA.is_dir():
        return
    checks = {check.what: check for check in reproduce_alympics(recorded("water")).checks}
    for condition in ("without personas", "with personas"):
        check = checks[f"with high supply the price rises throughout, {condition}"]
        assert check.agrees
        assert "not monotonic" in check.remark
    assert checks["with low supply the price falls after day 10, without personas"].agrees


@promise("4.3: settings that differ in supply, and in personas, are compared")
def check_comparisons(shared):
    rows = shared.six.frame("comparisons")
    # Three pairs of supplies without personas and three with; personas make no difference to
    # bidders.
    assert len(rows) == 6
    assert {row["games"] for row in rows} == {2}
    survivors = {
        name: [row["survivors"] for row in shared.six.frame("games").select(condition=name)]
        for name in ("low (10-20), without personas", "medium (15-25), without personas")
    }
    low, medium = survivors.values()
    first = rows.rows[0]
    assert first["comparison"] == " - ".join(reversed(survivors))
    assert first["difference"].estimate == mean(medium) - mean(low) != 0
    # Holm: the k-th smallest of m is multiplied by m + 1 - k, and never lies below one before it.
    least = 0.0
    for rank, row in enumerate(sorted(rows, key=lambda row: row["p"])):
        least = max(least, min(1.0, (len(rows) - rank) * row["p"]))
        assert row["p_adjusted"] == pytest.approx(least)
    assert any(row["p_adjusted"] > row["p"] for row in rows)


@promise("figures 7 to 9: bids, health, balance by day and resident, with the RSR of each day")
def check_curves(shared):
    row = shared.six.frame("residents")[0]
    days = shared.six.frame("days").select(
        condition=row["condition"], resident=row["resident"], day=row["day"]
    )
    for figure in ("bid", "health", "balance"):
        assert row[figure].estimate == pytest.approx(mean(day[figure] for day in days))
    assert row["balance"].estimate != row["health"].estimate
    titles = [section.title for section in shared.six.report().sections]
    assert {"Bids", "Health", "Money", "How scarce water was"} <= set(titles)
    assert max(row["day"] for row in shared.six.frame("mornings")) == 21


@promise("A.2: bids, allocation, health, reasons and No-Water Days of each round are kept")
def check_round(shared):
    row = shared.spoken.frame("days")[0]
    assert (row["resident"], row["bid"], row["reasons"]) == ("Alex", 12.5, "It is day 1.")
    assert {"served", "health", "dry_days", "balance", "supply"} <= set(row)
    salaries = {resident.name: resident.salary for resident in RESIDENTS}
    evenings = {}
    for day in sorted(shared.six.frame("days"), key=lambda day: day["day"]):
        place = (day["condition"], day["repeat"], day["resident"])
        health, balance, dry_days = evenings.get(place, (8, 0, 0))
        balance += salaries[day["resident"]] - (day["bid"] if day["served"] else 0)
        dry_days = 0 if day["served"] else dry_days + 1
        health = min(10, health + 2) if day["served"] else health - dry_days
        evenings[place] = (health, balance, dry_days)
        assert (day["health"], day["dry_days"]) == (health, dry_days)
        assert day["balance"] == pytest.approx(balance)


@promise(
    "A.1: the call for bids says that one may take part or not, and that survival matters most"
)
def check_call(shared):
    told = shared.asked[0].messages[-1].content
    assert (
        "How much do you bid for water today? You can also pass. The most important thing is to"
        " survive." in told
    )
    assert 'or "pass">' in told


@promise("A.1, rule 3: whoever dies loses all money, and is told so")
def check_money(shared):
    assert (
        "out of the game for good, and all your money is lost"
        in shared.asked[0].messages[-1].content
    )


@promise(
    "2.1: the sandbox has environment codes, records of all games, and settings that can be changed"
)
def check_sandbox(shared):
    rules = shared.folder / "town.toml"
    rules.write_text('low = 3\nhigh = 3\nresidents = [["Mill", 3, 30], ["Farm", 3, 12]]\n')
    run = br.water.simulate(
        "need", rules=rules, days=2, repeats=1, output_dir=shared.folder / "own"
    )
    assert [row["resident"] for row in run.frame("days")] == ["Mill", "Farm", "Mill", "Farm"]
    assert br.load_run(run.path).replay().different == ()


@promise("2.2: an agent has a memory that can be exchanged")
def check_memory(shared):
    model = ScriptedModel(explain, name="m")
    config = WaterConfig("m", memory="window:1", days=3, repeats=1)
    running.run(water, config, shared.folder / "window", {"m": model})
    last = [
        request.messages[-1].content
        for request in model.asked
        if "Day 3 of 3" in request.messages[-1].content
    ]
    assert {("Day 1:" in text, "Day 2:" in text) for text in last} == {(False, True)}

    def sum_up(request):
        asked = request.messages[-1].content
        return "Eric pays most." if "Sum up" in asked else explain(request)

    model = ScriptedModel(sum_up, name="m")
    config = WaterConfig("m", memory="summary:1", days=3, repeats=1)
    running.run(water, config, shared.folder / "summary", {"m": model})
    bids = [request.messages[-1].content for request in model.asked if "Sum up" not in str(request)]
    last = [text for text in bids if "Day 3 of 3" in text]
    assert {("Eric pays most." in text, "Day 1:" in text) for text in last} == {(True, False)}


@promise("2.2: an agent has a reasoning plugin")
def check_reasoning(shared):
    for reasoning, calls in (("direct", 1), ("predict", 2), ("refine", 3), ("k-level:1", 5)):
        model = ScriptedModel(explain, name="m")
        seats = dict.fromkeys(NAMES[1:], "need")
        config = WaterConfig("m", seat=seats, reasoning=reasoning, days=1, repeats=1)
        running.run(water, config, shared.folder / reasoning.replace(":", ""), {"m": model})
        assert len(model.asked) == calls, reasoning


@promise("2.2: an agent has a status, a language model and codes")
def check_status(shared):
    told = shared.asked[0].messages[-1].content
    assert "You, Alex: $70, health 8, 0 dry days in a row." in told
    assert {model for _, model in next(shared.spoken.folder.plays()).data["seats"]} == {"m"}


@promise("2.2: an agent can use tools, whose calls and results are kept")
def check_tools(shared):
    def water_price(day: int) -> float:
        """Return what water cost on a day."""
        return 30.0 + day

    def bid(prompt):
        return (
            "ANSWER: 31"
            if "Result of water_price: 31.0" in prompt
            else 'TOOL water_price {"day": 1}'
        )

    seats = dict.fromkeys(NAMES[1:], "need")
    options = {"seat": seats, "days": 1, "repeats": 1, "output_dir": shared.folder / "tools"}
    run = br.water.simulate(bid, tools=[water_price], **options)
    assert run.frame("days")[0]["bid"] == 31.0
    (call,) = run.folder.calls()
    assert call["reply"]["tools"] == [["water_price", '{"day": 1}', "31.0"]]


@promise("2: other models can sit in single seats")
def check_seats(shared):
    models = {name: ScriptedModel(explain, name=name) for name in ("one", "two")}
    config = WaterConfig("one", seat={"Eric": "two"}, days=1, repeats=1)
    running.run(water, config, shared.folder / "two", models)
    assert (len(models["one"].asked), len(models["two"].asked)) == (4, 1)


@promise("2: people can play among agents, at a terminal")
def check_terminal(shared):
    words = [
        "play",
        "water",
        "--seat",
        "Alex=me",
        "--rounds",
        "1",
        "--low",
        "10",
        "--high",
        "10",
        "--seed",
        "1",
    ]
    done = CliRunner().invoke(
        app, [*words, "--output-dir", str(shared.folder / "me")], input="70\n"
    )
    assert "You bid $70 and got water" in done.output


@promise("A.4: five people play 20 days with 10-20 units, and five with 20-30 units, in a browser")
def check_browser(shared):
    experiment = check_experiment(EXPERIMENT.read_text("utf-8"))
    games = [
        make_game(GameChoice("water", parameters=game["parameters"])) for game in experiment.games
    ]
    assert [(game.rules.days, game.rules.low, game.rules.high) for game in games] == [
        (20, 10, 20),
        (20, 20, 30),
    ]
    text = (
        EXPERIMENT.read_text("utf-8")
        .replace("days = 20", "days = 1")
        .replace("groups = 2", "groups = 1")
    )
    trial = try_experiment(text, TrialSettings(5), refuse_models)
    assert (trial.finished, trial.wrong) == (5, [])


@promise("3: classic games can be studied in the same way")
def check_classic(shared):
    run = br.simulate(
        "prisoners-dilemma", "always:defect", repeats=1, output_dir=shared.folder / "classic"
    )
    assert run.answered == 1
    (play,) = run.folder.plays()
    assert list(play.record.payoffs.values()) == [1, 1]


@promise("6.1: batches of games are repeatable")
def check_repeatable(shared):
    again = running.run(water, WaterConfig("need", grid=True, repeats=2), shared.folder / "again")
    assert again.frame("games").rows == shared.six.frame("games").rows


@promise("3.3: agents can be compared with strategies that need no model")
def check_bidders(shared):
    assert set(BIDDERS) == {"random", "share", "need", "myopic", "solver"}
    assert {row["bidder"] for row in shared.six.frame("baselines")} >= {
        "random",
        "share",
        "need",
        "myopic",
    }
    # The games of the run are those of the bidder `need`.
    (row,) = shared.six.frame("baselines").select(bidder="need", supply="low (10-20)")
    games = shared.six.frame("games").select(condition="low (10-20), without personas")
    assert row["survivors"] == mean(game["survivors"] for game in games) < 5
    # On the first day `need` has one of eight points of health at stake, and bids whole cents.
    first = {day["resident"]: day["bid"] for day in shared.six.frame("days").select(day=1)}
    assert first == {one.name: int(100 * one.salary / 8) / 100 for one in RESIDENTS}


@promise("A.5: six scales with five levels each")
def check_scales(shared):
    assert SCALES == (
        "information",
        "reasoning",
        "effectiveness",
        "adaptability",
        "planning",
        "identity",
    )
    assert [len(levels) for _, levels in rubric().values()] == [5] * 6


@promise(
    "7: games are drawn at random, half with personas and half without, and each goes to some of"
    " the judges"
)
def check_drawn(shared):
    sheets = make_sheets(shared.six, ["Ada", "Bea", "Cid", "Dan"], sample=6, each=2)
    games = {
        judge: {row["game"]: row["setting"] for row in list_rows(sheet)}
        for judge, sheet in sheets.items()
    }
    assert [len(own) for own in games.values()] == [3, 3, 3, 3]
    assert set(Counter(game for own in games.values() for game in own).values()) == {2}
    settings = {game: setting for own in games.values() for game, setting in own.items()}
    assert Counter(setting.endswith("without personas") for setting in settings.values()) == {
        True: 3,
        False: 3,
    }
    assert set(Counter(settings.values()).values()) == {1}


@promise("table 3: quartiles, average and standard deviation of every scale")
def check_table(shared):
    scores = [
        ResidentScore("Ada", f"g{k}", "Alex", "planning", value)
        for k, value in enumerate((2, 3, 4, 5, 5))
    ]
    (row,) = summarise(scores)
    assert (row["first_quartile"], row["median"], row["third_quartile"], row["mean"]) == (
        3,
        4,
        5,
        3.8,
    )
    # The squares of -1.8, -0.8, 0.2, 1.2 and 1.2 add up to 6.8.
    assert row["deviation"] == pytest.approx(1.7**0.5)


@promise("table 3 and figure 5: the agents beside people's assessment of themselves")
def check_self_assessment(shared):
    (shared.folder / "payments.csv").write_text(
        "lobby,group,participant,q_planning\nL,1,P-1,4\nL,1,P-2,3\nM,1,P-1,2\n"
    )
    (shared.folder / "ada.csv").write_text("judge,game,resident,planning\nAda,g,Alex,2\n")
    printed = command(
        "simulate", "scores", shared.folder / "payments.csv", shared.folder / "ada.csv", "--json"
    )
    assert [(row["judged"], row["mean"]) for row in json.loads(printed)["scales"]] == [
        ("players", 2.0),
        ("themselves", 3.0),
    ]


@promise("7: identity alignment is judged of agents with personas only")
def check_identity(shared):
    with_personas, without = shared.spoken, shared.six
    first = list_rows(make_sheets(with_personas, ["Ada"])["Ada"])
    second = list_rows(make_sheets(without, ["Ada"])["Ada"])
    assert {row["identity"] for row in first} == {""}
    assert {row["identity"] for row in second} == {"n/a"}


@promise("7: scores by setting")
def check_by_setting(shared):
    sheet = "judge,game,resident,setting,planning\nAda,g,Alex,low,2\nAda,h,Alex,high,5\n"
    (shared.folder / "by.csv").write_text(sheet)
    rows = summarise(read_sheets([shared.folder / "by.csv"]).scores, by="setting")
    assert [(row["group"], row["mean"]) for row in rows] == [("low", 2.0), ("high", 5.0)]


@promise("7: how far the judges agree")
def check_agreement(shared):
    table = {"Ada": (1, 2, 5, 4), "Bea": (1, 2, 5, 3)}
    scores = [
        ResidentScore(judge, f"g{item}", "Alex", "reasoning", value)
        for judge, values in table.items()
        for item, value in enumerate(values)
    ]
    # What one alone has judged says nothing of agreement.
    scores += [ResidentScore("Ada", f"h{item}", "Alex", "reasoning", 1) for item in range(6)]
    (row,) = summarise(scores)
    # Ranks of 1, 1, 2, 2, 3, 4, 5, 5: the one disagreement (3, 4) is a square of 1 among 648 / 56.
    assert row["krippendorff"] == pytest.approx(1 - 0.25 / (648 / 56))
    # Three of four agree; by chance (4 + 4 + 4 + 1 + 1) / 64 would.
    assert row["fleiss"] == pytest.approx((0.75 - 14 / 64) / (1 - 14 / 64))


@promise("7: judges play the game before they judge")
def check_judges_play(shared):
    assert "serve --experiment examples/experiments/water.toml" in PAGE.read_text("utf-8")
    printed = command("experiment", "check", EXPERIMENT)
    assert "People who fill one group of every treatment: 5." in printed


@promise("7: judges give the reasons for their scores")
def check_remarks(shared):
    sheet = list_rows(make_sheets(shared.spoken, ["Ada"])["Ada"])
    assert sheet[0]["remark"] == ""
    sheet[0] |= {"planning": "2", "remark": "Bids without a plan."}
    sheet[1] |= {"planning": "4", "remark": ""}
    (shared.folder / "reasons.csv").write_text(to_csv(sheet))
    printed = json.loads(command("simulate", "scores", shared.folder / "reasons.csv", "--json"))
    (reason,) = printed["reasons"]
    assert (reason["judge"], reason["resident"]) == ("Ada", "Alex")
    assert reason["remark"] == "Bids without a plan."
    judge = ScriptedModel(
        lambda request: json.dumps(
            {"reasons": "It bids early.", "answer": dict.fromkeys(SCALES, 3)}
        )
    )
    scores = judge_run(shared.spoken, judge, sample=1).scores
    assert {score.remark for score in scores} == {"It bids early."}


@promise("7: a model can judge too, and sees what people see")
def check_model_judge(shared):
    judge = ScriptedModel(
        lambda request: json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES, 3)}), name="j"
    )
    scores = judge_run(shared.spoken, judge, sample=1).scores
    assert len(scores) == 5 * 6
    told = judge.asked[0].messages[-1].content
    assert "Day 1, bid $12.50: It is day 1." in told
    # People give 2 and 3 where the model gives 3 and 3: half a point more.
    people = [replace(score, judge="Ada", kind="person", value=2) for score in scores[:2]]
    people[1] = replace(people[1], scale=scores[0].scale, resident="Bob", value=3)
    judged = [*people, scores[0], replace(scores[0], resident="Bob")]
    (row,) = summarise(judged)
    assert (row["models_minus_people"], row["judges"]) == (0.5, 2)


@promise("5 and 6: the published figures come out again from the recorded games")
def check_published(shared):
    checks = {check.what: check for check in shared.recorded.checks}
    replayed = checks["rounds with the recorded winners, balances and health"]
    days = {(row["condition"], row["repeat"], row["day"]) for row in shared.six.frame("days")}
    assert (replayed.found, replayed.agrees) == (len(days), True)
    alive = [row["alive"] for row in shared.six.frame("games").select(abundance="low")]
    alex = [one["Alex"] for one in alive[:2]]
    check = checks["survival of Alex, low (10-20), without personas"]
    assert check.found == sum(alex) / 2
    if not DATA.is_dir():
        return
    reproduction = reproduce_alympics(recorded("water"))
    table = reproduction.tables[0]
    assert isinstance(table, Table)
    assert [column.name for column in table.columns][-2:] == ["RSR_S", "RSR_E"]
    checks = {check.what: check for check in reproduction.checks}
    assert checks["rounds with the recorded winners, balances and health"].agrees
    assert all(check.remark for check in reproduction.differing)


@promise("8: more complex scenarios can be added")
def check_more(shared):
    game = make_game(
        GameChoice("water", parameters={"residents": ("Mill: need 4, salary 30",), "days": 2})
    )
    episode = Episode(game)
    for _ in range(2):
        episode.submit("nature", Decision(20))
        episode.submit("Mill", Decision(1.0))
    assert game.payoffs(episode.state) == {"Mill": 1.0}
    assert [day.winners for day in episode.state.past] == [(True,), (True,)]


@pytest.mark.parametrize("check", PROMISES)
def test_the_paper_promises(check, shared):
    check(shared)


def test_there_are_41_promises_and_the_page_names_what_the_paper_names():
    assert len(PROMISES) == 41
    page = PAGE.read_text("utf-8")
    words = (
        "Sandbox Playground",
        "Memory Cache",
        "Reasoning Plugin",
        "Persona Setting",
        "No-Water Days",
        "N_survivor",
    )
    words += (
        "p_n",
        "RSR_E",
        "(IU)",
        "(LR)",
        "(SE)",
        "(AD)",
        "(LP)",
        "(IA)",
        "figure 4",
        "table 3",
        "figure 10",
    )
    assert [word for word in words if word not in page] == []


def test_the_first_day_of_figure_10_has_the_winner_of_the_paper():
    assert allocate(RESIDENTS, (27, 18, 30, 35, 40), supply=13) == (
        False,
        False,
        False,
        False,
        True,
    )
