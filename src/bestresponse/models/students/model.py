"""A trained network as a model: questions that are asked at the same time are answered together."""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from bestresponse.core.errors import ModelError, ModelUnavailable
from bestresponse.models.base import Abilities, Finish, Json, Reply, Request, Usage, effective_seed
from bestresponse.models.students.causal import Causal, open_causal

_TOGETHER = {"cuda": 512, "mps": 16, "cpu": 4}
"""How many questions are answered at once, by device."""
_MOMENT = 0.02
"""How long the first question of a batch waits for others, in seconds."""
_Waiting = tuple[Request, "queue.SimpleQueue[Reply | Exception]"]


def choose_device() -> str:
    """Return the fastest device of this machine."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def hash_safetensors(folder: Path) -> str:
    """Return the SHA-256 of the weights in a folder; of several files, that of their hashes."""
    found: list[str] = []
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            found.append(hashlib.file_digest(file, "sha256").hexdigest())
    if len(found) == 1:
        return found[0]
    joined = "".join(found)
    return hashlib.sha256(joined.encode()).hexdigest()


class StudentModel:
    """A folder of `bestresponse train` or a causal `transformers` model, to be asked.

    Close it to free its memory.

    Replies that are computed together may differ in the last bits from those computed alone, so a
    reply says that it is not repeatable where several are answered at once.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        self._device = device or choose_device()
        dtype = torch.float32 if self._device == "cpu" else torch.bfloat16
        self._network: Causal | None = open_causal(folder, self._device, dtype)
        sha256 = hash_safetensors(folder)
        self.id = folder.name
        self.identity: Mapping[str, Json] = {
            "provider": "student",
            "sha256": sha256,
            "engine": f"torch {torch.__version__}",
            "device": self._device,
        }
        self.abilities = Abilities(seed=True, concurrency=_TOGETHER[self._device])
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closed = False
        threading.Thread(target=self._serve, daemon=True).start()

    def complete(self, request: Request) -> Reply:
        """Answer together with what other threads ask at the same time."""
        if self._closed:
            raise ModelUnavailable(f"{self.id} was closed")
        answer: queue.SimpleQueue[Reply | Exception] = queue.SimpleQueue()
        self._waiting.put((request, answer))
        reply = answer.get()
        if isinstance(reply, Exception):
            raise ModelError(f"{self.id} could not answer: {reply}") from reply
        return reply

    def close(self) -> None:
        """Free the memory of the network, as soon as what was asked before is answered."""
        self._closed = True
        self._waiting.put(None)

    def _serve(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            end = time.monotonic() + _MOMENT
            while len(batch) < self.abilities.concurrency:
                try:
                    left = max(0.0, end - time.monotonic())
                    following = self._waiting.get(timeout=left)
                except queue.Empty:
                    break
                if following is None:
                    self._waiting.put(None)
                    break
                batch.append(following)
            try:
                replies: Sequence[Reply | Exception] = self._answer_as_fits(
                    [request for request, _ in batch]
                )
            except Exception as error:  # noqa: BLE001 - raised again by the threads that asked
                replies = [error] * len(batch)
            for (_, answer), reply in zip(batch, replies, strict=True):
                answer.put(reply)
        self._network = None

    def _answer_as_fits(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer all together, or where memory runs out one half after the other."""
        try:
            return self._answer(requests)
        except torch.OutOfMemoryError:
            if len(requests) == 1:
                raise
        torch.cuda.empty_cache()
        half = len(requests) // 2
        return self._answer_as_fits(requests[:half]) + self._answer_as_fits(requests[half:])

    def _answer(self, requests: Sequence[Request]) -> list[Reply]:
        network = self._network
        assert network is not None
        began = time.perf_counter()
        chats = []
        for request in requests:
            turns = [(message.role, message.content) for message in request.messages]
            chats.append(network.write_chat(turns))
        encode = network.tokenizer.encode
        prompts = [encode(chat, add_special_tokens=False).ids for chat in chats]
        draws = [_Draw(request) for request in requests]

        def choose(scores: Tensor) -> Tensor:
            return torch.stack([draw.choose(row) for draw, row in zip(draws, scores, strict=True)])

        greedy = all(draw.temperature == 0 for draw in draws)
        most = max(request.max_tokens for request in requests)
        written = network.continue_prompts(prompts, most, None if greedy else choose)
        latency = time.perf_counter() - began
        alone = len(requests) == 1
        return [
            _make_reply(network, request, prompt, tokens, latency, alone=alone)
            for request, prompt, tokens in zip(requests, prompts, written, strict=True)
        ]


class _Draw:
    """How the tokens of one reply are drawn.

    The likeliest is taken at temperature 0; otherwise they are drawn by the reply's own seed.
    """

    def __init__(self, request: Request) -> None:
        self.temperature = 1.0 if request.temperature is None else request.temperature
        seed = effective_seed(request)
        self._rng = torch.Generator().manual_seed(request.replicate if seed is None else seed)

    def choose(self, scores: Tensor) -> Tensor:
        if self.temperature == 0:
            return scores.argmax(-1)
        chances = torch.softmax(scores.float().cpu() / self.temperature, -1)
        return torch.multinomial(chances, 1, generator=self._rng)[0].to(scores.device)


def _make_reply(
    network: Causal,
    request: Request,
    prompt: list[int],
    tokens: list[int],
    latency: float,
    *,
    alone: bool,
) -> Reply:
    text: str = network.tokenizer.decode(tokens[: request.max_tokens])
    is_stopped = any(stop in text for stop in request.stop)
    cut = len(tokens) >= request.max_tokens and not is_stopped
    for stop in request.stop:
        text = text.partition(stop)[0]
    honoured = (
        ("temperature", request.temperature),
        ("seed", effective_seed(request)),
        ("repeatable", alone),
    )
    usage = Usage(len(prompt), min(len(tokens), request.max_tokens))
    return Reply(
        text,
        Finish.LENGTH if cut else Finish.STOP,
        usage,
        latency=latency,
        honoured=honoured,
    )
