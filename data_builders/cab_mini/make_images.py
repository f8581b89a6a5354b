"""Draw the schematic pictures of cab_mini and ask about them: vqarad, slake, omnimedqa, medvqa_halt.

Everything asked can be read off the construction table in ``images.yaml``. The pictures are line art of
no patient; sides are those of the picture, not of a body.
"""

import io
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from data_builders.cab_mini.cab_records import SIZES, Built, Record, choice, record, shuffled, table_of

Mask = npt.NDArray[np.bool_]
Grey = npt.NDArray[np.uint8]

WIDTH = 96
LEVELS = {"upper": 34, "middle": 48, "lower": 62}
RADIUS = {"small": 4, "large": 7}
COLUMNS = {"chest": (28, 68), "head": (33, 63), "abdomen": (28, 68), "forearm": (35, 61)}
SHADE = {"chest": 210, "head": 190, "abdomen": 240, "forearm": 40}
Y, X = np.mgrid[0:WIDTH, 0:WIDTH]


@dataclass(frozen=True)
class Study:
    """One picture: its number, the row of the construction table, and the words for its organ."""

    number: int
    row: Mapping[str, Any]
    words: Mapping[str, str]

    @property
    def path(self) -> str:
        """Where the picture lies, relative to the folder cab_mini."""
        return f"images/study_{self.number:02d}.png"

    def answer(self, kind: str) -> str | None:
        """What the construction says to this kind of question; None where it cannot be asked."""
        row = self.row
        if kind == "presence":
            return "yes" if row["count"] else "no"
        if kind == "place":
            return f"{row['level']} {row['side']}" if "level" in row else None
        if kind == "tone":
            return self.words["tone"] if row["count"] else None
        return str(row[kind]) if row.get(kind) else None

    def ask(self, wording: str, words: Mapping[str, str] | None = None) -> str:
        """The question about this study, in the words of its own organ or of another one."""
        return wording.format(number=self.number, **(words or self.words))


def studies(table: Mapping[str, Any]) -> dict[str, list[Study]]:
    """The pictures of both phases, numbered through."""
    number = itertools.count(1)
    return {
        phase: [Study(next(number), row, table["views"][row["organ"]]) for row in rows]
        for phase, rows in table["studies"].items()
    }


def ellipse(x: int, y: int, rx: int, ry: int) -> Mask:
    """The pixels inside an ellipse."""
    return np.asarray(((X - x) / rx) ** 2 + ((Y - y) / ry) ** 2 <= 1)


def box(left: int, right: int, top: int = 0, bottom: int = WIDTH) -> Mask:
    """The pixels inside a rectangle, right and bottom excluded."""
    return np.asarray((left <= X) & (right > X) & (top <= Y) & (bottom > Y))


ORGANS: dict[str, list[tuple[Mask, int]]] = {
    "chest": [
        (ellipse(48, 52, 45, 47), 110),
        (ellipse(28, 48, 15, 31), 45),
        (ellipse(68, 48, 15, 31), 45),
        (box(45, 51), 150),
        (ellipse(50, 66, 8, 12), 150),
    ],
    "head": [(ellipse(48, 48, 37, 44), 225), (ellipse(48, 48, 32, 39), 90), (box(48, 49, 12, 84), 120)],
    "abdomen": [
        (ellipse(48, 50, 46, 44), 70),
        (ellipse(28, 48, 13, 24), 125),
        (ellipse(68, 48, 13, 24), 125),
        (box(44, 52) & np.asarray(Y % 14 > 2), 170),
    ],
    "forearm": [(box(16, 80), 65), (box(26, 44, 4, 92), 190), (box(52, 70, 4, 92), 190)],
}


def mark(shape: str, x: int, y: int, radius: int) -> Mask:
    """The pixels of one mark with its centre at x, y."""
    across, down = abs(X - x), Y - y
    distance = np.sqrt(across**2 + down**2)
    forms = {
        "round": distance <= radius,
        "square": np.maximum(across, abs(down)) <= radius,
        "triangle": (across <= (down + radius) / 2) & (down <= radius),
        "ring": (distance <= radius + 0.5) & (distance > radius - 2),
    }
    return np.asarray(forms[shape])


def levels(row: Mapping[str, Any]) -> list[int]:
    """The heights of the marks."""
    if row["count"] == 1:
        return [LEVELS[row["level"]]]
    names = {0: (), 2: ("upper", "lower"), 3: ("upper", "middle", "lower")}[row["count"]]
    return [LEVELS[name] for name in names]


