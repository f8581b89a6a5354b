"""How many attacks get through in little time: side by side, and in one cell where each of them must raise."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from components.sandbox import SandboxError, Session

HONEST = """
import collections, json, os, random
answer = [json.dumps({"beds": look_up("A")}), str(12), len("abc"), sorted(os.listdir()), os.path.isdir(".")]
answer += [sum(1 for name in ("leak", "json_leak") if name in globals()), SQLInterpreter("SELECT count(*) FROM patients")]
answer += [hasattr(collections, "leak"), hasattr(random, "leak"), Calculate("2+3")]
"""
EACH = """
from json import dumps
from os import chdir, getcwd, mkdir
outcomes, here = [], getcwd()
for number, cell in enumerate({cells!r}):
    names = dict(globals())
    mkdir(f"{{here}}/{{number}}"); chdir(f"{{here}}/{{number}}")
    try:
        exec(cell, names)
        outcomes.append(("", "", str(names.get("answer"))[:300]))
    except BaseException as error:
        outcomes.append((type(error).__name__, str(error)[:300], ""))
answer = dumps(outcomes)
"""
TOGETHER = 40
PATIENCE = 5  # times that an honest cell is given again when a busy machine lets it run into the hasty limit


class Lane:
    """Takes attacks from a queue until it is empty: one episode for all of a kind, others' episode next to it."""

    def __init__(
        self,
        start: Callable[[bool, bool], Session],
        attacks: list[Mapping[str, Any]],
        outcomes: list[dict[str, Any]],
        other: Session,
        thorough: bool,
    ) -> None:
        """``start`` opens an episode, hasty or not, that keeps variables or not; ``outcomes`` is filled by number."""
        self.start, self.attacks, self.outcomes = start, attacks, outcomes
        self.other, self.thorough = other, thorough
        self.opened: dict[tuple[bool, bool], Session] = {}

    async def serve(self, queue: list[list[int]]) -> None:
        """Run until the queue is empty."""
        while queue:
            numbers = queue.pop()
            attack = self.attacks[numbers[0]]
            kind = attack["hasty"], attack["keep"]
            if kind not in self.opened:
                self.opened[kind] = self.start(*kind)
            session = self.opened[kind]
            cells = [self.attacks[number]["cells"] for number in numbers]
            rans = (
                [[await _ran(session, cell) for cell in cells[0]]] if len(numbers) == 1 else await _each(session, cells)
            )
            if not rans:  # one of them ended the cell
                queue += [[number] for number in numbers]
                continue
            for number, ran in zip(numbers, rans, strict=True):
                self.outcomes[number] = {"rans": ran, "honest": None, "other": None}
            sure = self.thorough or len(numbers) > 1 or kind[1] or not (queue or kind[0])
            if sure or numbers[0] % 4 == 0:
                self.outcomes[numbers[0]]["honest"] = await _honest(session)
            if sure or numbers[0] % 8 == 0:
                self.outcomes[numbers[0]]["other"] = await _honest(self.other)
            if kind[1]:
                self.opened.pop(kind).close()
        for session in self.opened.values():
            session.close()


def packed(attacks: list[Mapping[str, Any]], hasty: bool) -> list[list[int]]:
    """Which attacks share their cells, last first: many of those that can only raise, the others alone."""
    chosen = [number for number, attack in enumerate(attacks) if attack["hasty"] == hasty]
    queue = [[number] for number in chosen if not attacks[number]["together"]][::-1]
    for count in sorted({len(attack["cells"]) for attack in attacks}):
        fit = [number for number in chosen if attacks[number]["together"] and len(attacks[number]["cells"]) == count]
        queue += [fit[start : start + TOGETHER] for start in range(0, len(fit), TOGETHER)]
    return queue


async def _honest(session: Session) -> dict[str, Any]:
    """An honest cell."""
    for _ in range(PATIENCE):
        ran = await _ran(session, HONEST)
        if ran["status"] != "timeout":
            break
    return ran


async def _ran(session: Session, cell: str) -> dict[str, Any]:
    """One cell. That the sandbox gave up is not a status of a cell, so every expectation fails."""
    try:
        return asdict(await session.run(cell))
    except SandboxError as error:
        outcomes = {"type": "SandboxError", "message": str(error)}
        return {"status": "given up", "answer": "", "output": "", "error": outcomes, "seconds": 0.0}


async def _each(session: Session, attacks: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Several attacks in the same cells, each as if it were alone; nothing when a cell did not get to its end."""
    for cells in zip(*attacks, strict=True):
        ran = await _ran(session, EACH.format(cells=cells))
        if ran["status"] != "ok":
            return []
    return [
        [{
            "status": "error" if kind else "ok", "answer": answer, "output": "", "seconds": ran["seconds"],
            "error": {"type": kind, "message": message} if kind else None,
        }]
        for kind, message, answer in json.loads(ran["answer"])
    ]  # fmt: skip
