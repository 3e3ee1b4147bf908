"""Replies kept in an SQLite file, so that no call is paid for twice.

The key of a call is the SHA-256 of the canonical JSON of who answers (`Model.identity`) and of the
whole request with its replicate index: anything that can change the answer changes the key, and
repeated samples do not collapse into one. Identical calls in flight share one request. Errors are
never kept. Rows are JSON text; nothing is unpickled.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from bestresponse.core.errors import NotCached, StoreError
from bestresponse.core.json import JsonObject, canonical
from bestresponse.models.base import Json, Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_from_json, reply_to_json, request_to_json
from bestresponse.models.wrappers.limits import (
    Gate,
    Limited,
    Meter,
    Metered,
    Retried,
    RetryPolicy,
    find_price,
)

_VERSION = 1
_TABLES = """
create table if not exists identities (
    id integer primary key,
    model text not null,
    text text not null unique
);
create table if not exists replies (
    number integer primary key,
    key text not null unique,
    identity integer not null references identities,
    request text not null,
    reply text not null
);
"""


class CacheMode(StrEnum):
    """What to do with a call."""

    OFF = "off"
    READ_WRITE = "read-write"
    REFRESH = "refresh"
    REPLAY = "replay"


def call_key(identity: Mapping[str, Json], request: Request) -> str:
    """Return the key of a call: 64 hexadecimal digits."""
    text = canonical({"identity": identity, "request": request_to_json(request)})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Cache:
    """One file of replies, shared by any number of models, threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._flights: dict[str, Future[Reply]] = {}
        self._identities: dict[str, int] = {}
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link; replies have a file of their own")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot create the folder {path.parent}: {error.strerror}") from error
        try:
            self._rows = sqlite3.connect(
                path,
                timeout=30,
                isolation_level=None,
                check_same_thread=False,
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot open the cache of replies {path}: {error}") from error
        version = self._run("pragma user_version")[0][0]
        if version not in (0, _VERSION):
            raise StoreError(
                f"the cache {self._path} has format {version}, this release reads {_VERSION}: name"
                " another"
            )
        self._run("pragma journal_mode = wal")
        self._run("pragma synchronous = normal")
        for statement in _TABLES.split(";"):
            self._run(statement)
        self._run(f"pragma user_version = {_VERSION}")

    def get(self, key: str) -> Reply | None:
        """Return the stored reply, marked as cached; None where there is none."""
        rows = self._run("select reply from replies where key = ?", key)
        try:
            if not rows:
                return None
            ((text,), *_) = rows
            return reply_from_json(json.loads(text), cached=True)
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"the cache {self._path} holds a damaged reply under {key}: refresh that call"
            ) from error

    def put(
        self,
        key: str,
        model: str,
        identity: str,
        request: Request,
        reply: Reply,
    ) -> None:
        """Keep a reply; it is on disk, as far as this process is concerned, when this returns."""
        texts = _text(request_to_json(request)), _text(reply_to_json(reply))
        if identity not in self._identities:
            self._run(
                "insert or ignore into identities (model, text) values (?, ?)",
                model,
                identity,
            )
            self._identities[identity] = self._run(
                "select id from identities where text = ?", identity
            )[0][0]
        query = "insert or replace into replies (key, identity, request, reply) values (?, ?, ?, ?)"
        self._run(query, key, self._identities[identity], *texts)

    def once(self, key: str, call: Callable[[], Reply]) -> Reply:
        """Make the call unless the same one is in flight.

        If it is, waits for that one and shares its outcome.
        """
        with self._lock:
            flight = self._flights.get(key)
            mine = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if not mine:
            return replace(flight.result(), cached=True)
        try:
            reply = call()
            flight.set_result(reply)
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._flights[key]
        return reply

    def __len__(self) -> int:
        return int(self._run("select count(*) from replies")[0][0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._rows.close()

    def _run(self, statement: str, *values: object) -> list[Any]:
        try:
            with self._lock:
                return self._rows.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"the cache of replies {self._path} cannot be used: {error}"
            ) from error


class Cached(Wrapper):
    """A model whose replies are kept.

    Wrap it around everything else, so that a hit costs nothing.
    """

    def __init__(
        self,
        model: Model,
        cache: Cache,
        mode: CacheMode = CacheMode.READ_WRITE,
    ) -> None:
        super().__init__(model)
        self._cache = cache
        self._mode = mode

    def complete(self, request: Request) -> Reply:
        """Return the stored reply, or a new one that is stored.

        In replay mode a miss is `NotCached`.
        """
        if self._mode is CacheMode.OFF:
            return self._model.complete(request)
        key = call_key(self.identity, request)
        return self._cache.once(key, lambda: self._find_or_ask(key, request))

    def _find_or_ask(self, key: str, request: Request) -> Reply:
        reply = self._cache.get(key) if self._mode is not CacheMode.REFRESH else None
        if reply is not None:
            return reply
        if self._mode is CacheMode.REPLAY:
            raise NotCached(f"this call of {self.id} was never recorded")
        reply = self._model.complete(request)
        self._cache.put(key, self.id, canonical(self.identity), request, reply)
        return reply


def assemble(
    model: Model,
    *,
    cache: Cache | None = None,
    mode: CacheMode = CacheMode.READ_WRITE,
    meter: Meter | None = None,
    gate: Gate | None = None,
    policy: RetryPolicy | None = None,
) -> Model:
    """Wrap a model in whatever is given; retries always, with the default policy if none is given.

    The one order that makes sense, from the outside in: the cache (a hit costs nothing), retries (a
    call that waits holds no place), limits, the meter (every attempt counts), the model.
    """
    if meter is not None:
        model = Metered(model, meter, find_price(model))
    if gate is not None:
        model = Limited(model, gate)
    model = Retried(model, policy)
    return model if cache is None else Cached(model, cache, mode)


def _text(data: JsonObject) -> str:
    """JSON in ASCII: SQLite takes no lone surrogates, and replies may hold some."""
    return json.dumps(data, separators=(",", ":"))
