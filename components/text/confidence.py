"""Read a confidence that a model states of its answer: from 0 to 100 %, on a line of its own or behind a bar.

A confidence that cannot be read counts as not stated, never as a number. Without a sign, 1 and what is between 0 and 1
could be a share as well as a percentage, and is not read either.
"""

import re

_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)\s*(%|percent|per cent|/\s*100)?\.?", re.IGNORECASE)
_LINE = re.compile(r"^[ \t*_#>]*confidence[*_]*[ \t]*:[ \t*_]*(.*?)[ \t*_]*$", re.IGNORECASE | re.MULTILINE)
_BAR = re.compile(r"\s*\|\s*confidence\s*:\s*([^|]*)\Z", re.IGNORECASE)


def read_percentage(stated: str | None) -> float | None:
    """A share, 0 to 1, from a stated percentage; None where it cannot be read."""
    found = _NUMBER.fullmatch((stated or "").strip().strip("<>\"'"))
    if found is None:
        return None
    value = float(found[1])
    return None if value > 100 or (0 < value <= 1 and found[2] is None) else value / 100


def split_line(text: str) -> tuple[str, str | None]:
    """A text without its lines ``Confidence: ...``, and what the last of them states; None where there is none."""
    found = _LINE.findall(text)
    return (_LINE.sub("", text).strip(), found[-1]) if found else (text, None)


def split_bar(text: str) -> tuple[str, str | None]:
    """A text without ``| confidence: ...`` at its end, and what that states; None where it has none."""
    found = _BAR.search(text)
    return (text[: found.start()], found[1]) if found else (text, None)
