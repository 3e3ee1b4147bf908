"""Asks, submissions and records as plain JSON data.

Submissions and records also back, equal to what went in.
"""

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision, Reading, Status

_STATUS = {status.value: status for status in Status}


def ask_to_json(ask: Ask) -> dict[str, object]:
    """Return an ask as plain data."""
    match ask:
        case Choice(options, may_pass):
            return {"kind": "choice", "options": list(options), "may_pass": may_pass}
        case Amount(low, high, whole, may_pass):
            return {
                "kind": "amount",
                "low": low,
                "high": high,
                "whole": whole,
                "may_pass": may_pass,
            }
        case Words(limit):
            return {"kind": "words", "limit": limit}
        case Mixture(options):
            return {"kind": "mixture", "options": list(options)}
        case Form(fields):
            return {
                "kind": "form",
                "fields": [[name, ask_to_json(field)] for name, field in fields],
            }
        case Lottery(chances):
            return {"kind": "lottery", "chances": [[outcome, p] for outcome, p in chances]}


def submission_to_json(submission: Submission) -> dict[str, object]:
    """Return a submission as plain data, without its calls.

    Calls are large and kept apart (see the store).
    """
    decision = submission.decision
    data: JsonObject = {
        "role": submission.role,
        "action": decision.action,
        "status": decision.reading.status.value,
    }
    more: JsonObject = {
        "how": decision.reading.how,
        "reasoning": decision.reasoning,
        "stand_in": decision.stand_in,
    }
    more["remarks"] = [dict(remark) for remark in decision.remarks]
    return data | {name: value for name, value in more.items() if value}


def submission_from_json(data: JsonMapping) -> Submission:
    """Return the submission that `submission_to_json` wrote; its calls are kept apart."""
    action = data["action"]
    reading = Reading(_STATUS[data["status"]], data.get("how", ""))
    decision = Decision(
        tuple(action) if isinstance(action, list) else action,
        data.get("reasoning", ""),
        reading=reading,
        stand_in=data.get("stand_in", ""),
        remarks=tuple(data.get("remarks", ())),
    )
    return Submission(data["role"], decision)


def record_to_json(record: Record) -> JsonObject:
    """Return a record as plain data, without calls."""
    return {
        "game": record.game,
        "version": record.version,
        "players": dict(record.players),
        "submissions": [submission_to_json(submission) for submission in record.submissions],
        "payoffs": dict(record.payoffs),
        "void": None if record.void is None else [record.void.role, record.void.why],
        "endless": record.endless,
    }


def record_from_json(data: JsonMapping) -> Record:
    """Return the record that `record_to_json` wrote."""
    submissions = map(submission_from_json, data["submissions"])
    return Record(
        data["game"],
        data["version"],
        players=dict(data["players"]),
        submissions=tuple(submissions),
        payoffs=dict(data["payoffs"]),
        void=None if data["void"] is None else Void(*data["void"]),
        endless=data["endless"],
    )
