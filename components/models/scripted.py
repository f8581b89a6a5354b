"""A model that replies from a script: for tests and demonstrations, in process, deterministic."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Literal

from components.core.errors import ModelError
from components.core.messages import Completion, Message, Request, Sampling, Usage
from components.core.traits import ModelTraits

Line = str | Message | ModelError


class Scripted:
    """Replies from a script, in the order of the calls, or from a function of the request, which is needed where
    several calls are in flight at once. A text becomes an assistant message, a ModelError is raised. ``requests`` are
    those received, in order. Tokens are counted as words. Raises ModelError ``script_exhausted``."""

    kind: Literal["simulated", "live"] = "simulated"
    in_process = True
    permits: Sequence[str] = ()
    deterministic = False

    def __init__(
        self,
        replies: Sequence[Line] | Callable[[Request], Line],
        name: str = "scripted",
        sampling: Sampling | None = None,
        max_connections: int = 100,
    ) -> None:
        self.name, self.max_connections = name, max_connections
        self.sampling = sampling or Sampling()
        self.vision = True
        self.requests: list[Request] = []
        self._replies = replies

    @property
    def traits(self) -> ModelTraits:
        """Whether it takes images."""
        return ModelTraits(vision=self.vision)

    @property
    def identity(self) -> str:
        """Name and a digest of the script; a function is known by its name only."""
        script = self._replies
        text = getattr(script, "__qualname__", "function") if callable(script) else repr(list(script))
        return f"{self.name}:{sha256(text.encode()).hexdigest()[:16]}"

    async def generate(self, request: Request) -> Completion:
        """The next reply."""
        self.requests.append(request)
        n = len(self.requests)
        if callable(self._replies):
            line = self._replies(request)
        elif n > len(self._replies):
            raise ModelError(f"the script has {len(self._replies)} replies and no more", "script_exhausted")
        else:
            line = self._replies[n - 1]
        if isinstance(line, ModelError):
            raise line
        message = Message("assistant", line) if isinstance(line, str) else line
        n_words = sum(len(m.text.split()) for m in request.messages)
        finish = "tool_calls" if message.tool_calls else "stop"
        return Completion(message, Usage(n_words, len(message.text.split()), 0.0), finish)

    async def close(self) -> None:
        """Nothing to close."""
