"""What is wrong with a config: the key, what was found, and the nearest names that would be right."""

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from components.core.redaction import redact
from components.text.words import meant

_SHOWN = 12
_LONGEST = 200  # characters of a path


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and the dotted key it is wrong at; ``place`` is its address where it is known."""

    key: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        text = self.text if not self.key or self.text.startswith(self.key) else f"{self.key}: {self.text}"
        return f"{self.place}: {text}" if self.place else text


class ConfigErrors(ConfigError):
    """Everything that was found wrong with a config."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(dict.fromkeys(findings))
        super().__init__("\n".join(map(str, self.findings)))


def of_argument(where: str, text: str, given: Collection[object]) -> Finding:
    """What a part says of itself: of one of its arguments where it begins with that one's name and a colon."""
    name, colon, rest = text.partition(": ")
    return Finding(f"{where}.{name}" if where else name, rest) if colon and name in given else Finding(where, text)


def nearest(name: str, known: Iterable[object]) -> str:
    """The end of a message: what was probably meant, and what there is."""
    names = sorted({str(k) for k in known})
    if not names:
        return "there are none"
    have = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{meant(name, names)}valid: {have}"


def shown(value: object) -> str:
    """A value found in a config, cut short and without secrets."""
    text = redact(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."


def unreachable(error: OSError) -> ConfigError:
    """A file or folder that cannot be had, by its name, where nothing of a run is there yet."""
    name = str(error.filename or "a file")
    return ConfigError(f"{name[:_LONGEST]} cannot be read or written: {error.strerror or error}")


def complain(error: ConfigError, whose: str = "") -> None:
    """Print every finding on a line of its own, on standard error."""
    findings = [str(finding) for finding in error.findings] if isinstance(error, ConfigErrors) else [str(error)]
    for text in findings[:_SHOWN]:
        print(f"config error: {whose}{redact(text)}", file=sys.stderr)  # noqa: T201
    if len(findings) > _SHOWN:
        print(f"config error: and {len(findings) - _SHOWN} more", file=sys.stderr)  # noqa: T201


@contextmanager
def noting(findings: list[Finding], key: str = "") -> Iterator[None]:
    """Collect the config errors of a block."""
    try:
        yield
    except ConfigErrors as error:
        findings += error.findings
    except ConfigError as error:
        findings.append(Finding(key, str(error)))


def near(path: Path) -> str:
    """A path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
