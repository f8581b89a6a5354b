"""A worker as the host sees it: pipes whose other ends hostile code may hold."""

import contextlib
import os
import select
import signal
from collections.abc import Sequence

from components.sandbox.api import FrameError, Limits, Ran, Reader, cap, pack, read_ran

_CHUNK = 1 << 16
_MOST = 1 << 20  # bytes that a pipe may hold


class WorkerPipes:
    """The host's ends: cells go in, one result per cell comes out, and what the cell prints."""

    def __init__(self, descriptors: Sequence[int], limits: Limits) -> None:
        """Take descriptors: for cells, results, output, the worker's process, and its pledge to stay."""
        self._cells, self._results, self._output, self._process, self._pledge = descriptors
        self._limits = limits
        self._reader = Reader(cap(limits.answer_bytes))
        self._printed = bytearray()
        self._sending = b""
        self._token = ""
        self.stays = True  # it survives this cell; it reported that before the cell began
        self.finished = False  # it closed its pipe of results
        self._waiting = select.epoll()
        for descriptor in (*descriptors[:3], self._pledge):
            os.set_blocking(descriptor, False)
        self._waiting.register(self._results, select.EPOLLIN)

    def fileno(self) -> int:
        """A descriptor that is readable when there is something to do."""
        return self._waiting.fileno()

    def begin(self, cell: str, token: str) -> None:
        """Start a cell, whose result must hold the token. Raises FrameError when something came before it."""
        self._printed.clear()
        for _ in range(_MOST // _CHUNK + 1):  # what was printed after the result of the cell before
            if not _read(self._output):
                break
        else:
            raise FrameError("its output does not end")
        self._receive()
        if self._reader.rest:
            raise FrameError("it came without a cell")
        self._token = token
        self._waiting.register(self._output, select.EPOLLIN)
        self._sending = pack({"cell": cell, "token": token})
        self._send()
        if self._sending:
            self._waiting.register(self._cells, select.EPOLLOUT)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGCONT)

    def _send(self) -> None:
        try:
            self._sending = self._sending[os.write(self._cells, self._sending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._sending = b""

    def work(self) -> bool:
        """Send and collect what can be; False once there is as much output as may be, and the rest is not read."""
        if self._sending:
            self._send()
            if not self._sending:
                self._waiting.unregister(self._cells)
        return self._collect()

    def result(self) -> Ran | None:
        """The result, when it is there: at once from a worker that stays, else when it closed its pipe. Raises
        FrameError for what is not a result of this cell, and for more than one."""
        self._receive()
        if self._reader.rest:
            self.stays = _read(self._pledge) is None
        if not (self.stays or self.finished):
            return None
        frame = self._reader.take()
        if self._reader.rest and (frame is not None or self.finished):
            raise FrameError("more than one reply, or a part of one")
        return None if frame is None else read_ran(frame, self._token, self._limits.answer_bytes)

    def _receive(self) -> None:
        while data := _read(self._results):
            self._reader.feed(data)
        self.finished = data is not None

    def _collect(self) -> bool:
        data: bytes | None = b""
        while (left := self._limits.output_bytes - len(self._printed)) > 0 and (data := _read(self._output)):
            self._printed += data[:left]
        if data is not None:
            self._ignore_output()
        return left > 0

    def _ignore_output(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._waiting.unregister(self._output)

    def end(self) -> str:
        """What the cell printed, now that it is over."""
        self._collect()
        self._ignore_output()
        return self._printed.decode("utf-8", "ignore")

    def close(self) -> None:
        """Close them."""
        self._waiting.close()
        for descriptor in (self._cells, self._results, self._output, self._process, self._pledge):
            os.close(descriptor)


def _read(descriptor: int) -> bytes | None:
    """What is there; empty at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
