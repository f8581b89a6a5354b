"""An interrupt stays one, whatever is raised while it passes, and what is open is closed all the same."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack, ContextDecorator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from components.protocols import Model


class Closes(Protocol):
    """What must be closed."""

    def close(self) -> None: ...


class Interrupts(ContextDecorator):
    """Around work: an error over a KeyboardInterrupt becomes that interrupt again.

    A second Ctrl-C breaks off a clean-up, and what was half done there may fail when the next one tries it: numpy
    says so when it is imported twice. Hydra would tell of it as the error of a job, since it is an ``Exception``.
    """

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        while error is not None:
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            error = error.__context__


def closing(models: Mapping[str, Model], *others: Closes | None) -> AsyncExitStack:
    """Closes models and then the others in this order; all of them, also when an interrupt breaks one off."""
    stack = AsyncExitStack()
    for one in reversed(others):
        if one is not None:
            stack.callback(one.close)
    for model in models.values():
        stack.push_async_callback(model.close)
    return stack
