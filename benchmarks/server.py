"""A chat-completions server with a fixed latency, as cheap as it can be: it must never be what is measured.

``python -m benchmarks.server LATENCY CALLS`` prints its port and serves until its standard input ends. A
conversation gets tool calls until it holds ``CALLS`` - 1 replies, then a final answer. One timer serves all
replies, since each waits equally long. The models of ``panel_tasks`` reply as the prompt asks. ``GET /v1/stats``
reports CPU seconds, calls, and when the first call since the last such request came (``time.monotonic``; null = none).
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections import deque
from importlib.util import find_spec
from typing import Any, cast

from benchmarks import panel_tasks
from benchmarks.processes import cpu_seconds
from benchmarks.tasks import ANSWER, NATIVE_MODEL, action, native_call

_END = b"\r\n\r\n"
_STATS = b"GET /v1/stats"
_NATIVE = f'"model":"{NATIVE_MODEL}"'.encode()


def _reply(content: str | dict[str, Any]) -> bytes:
    """A whole HTTP reply with a text or a whole message."""
    message = {"role": "assistant", **(content if isinstance(content, dict) else {"content": content})}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 60, "total_tokens": 1260},
        }
    ).encode()
    return _http(body)


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class Replies:
    """Replies that wait for their time, in the order they were asked for."""

    def __init__(self, latency: float, calls: int) -> None:
        self.latency, self.calls, self.count = latency, calls, 0
        self.first: float | None = None
        self.replies = [*(_reply(action(n)) for n in range(calls - 1)), _reply(f"Action: {ANSWER}")]
        self.native = [*(_reply(native_call(n)) for n in range(calls - 1)), _reply("Diagnosis: appendicitis.")]
        self.panels = {
            f'"model":"{model}"'.encode(): {kind: _reply(text) for kind, text in panel_tasks.said(model).items()}
            for model in (panel_tasks.AGREED, panel_tasks.DISPUTED)
        }
        self.waiting: deque[tuple[float, asyncio.Transport, bytes]] = deque()
        self.loop = asyncio.get_running_loop()
        self.armed = False

    def ask(self, transport: asyncio.Transport, body: bytes) -> None:
        """Take a request in; its reply goes out after the latency."""
        self.count += 1
        self.first = self.first or time.monotonic()
        reply = self._reply_to(body)
        if not self.latency:
            transport.write(reply)
            return
        due = self.loop.time() + self.latency
        self.waiting.append((due, transport, reply))
        if not self.armed:
            self.armed = True
            self.loop.call_at(due, self._send)

    def _reply_to(self, body: bytes) -> bytes:
        for model, said in self.panels.items():
            if model in body[:64]:
                return panel_tasks.numbered(said[panel_tasks.asked(body)], self.count)
        replies = self.native if _NATIVE in body[:64] else self.replies
        return replies[min(body.count(b'"assistant"'), self.calls - 1)]

    def _send(self) -> None:
        now = self.loop.time() + 5e-4
        while self.waiting and self.waiting[0][0] <= now:
            _, transport, reply = self.waiting.popleft()
            if not transport.is_closing():
                transport.write(reply)
        self.armed = bool(self.waiting)
        if self.waiting:
            self.loop.call_at(self.waiting[0][0], self._send)


class Connection(asyncio.Protocol):
    """One kept-alive connection; reads the head for the length of the body and nothing else."""

    def __init__(self, replies: Replies) -> None:
        self._replies, self._data, self._need = replies, bytearray(), 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember whom to write to."""
        self._transport = cast(asyncio.Transport, transport)  # a TCP server's always are

    def data_received(self, data: bytes) -> None:
        """Answer every whole request."""
        self._data += data
        while len(self._data) >= self._need and (end := self._data.find(_END)) >= 0:
            head = bytes(self._data[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self._need = end + len(_END) + length
            if len(self._data) < self._need:
                return
            body = bytes(self._data[end : self._need])
            stats = self._data.startswith(_STATS)
            del self._data[: self._need]
            self._need = 0
            if stats:
                figures = {"cpu": cpu_seconds(), "calls": self._replies.count, "first": self._replies.first}
                self._replies.first = None
                self._transport.write(_http(json.dumps(figures).encode()))
            else:
                self._replies.ask(self._transport, body)


async def _serve(latency: float, calls: int) -> None:
    loop = asyncio.get_running_loop()
    replies = Replies(latency, calls)
    listening = await loop.create_server(lambda: Connection(replies), "127.0.0.1", 0, backlog=4096)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Serve, on uvloop where it is there."""
    run = importlib.import_module("uvloop").run if find_spec("uvloop") else asyncio.run
    run(_serve(float(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
