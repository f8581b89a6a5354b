"""Sheets for raters: a table per rater (CSV, and a form that saves one), and the key, which no rater gets."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.rubrics.rubric import Rubric
from runner.rating.drawing import Item
from runner.rating.form import form
from runner.rating.rubrics import from_values

KEY, SHEETS, GUIDE = "key.json", "sheets", "rubric.md"
ITEM, NOTE = "item", "note"
_FORMULA = "=+-@|%\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"


@dataclass(frozen=True)
class Key:
    """What stands behind the codes: ``items`` code -> run (its id), folder, sample_id, epoch, cluster."""

    rubric: Rubric
    seed: int
    items: Mapping[str, Mapping[str, Any]]

    @cached_property
    def set(self) -> str:
        """What the codes of one draw begin with."""
        return next(iter(self.items)).partition("-")[0]

    def write(self, path: Path) -> None:
        """Keep it."""
        told = {"schema": 1, "seed": self.seed, "rubric": self.rubric.as_dict(), "items": self.items}
        path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Key":
        """Raises ConfigError for a file that is no key."""
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            rubric, seed, items = told["rubric"], int(told["seed"]), dict(told["items"])
            if not items or not all({"run", "sample_id", "epoch", "cluster"} <= set(one) for one in items.values()):
                raise ValueError("its items do not say what they are")
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{path} is no key of rating sheets ({error!r})") from None
        return cls(from_values(rubric, str(path)), seed, items)


def write_sheets(items: Sequence[Item], rubric: Rubric, folder: Path, raters: int, seed: int) -> list[Path]:
    """Write the key, and for raters their sheets and what the rubric says. Returns what was written.

    Raises ConfigError where sheets are already: somebody may have filled them.
    """
    if (folder / SHEETS).exists() or (folder / KEY).exists():
        raise ConfigError(f"{folder} has sheets already, which may be filled; give --out another folder")
    coded = _coded(items, rubric, seed)
    (folder / SHEETS).mkdir(parents=True)
    key = Key(rubric, seed, {code: _origin(item) for code, item in coded.items()})
    key.write(folder / KEY)
    written = [folder / SHEETS / GUIDE]
    written[0].write_text(guide(rubric), encoding="utf-8")
    for number in range(1, raters + 1):
        codes = Random(f"{seed}/{key.set}/rater {number}").sample(list(coded), len(coded))
        own = {code: coded[code] for code in codes}
        table, page = (folder / SHEETS / f"rater_{number}.{kind}" for kind in ("csv", "html"))
        write_table(table, _head(rubric, own), [_row(code, item, rubric) for code, item in own.items()])
        page.write_text(form(rubric, own, table.name), encoding="utf-8")
        written += [table, page]
    return [*written, folder / KEY]


def _coded(items: Sequence[Item], rubric: Rubric, seed: int) -> dict[str, Item]:
    """Code -> item; a code tells which draw it is of, and nothing of the item."""
    told = json.dumps(
        [rubric.digest, seed, [[str(one.run.notes.get("id")), one.sample_id, one.epoch] for one in items]]
    )
    name = sha256(told.encode()).hexdigest()[:6]
    return {f"{name}-{number:03d}": item for number, item in enumerate(items, 1)}


def _origin(item: Item) -> dict[str, Any]:
    return {
        "run": item.run.notes.get("id"), "folder": item.run.folder.name, "sample_id": item.sample_id,
        "epoch": item.epoch, "cluster": item.cluster,
    }  # fmt: skip


def _head(rubric: Rubric, items: Mapping[str, Item]) -> list[str]:
    """The columns; those to fill say in brackets what is allowed."""
    fields = [f"{name} [{field.how}: {' | '.join(field.categories)}]" for name, field in rubric.fields.items()]
    return [ITEM, *next(iter(items.values())).texts, *fields, NOTE]


def _row(code: str, item: Item, rubric: Rubric) -> list[str]:
    return [code, *item.texts.values(), *("" for _ in rubric.fields), ""]


def write_table(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A CSV that spreadsheets open as it is, and of which they run nothing."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([[harmless(cell) for cell in row] for row in (head, *rows)])


def harmless(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what could begin one, and no NUL."""
    text = text.replace("\0", "")
    return f"'{text}" if text.lstrip()[:1] in tuple(_FORMULA) or text[:1] in ("\t", "\r", "\n") else text


def guide(rubric: Rubric) -> str:
    """What raters are told, as Markdown; not where the rubric is from, which can name what is rated."""
    lines = [f"# {rubric.question}", "", *([rubric.note, ""] if rubric.note else [])]
    for name, field in rubric.fields.items():
        lines += [f"## {name}", "", f"{field.question} Write {field.how} these:", ""]
        lines += [f"- `{category}`: {sentence}" for category, sentence in field.categories.items()]
        lines.append("")
    lines += ["Every item needs a value for each; `note` is yours. Rate alone, and in the order of your sheet."]
    return "\n".join(lines) + "\n"
