"""How answers were read and what calls cost, counted by hand from records and calls."""

from types import SimpleNamespace

import pytest

from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.report.frames import Frame
from bestresponse.runs.reporting.answers import AnswerRow, Readings, VoidRow, warn_of_gaps
from bestresponse.runs.reporting.sections import (
    CallTotals,
    costs_section,
    count_calls,
    method_section,
    price_by_model,
    sum_money,
)
from bestresponse.runs.store.folder import Manifest, StoredPlay


def submit(role, status=Status.VALID, how="", stand_in=""):
    return Submission(role, Decision("A", "", Reading(status, how), (), stand_in))


def finish(number, submissions, void=None, seats=(("row", "m"), ("col", "grim"))):
    record = Record("chicken", 1, dict(seats), tuple(submissions), {}, void)
    return StoredPlay(
        f"play {number}", {"seats": [list(seat) for seat in seats], "repeat": number}, record
    )


def test_answers_are_counted_by_player_and_nature_is_none():
    readings = Readings()
    refused = "refused: 9 is too much; refused: -1 is too little"
    plays = [
        finish(0, [submit("nature"), submit("row"), submit("col")]),
        finish(
            1,
            [
                submit("row", Status.REPAIRED, refused),
                submit("row", Status.UNPARSEABLE, stand_in="abstain"),
            ],
        ),
    ]
    assert [play.spec for play in readings.list_finished(plays)] == ["play 0", "play 1"]
    frame = readings.frames["answers"]
    nothing = dict.fromkeys(AnswerRow.__annotations__, 0)
    assert frame.rows == [
        nothing
        | {
            "player": "m",
            "valid": 1,
            "repaired": 1,
            "unparseable": 1,
            "refused_before": 2,
            "abstained": 1,
        },
        nothing | {"player": "grim", "valid": 1},
    ]
    assert len(readings.frames["voids"]) == 0


def test_void_plays_are_left_out_with_their_reason_but_their_answers_are_counted():
    readings = Readings()
    void = finish(4, [submit("row", Status.UNPARSEABLE)], Void("row", "no answer"))
    assert list(readings.list_finished([void])) == []
    assert readings.frames["voids"].rows == [
        {"repeat": 4, "players": "m, grim", "seat": "row", "why": "no answer"}
    ]
    assert readings.frames["answers"][0]["unparseable"] == 1


def warn(total, answered, voids=0, abstained=()):
    nothing = dict.fromkeys(AnswerRow.__annotations__, 0)
    frames = {
        "voids": Frame(VoidRow, [VoidRow(repeat=0, players="m", seat="row", why="")] * voids),
        "answers": Frame(
            AnswerRow, [nothing | {"player": str(times), "abstained": times} for times in abstained]
        ),
    }
    shown = warn_of_gaps(SimpleNamespace(total=total, answered=answered, frame=frames.__getitem__))
    return shown and [note.text.split(";")[0].split(":")[0] for note in shown.blocks]


def test_a_report_says_how_many_plays_are_missing_or_void_and_how_often_a_seat_abstained():
    assert warn(10, 10) is None
    # 1,200 planned, 100 with a result and 3 without one
    assert warn(1200, 100, 3) == ["1,097 of the planned plays are missing", "3 plays are void"]
    assert warn(2, 1, 1) == ["1 play is void"]
    assert warn(None, 5) is None
    assert warn(1, 1, abstained=(2, 3)) == [
        "5 times a seat without a usable answer abstained, as the settings say."
    ]


def price_tokens(model, usage):
    """A dollar a prompt token and ten a reply token; nobody knows what `dark` costs, nor a call
    without counts."""
    if model == "dark" or usage.get("prompt") is None:
        return None
    return usage["prompt"] + 10.0 * usage["completion"]


def test_calls_tokens_seconds_and_dollars_are_added_up_by_model():
    calls = [
        ("b", {"prompt": 7, "completion": 2, "reasoning": 1}, 0.5),
        ("a", {"prompt": 1, "completion": 0}, 0.1),
        ("b", {"prompt": 3, "completion": 4, "reasoning": 3}, 1.25),
        ("a", {"prompt": None, "completion": None}, 0.2),
        ("dark", {"prompt": 5, "completion": 5}, 0.0),
    ]
    lines = [
        {"model": model, "reply": {"usage": usage, "latency": seconds}}
        for model, usage, seconds in calls
    ]
    a, b, dark = count_calls(lines, price_tokens)
    assert b == CallTotals("b", 2, 10, 6, 4, 1.75, 7 + 20 + 3 + 40)
    # One call of a has no counts, so that its price is not known.
    assert a == CallTotals("a", 2, 1, 0, 0, pytest.approx(0.3), None)
    assert (dark.model, dark.prompt, dark.completion, dark.money) == ("dark", 5, 5, None)
    assert b.to_json()["money"] == 70.0


def test_dollars_of_a_run_are_known_where_those_of_all_models_are():
    known = [CallTotals("a", money=1.5), CallTotals("b", money=0.25)]
    assert (sum_money(known), sum_money([])) == (1.75, 0)
    assert sum_money([*known, CallTotals("c", money=None)]) is None


def test_the_price_of_a_call_is_that_of_the_model_that_the_manifest_names(monkeypatch):
    def find_shop_price(provider, name):
        return lambda usage: len(name) * usage.prompt + usage.completion

    lists = SimpleNamespace(names=lambda: ["shop"], make=find_shop_price)
    monkeypatch.setattr("bestresponse.models.wrappers.limits.prices", lists)
    models = {
        "verified:shop/four": {"identity": {"provider": "shop", "model": "four"}},
        "home": {"identity": {"provider": "scripted", "model": "home"}},
    }
    price = price_by_model(Manifest("1", "bench", {}, models=models))
    # four letters, ten tokens of prompt and two of reply
    assert price("shop/four", {"prompt": 10, "completion": 2}) == 42
    assert price("home", {"prompt": 10, "completion": 2}) == 0.0
    assert price("nobody", {"prompt": 10, "completion": 2}) is None


def test_costs_are_a_table_with_a_row_for_each_model_and_none_without_calls():
    assert costs_section([]) is None
    section = costs_section([CallTotals("a", 2, 10, 6, 4, 1.75, None)])
    table = section.blocks[0]
    assert (section.title, table.rows) == ("Costs", (("a", 2, 10, 6, 4, 1.75, None),))
    assert [column.name for column in table.columns] == [
        "model",
        "calls",
        "prompt tokens",
        "reply tokens",
        "of these reasoning",
        "seconds in calls",
        "US dollars",
    ]


def test_how_it_was_done_names_the_command_the_versions_and_the_models():
    environment = {
        "python": "3.11.9",
        "platform": "a machine",
        "packages": {"numpy": "2.0", "scipy": "1.1"},
    }
    models = {"m": {"identity": {"model": "é"}}}
    manifest = Manifest(
        "9f",
        "bench",
        {"title": "für"},
        ("bestresponse", "bench"),
        "2026-01-01",
        environment,
        models=models,
    )
    command, about, settings = method_section(manifest).blocks
    assert command.text == "bestresponse bench"
    assert dict(about.items) == {
        "run": "9f",
        "begun": "2026-01-01",
        "python": "3.11.9",
        "platform": "a machine",
        "packages": "numpy 2.0, scipy 1.1",
        "revision": "an installed release",
        "models": '{"m": {"identity": {"model": "é"}}}',
    }
    assert settings.text == '{\n  "title": "für"\n}'
    assert dict(method_section(Manifest("9f", "bench", {})).blocks[1].items)["models"] == "none"
