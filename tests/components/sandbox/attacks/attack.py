"""What an attack is, and what must hold after it."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

DENIED = (
    "PermissionError|FileNotFoundError|ProcessLookupError|Read-only file system|Function not implemented|AssertionError"
)
BARRED = "PermissionError|Function not implemented"  # a system call that does not exist for cells
HONEST = "['{\"beds\": \"12 beds\"}', '12', 3, [], True, 0, [(300,)], False, False, 5]"
LONGEST = 1 << 16  # bytes of output and of an answer
THOROUGH = bool(os.environ.get("WARDROUND_TEST_SLOW"))
SOON = 10  # seconds, far beyond the limit of hasty cells: another test may load the machine


@dataclass(frozen=True)
class Attack:
    """Cells of one episode, and the expected result of the last one.

    ``status``: one or several, with ``|``. ``says``: pattern of the error (type and message), or of the answer.
    ``bare``: who succeeds with it in plain Python: anyone, root, or it is not tried there.
    """

    cells: str | tuple[str, ...]
    status: str = "error"
    says: str = DENIED
    bare: Literal["anyone", "root", ""] = "anyone"
    hasty: bool = False
    keep: bool = False
    alone: bool = False  # not in one cell with other attacks, each of which must raise
    open_in: Mapping[str, str] = field(default_factory=dict)  # backends that do not hold it, and why

    @property
    def request(self) -> dict[str, Any]:
        """As the driver reads it."""
        cells = [self.cells] if isinstance(self.cells, str) else list(self.cells)
        together = self.status in ("error", "error|killed") and not (self.alone or self.hasty or self.keep)
        return {"cells": cells, "hasty": self.hasty, "keep": self.keep, "together": together}


@dataclass(frozen=True)
class Table:
    """Attacks of one kind. ``brief``: the rows whose outcome depends on the tier or the user; None for all of them.

    ``tried``: whether plain Python must suffer its rows, each as far as it says.
    """

    rows: Mapping[str, Attack]
    brief: Collection[str] | None = ()
    tried: bool = False

    def chosen(self, brief: bool) -> dict[str, Attack]:
        """All rows, or the brief ones."""
        return {name: row for name, row in self.rows.items() if not brief or self.brief is None or name in self.brief}


def malformed(ran: Mapping[str, Any], attack: Attack) -> list[str]:
    """What no result may be, whatever a cell did."""
    texts = {name: ran[name] for name in ("answer", "output")}
    texts |= {name: text for name, text in (ran["error"] or {}).items() if isinstance(text, str)}
    wrong = [f"{name} is not a text" for name, text in texts.items() if not _whole(text)]
    wrong += [
        f"{name} has {len(text)} letters"
        for name, text in texts.items()
        if len(text.encode(errors="replace")) > LONGEST
    ]
    if ran["status"] not in ("ok", "no_answer") and (
        not ran["error"] or not (ran["error"]["type"] or ran["error"]["message"])
    ):
        wrong.append("an error without a word")
    if attack.hasty and ran["seconds"] > SOON:
        wrong.append(f"took {ran['seconds']} s")
    return wrong


def _whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def faults(attack: Attack, outcome: Mapping[str, Any], secret: str) -> list[str]:
    """What does not hold, one line each."""
    last = outcome["rans"][-1]
    error = last["error"] or {"type": "", "message": ""}
    said = last["answer"] if last["status"] == "ok" else f"{error['type']}: {error['message']}"
    wrong = []
    if last["status"] not in attack.status.split("|"):
        wrong.append(f"status {last['status']}, not {attack.status}: {said[:300]} {last['output'][:300]}")
    elif last["status"] in ("ok", "error") and not re.search(attack.says, said):
        wrong.append(f"says {said[:300]!r}, not {attack.says!r}")
    for ran in filter(None, [*outcome["rans"], outcome["honest"]]):
        wrong += malformed(ran, attack)
    if secret in str(outcome):
        wrong.append("the secret came out")
    for which in ("honest", "other"):
        own = "['leak']" if attack.keep and which == "honest" else "[]"  # files may be kept, and their names too
        if outcome[which] and outcome[which]["answer"].replace(own, "[]", 1) != HONEST:
            wrong.append(f"an honest cell ({which}) gives {outcome[which]}")
    return wrong
