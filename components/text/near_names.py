"""What somebody probably meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """``did you mean a or b? `` before a list of what there is, in whatever case; nothing where no name is near."""
    spelled = {one.casefold(): one for one in known}
    close = [spelled[one] for one in get_close_matches(name.casefold(), list(spelled), 3, 0.5)]
    return f"did you mean {' or '.join(close)}? " if close else ""
