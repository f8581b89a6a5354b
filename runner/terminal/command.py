"""What commands have in common: their words as Hydra reads them, refusals in one line, readers who leave early."""

import argparse
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from components.core.errors import ConfigError
from components.text.words import meant, written_out

WITH_VALUE = frozenset(
    ("--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd",
     "--experimental-rerun", "--info", "-i")
)  # fmt: skip
_CHOICE = re.compile(r"(\w+)=(\w+)")
_SETTING = re.compile(r"([+~]*)(\w+)(\..*)", re.DOTALL)


def flags_first(words: Sequence[str]) -> list[str]:
    """The same words with the flags before the overrides, so that ``limit=9 -m seed=0,1`` is allowed."""
    flags = [n for n, word in enumerate(words) if word.startswith("-") or (n and words[n - 1] in WITH_VALUE)]
    return [*(words[n] for n in flags), *(word for n, word in enumerate(words) if n not in flags)]


def by_group(words: Sequence[str], groups: Collection[str]) -> list[str]:
    """Settings under the name of a choice, put under its group: with ``condition=withhold``, ``withhold.tools=[x]`` is
    ``condition.tools=[x]``. A choice that has the name of one of ``groups`` is left alone."""
    nodes: dict[str, list[str]] = {}
    for choice in filter(None, map(_CHOICE.fullmatch, words)):
        group, name = choice.groups()
        if group in groups and group != "experiment" and name not in groups:
            nodes.setdefault(name, []).append(f"scorer.{name}" if group == "scorer" else group)
    put = []
    for word in words:
        setting = _SETTING.fullmatch(word)
        found = nodes.get(setting[2], ()) if setting else ()
        put.append(f"{setting[1]}{found[0]}{setting[3]}" if setting and len(found) == 1 else word)
    return put


def open_missing_streams() -> None:
    """Open the null device for each standard stream that is closed, as under some schedulers, before another file or
    socket gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Run a command that prints. Returns its exit code, 2 for what it refuses, or cannot read or write."""
    open_missing_streams()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which ended the process while it imported
    try:
        code = command() or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return reader_left()
    except KeyboardInterrupt:
        print_note("interrupted")
        return 130
    except ConfigError as error:
        print_note(f"error: {error}")
    except OSError as error:
        print_note(f"error: {describe_os_error(error)}")
    return 2


def describe_os_error(error: OSError) -> str:
    """The file, where there is one, and what happened, without the number of the error."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)


def reader_left() -> int:
    """Discard the rest of the output: its reader, such as ``head``, has closed the pipe. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def print_note(text: str) -> None:
    """Print something that is not part of the result, its control characters escaped."""
    print(written_out(text), file=sys.stderr)  # noqa: T201


def print_lines(*lines: str) -> None:
    """Print lines of the result, their control characters escaped."""
    for line in lines:
        print(written_out(line))  # noqa: T201


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one line, abbreviated flags too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise ConfigError, with the flag or choice that was meant, or how the command is written."""
        words = [word for action in self._actions for word in (*action.option_strings, *(action.choices or ()))]
        if unknown := re.search(r"unrecognized arguments: .*?(--[\w-]+)|invalid choice: '(.*?)'", message):
            near = meant(unknown[1] or unknown[2], (word for word in words if word not in ("-h", "--help")))
            message = f"{message}; {near}".rstrip("; ")
        if "required" in message or "expected" in message:
            message += f"; {' '.join(self.format_usage().split())}"
        raise ConfigError(f"{message}; {self.prog} --help lists all of them")


@contextmanager
def interrupts() -> Iterator[None]:
    """Around work: an error over a KeyboardInterrupt becomes that interrupt again; a second Ctrl-C may raise one."""
    try:
        yield
    except BaseException as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a KeyboardInterrupt, or was raised while one passed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


@contextmanager
def stopping(calls: Callable[[], str] = lambda: "calls in flight are") -> Iterator[None]:
    """Around work that closes what is open before an interrupt passes: the first is answered at once, in a line with
    the ``calls`` that it cuts."""
    main = threading.current_thread() is threading.main_thread()
    following = signal.getsignal(signal.SIGINT) if main else None

    def answer(number: int, frame: FrameType | None) -> None:
        assert callable(following), "else it does not come here"
        signal.signal(number, following)
        with suppress(RuntimeError):  # it came while something else was being printed
            print_note(f"stopping; finished calls are kept, {calls()} cut; Ctrl-C again stops at once")
        following(number, frame)

    if callable(following):
        signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        if callable(following) and signal.getsignal(signal.SIGINT) is answer:
            signal.signal(signal.SIGINT, following)


@contextmanager
def signals() -> Iterator[None]:
    """SIGINT interrupts even where a shell had it ignored; SIGTERM does the same."""
    old = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
