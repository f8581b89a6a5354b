"""One line of what ``runner.doctor`` tells."""

from dataclasses import dataclass

OK, LACKS, BAD = "ok", "-", "BAD"


@dataclass(frozen=True)
class Line:
    """One thing that was looked at; ``hint`` says what to do."""

    mark: str
    name: str
    found: str
    hint: str = ""


def that(holds: bool, name: str, found: str, hint: str = "", otherwise: str = LACKS) -> Line:
    """A line whose hint is for the case that something lacks."""
    return Line(OK, name, found) if holds else Line(otherwise, name, found, hint)


def size(n: float) -> str:
    """Bytes in words."""
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