def draw(study: Study) -> Grey:
    """The picture: (96, 96) grey levels, organ first, then marks, then a grain of one level."""
    row, organ = study.row, study.row["organ"]
    canvas = np.full((WIDTH, WIDTH), 12, dtype=np.uint8)
    for mask, shade in ORGANS[organ]:
        canvas[mask] = shade
    for y in levels(row):
        x = COLUMNS[organ][row["side"] == "right"]
        canvas[mark(row["shape"], x, y, RADIUS[row["size"]])] = SHADE[organ]
    grain = np.random.RandomState(study.number).randint(0, 2, canvas.shape)
    return (canvas + grain).astype(np.uint8)


def png(picture: Grey) -> bytes:
    """The picture as PNG; its bytes may differ with the compressor's version, its pixels do not."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


def askable(pool: list[Study], kinds: list[str], size: int) -> Iterator[tuple[Study, str, str]]:
    """Study, kind of question and answer: kinds by turns, and for each the next study that it fits."""
    fitting = {kind: [study for study in pool if study.answer(kind)] for kind in kinds}
    for turn, kind in itertools.islice(enumerate(itertools.cycle(kinds)), size):
        around, start = fitting[kind], kinds.index(kind) * 5 + turn // len(kinds)
        study = around[start % len(around)]
        yield study, kind, str(study.answer(kind))


def wrong(values: list[str], gold: str, seed: str, n: int = 3) -> list[str]:
    """``n`` values that are not the answer."""
    return [value for value in shuffled(values, seed) if value != gold][:n]


def plain(task: str, table: Mapping[str, Any], pool: list[Study], size: int) -> list[Record]:
    """Questions that the picture answers: short answers, or four options for omnimedqa."""
    wordings, made = table["questions"][task], []
    for study, kind, gold in askable(pool, list(wordings), size):
        question = study.ask(wordings[kind])
        if task == "omnimedqa":
            options = shuffled([gold, *wrong(table["values"][kind], gold, question)], question + gold)
            made.append(choice(question, options, gold, {"kind": kind}, images=study.path))
        else:
            lines = [question, table["short_answer"]]
            made.append(record(lines, {"answer": gold, "kind": kind}, images=study.path))
    return made


def none_of_these(table: Mapping[str, Any], pool: list[Study], size: int) -> list[Record]:
    """Questions whose right option is left out."""
    halt, made = table["halt"], []
    for study, kind, gold in askable(pool, list(halt["none"]), size):
        question = study.ask(halt["none"][kind])
        options = [*wrong(table["values"][kind], gold, question), halt["nothing"], halt["unknown"]]
        made.append(choice(question, options, halt["nothing"], {"kind": "none"}, images=study.path))
    return made


def swapped(table: Mapping[str, Any], pool: list[Study], size: int) -> list[Record]:
    """Questions about another organ than the one in the picture."""
    halt, made, others = table["halt"], [], list(table["views"])
    for turn, kind in itertools.islice(enumerate(itertools.cycle(halt["swap"])), size):
        study = pool[(3 * turn + 1) % len(pool)]
        other = others[(others.index(study.row["organ"]) + 1 + turn % 3) % len(others)]
        question = study.ask(halt["swap"][kind], table["views"][other])
        options = shuffled([*shuffled(table["values"][kind], question)[:4], halt["unknown"]], question + other)
        made.append(choice(question, options, halt["unknown"], {"kind": "swap"}, images=study.path))
    return made


def nonsense(table: Mapping[str, Any], pool: list[Study], asked: list[list[Any]]) -> list[Record]:
    """Questions that no picture could answer."""
    halt, made = table["halt"], []
    for turn, (wording, values) in enumerate(asked):
        study = pool[(2 * turn) % len(pool)]
        question = study.ask(wording)
        options = shuffled([*values, halt["unknown"]], question)
        made.append(choice(question, options, halt["unknown"], {"kind": "fake"}, images=study.path))
    return made


def build() -> Built:
    """All pictures, and the records of the four tasks."""
    table, made = table_of("images.yaml"), Built()
    for phase, pool in studies(table).items():
        size = SIZES[phase]
        made.files.update({study.path: png(draw(study)) for study in pool})
        for task in table["questions"]:
            made.tasks.setdefault(task, {})[phase] = plain(task, table, pool, size)
        asked = table["halt"]["fake"][:6] if phase == "test" else table["halt"]["fake"][6:]
        records = nonsense(table, pool, asked)
        swaps = (size - len(records)) // 2
        records += swapped(table, pool, swaps)
        records += none_of_these(table, pool, size - len(records))
        made.tasks.setdefault("medvqa_halt", {})[phase] = records
    return made
