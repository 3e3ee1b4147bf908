"""Asks, submissions and records as plain JSON data, and back.

`to_json(x)` gives data that `json.dumps` takes; `from_json` gives the value back, equal to what went in.
"""

from __future__ import annotations

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Call, Decision, Reading, Status

__all__ = [
    "ask_from_json", "ask_to_json", "decision_from_json", "decision_to_json", "record_from_json", "record_to_json",
    "submission_from_json", "submission_to_json",
]  # fmt: skip

Json = JsonObject
_STATUS = {status.value: status for status in Status}


def ask_to_json(ask: Ask) -> Json:
    """Return an ask as plain data."""
    match ask:
        case Choice(options, may_pass):
            return {"kind": "choice", "options": list(options), "may_pass": may_pass}
        case Amount(low, high, whole, may_pass):
            return {"kind": "amount", "low": low, "high": high, "whole": whole, "may_pass": may_pass}
        case Words(limit):
            return {"kind": "words", "limit": limit}
        case Mixture(options):
            return {"kind": "mixture", "options": list(options)}
        case Form(fields):
            return {"kind": "form", "fields": [[name, ask_to_json(field)] for name, field in fields]}
        case Lottery(chances):
            return {"kind": "lottery", "chances": [[outcome, p] for outcome, p in chances]}


def ask_from_json(data: JsonMapping) -> Ask:
    """Return the ask that `ask_to_json` wrote."""
    match data["kind"]:
        case "choice":
            return Choice(tuple(data["options"]), data["may_pass"])
        case "amount":
            return Amount(data["low"], data["high"], data["whole"], data["may_pass"])
        case "words":
            return Words(data["limit"])
        case "mixture":
            return Mixture(tuple(data["options"]))
        case "form":
            return Form(tuple((name, ask_from_json(field)) for name, field in data["fields"]))  # type: ignore[misc]
        case "lottery":
            return Lottery(tuple((outcome, p) for outcome, p in data["chances"]))
        case other:
            raise ValueError(f"{other!r} is no kind of ask")


def decision_to_json(decision: Decision) -> Json:
    """Without the calls: they are kept apart (see the store) because they are large."""
    data: Json = {"action": decision.action, "status": decision.reading.status.value}
    if decision.reading.how:
        data["how"] = decision.reading.how
    if decision.reasoning:
        data["reasoning"] = decision.reasoning
    if decision.stand_in:
        data["stand_in"] = decision.stand_in
    if decision.remarks:
        data["remarks"] = [dict(remark) for remark in decision.remarks]
    return data


def decision_from_json(data: JsonMapping, calls: tuple[Call, ...] = ()) -> Decision:
    """Return the decision that `decision_to_json` wrote, with the calls that are kept apart."""
    action = data["action"]
    return Decision(
        tuple(action) if isinstance(action, list) else action,
        data.get("reasoning", ""),
        Reading(_STATUS[data["status"]], data.get("how", "")),
        calls,
        data.get("stand_in", ""),
        tuple(data.get("remarks", ())),
    )


def submission_to_json(submission: Submission) -> Json:
    """Return a submission as plain data, without its calls."""
    return {"role": submission.role, **decision_to_json(submission.decision)}


def submission_from_json(data: JsonMapping, calls: tuple[Call, ...] = ()) -> Submission:
    """Return the submission that `submission_to_json` wrote."""
    return Submission(data["role"], decision_from_json(data, calls))


def record_to_json(record: Record) -> Json:
    """Return a record as plain data, without calls."""
    return {
        "game": record.game,
        "version": record.version,
        "players": dict(record.players),
        "submissions": [submission_to_json(s) for s in record.submissions],
        "payoffs": dict(record.payoffs),
        "void": None if record.void is None else [record.void.role, record.void.why],
    }


def record_from_json(data: JsonMapping) -> Record:
    """Return the record that `record_to_json` wrote."""
    return Record(
        data["game"],
        data["version"],
        dict(data["players"]),
        tuple(submission_from_json(s) for s in data["submissions"]),
        dict(data["payoffs"]),
        None if data["void"] is None else Void(*data["void"]),
    )
