"""What ``runner.doctor`` checks; each check is a function that returns lines."""

from dataclasses import dataclass

OK, MISSING, BAD = "ok", "-", "BAD"


@dataclass(frozen=True)
class Line:
    """The result for one thing; ``hint`` says what to do."""

    mark: str
    name: str
    found: str
    hint: str = ""


def line(ok: object, name: str, found: str, hint: str = "", otherwise: str = MISSING) -> Line:
    """A line; its hint is only for the case that something is missing."""
    return Line(OK, name, found) if ok else Line(otherwise, name, found, hint)


def size(n: float) -> str:
    """Bytes with a unit."""
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
