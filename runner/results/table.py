"""The episodes of runs as columns: an array per field, a row per record, in the order of the records."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import orjson

from components.core.compact import compact_json
from components.core.score_names import EXPECTED, RATED
from components.core.types import CONTEXT_LENGTH
from runner.results.arrays import Array, Floats, Rows, np
from runner.storage.schema import Record

Key = tuple[str, int]  # of a record: its sample and epoch
Path = tuple[str | None, ...]
OVERFLOWS = "errors/context_length"
_MEASURED = {
    "cost/usd": "usage/cost_usd", "tokens/input": "usage/input_tokens", "tokens/output": "usage/output_tokens",
    "calls/per_sample": "usage/calls", "time/seconds": "seconds",
}  # fmt: skip
OWN = ("stop/answered", "stop/refused", "stop/limit", "stop/failed", OVERFLOWS, *_MEASURED)  # beyond scores
_TEXTS = ("sample_id", "epoch", "stop", "failure", "inputs", "card")
FORMS = ("scores", "ceilings", "usage")  # columns of the names that a record has numbers for


def cluster_of(record: Mapping[str, Any]) -> str:
    """The patient, or where there is none the sample."""
    return str(record["cluster"] or record["sample_id"])


@dataclass(frozen=True, eq=False)
class Table:
    """``columns``: fields of records by name; numbers as ``scores/<name>``, ``ceilings/`` and ``usage/``, those of a
    purpose as ``usage/calls/<purpose>``, NaN where there is none; under ``scores`` and ``usage`` the names that each
    record has. ``strata``: numbers of ``kinds``, the strata that occur."""

    columns: dict[str, Array]
    kinds: Sequence[Mapping[str, str]]

    @classmethod
    def of(cls, records: Table | Iterable[Record]) -> Table:
        """The table of records; a table is its own. What is alike in many of them is kept once."""
        if isinstance(records, Table):
            return records
        alike, kinds = dict[bytes, Any](), dict[bytes, int]()
        texts, numbers = list[tuple[Any, ...]](), {name: _Numbers() for name in FORMS}
        for one in records:
            own = [one.get(name) for name in _TEXTS]
            own[4:] = (alike.setdefault(compact_json(part), part) for part in own[4:])
            strata = kinds.setdefault(compact_json(one["strata"]), len(kinds))
            texts.append((*own, cluster_of(one), strata, one.get("seconds")))
            numbers["scores"].add(one["scores"])
            numbers["ceilings"].add(one.get("ceilings") or {})
            numbers["usage"].add(_flatten(one.get("usage", {})))
        n, names = len(texts), (*_TEXTS, "cluster", "strata", "seconds")
        columns = {name: np.fromiter((own[k] for own in texts), object, n) for k, name in enumerate(names)}
        columns |= {"strata": columns["strata"].astype(np.intp), "seconds": columns["seconds"].astype(float)}
        for name, of in numbers.items():
            columns |= of.columns(name)
        return cls._ranked(columns, list(map(orjson.loads, kinds)))

    @classmethod
    def _ranked(cls, columns: dict[str, Array], kinds: Sequence[Mapping[str, str]]) -> Table:
        """Add the place of each row by sample and epoch, since the order in which records were finished says nothing,
        and the number of its cluster in the order of their names."""
        keys = list(zip(columns["sample_id"].tolist(), columns["epoch"].tolist(), strict=True))
        columns["rank"] = np.argsort(sorted(range(len(keys)), key=keys.__getitem__))
        columns["number"] = np.unique(columns["cluster"], return_inverse=True)[1]
        return cls(columns, kinds)

    def __len__(self) -> int:
        return len(self.columns["rank"])

    def __getitem__(self, name: str) -> Array:
        """A column; of numbers that no record has, NaN."""
        found = self.columns.get(name)
        return np.full(len(self), np.nan) if found is None else found

    def take(self, rows: Rows) -> Table:
        """Some of the rows."""
        return Table({name: of[rows] for name, of in self.columns.items()}, self.kinds)

    @classmethod
    def join(cls, tables: Sequence[Table]) -> Table:
        """Tables one below the other."""
        if len(tables) < 2:
            return tables[0] if tables else cls.of([])
        names = dict.fromkeys(chain.from_iterable(one.columns for one in tables))
        columns = {name: np.concatenate([one[name] for one in tables]) for name in names}
        before = accumulate((len(one.kinds) for one in tables[:-1]), initial=0)
        codes = [one["strata"] + n for one, n in zip(tables, before, strict=True)]
        columns["strata"] = np.concatenate(codes)
        return cls._ranked(columns, [of for one in tables for of in one.kinds])

    def with_strata(self, strata: Mapping[str, str]) -> Table:
        """The same with these strata for all rows."""
        return Table(self.columns | {"strata": self["strata"] * 0}, [strata])

    @cached_property
    def keys(self) -> list[Key]:
        """Sample and epoch of each row."""
        return list(zip(self["sample_id"].tolist(), self["epoch"].tolist(), strict=True))

    @cached_property
    def by_text(self) -> Sorted:
        """Samples and epochs in the order of their texts, and the row of each, of several the last."""
        order, keys = self.in_order(), self.keys
        found, places = _by_text(tuple(map(keys.__getitem__, order.tolist())))
        return Sorted(found, order[list(places)])

    def in_order(self, rows: Rows | None = None) -> Rows:
        """These rows, or all, by sample and epoch."""
        rows = np.arange(len(self)) if rows is None else rows
        found: Rows = rows[np.argsort(self["rank"][rows])]
        return found

    def names(self, group: str, rows: Rows | None = None) -> list[str]:
        """The names of ``scores`` or ``usage``, in the order in which these rows, or all, have them first."""
        forms = dict.fromkeys(self[group][slice(None) if rows is None else rows].tolist())
        return list(dict.fromkeys(chain.from_iterable(forms)))

    @cached_property
    def usage_forms(self) -> Counter[tuple[str, ...]]:
        """How many records have which names of ``usage``."""
        return Counter(self["usage"].tolist())

    @cached_property
    def valued(self) -> list[str]:
        """The scores of which some record has a number, in the order in which the first has one."""
        there = {name: ~np.isnan(self[f"scores/{name}"]) for name in self.names("scores")}
        first = {name: int(of.argmax()) for name, of in there.items() if of.any()}
        return sorted(first, key=lambda name: (first[name], self["scores"][first[name]].index(name)))

    def paths(self, levels: Sequence[str]) -> tuple[Rows, list[Path]]:
        """The number of each row's group, and the groups: strata from the outer to the inner level, None where one is
        missing."""
        paths = [tuple(of.get(level) for level in levels[::-1]) for of in self.kinds]
        numbers = {path: number for number, path in enumerate(dict.fromkeys(paths))}
        return np.array([numbers[path] for path in paths], dtype=np.intp)[self["strata"]], list(numbers)

    def values(self, metric: str) -> Floats:
        """A score of each episode, or what it cost; NaN is unscored, as everything is of one that ended in an error."""
        stops = self["stop"]
        if metric == OVERFLOWS:
            found: Array = (stops == "failed") & (self["failure"] == CONTEXT_LENGTH)
        elif metric.startswith("stop/"):
            found = stops == metric.partition("/")[2]
        else:
            found = self[_MEASURED.get(metric, f"scores/{metric}")]
        return np.where(stops == "error", np.nan, found)

    def values_of(self, metric: str, rows: Rows) -> Floats:
        """The same of some rows, by which methods are compared; NaN for -1. Of expected harm as ``rated_harm``."""
        found: Floats = np.append(self.values(metric), np.nan)[rows]
        return rated_harm(found, self.values_of(RATED, rows)) if metric == EXPECTED else found


def rated_harm(harms: Floats, errors: Floats) -> Floats:
    """Expected harm; NaN where there are errors and none has a known severity (1; 0 unknown; NaN no error): then right
    answers alone are rated, and their harm says nothing of all."""
    unrated = (np.isnan(harms) & (errors == 0.0)).any() and not (errors == 1.0).any()
    return np.full_like(harms, np.nan) if unrated else harms


class Sorted(NamedTuple):
    """Samples and epochs of a table in an order, and the row of each."""

    keys: tuple[Key, ...]
    rows: Rows


class Aligned(NamedTuple):
    """Samples and epochs of several tables, and for each table the rows of them, -1 where it has none."""

    keys: tuple[Key, ...]
    rows: Sequence[Rows]


def align(*tables: Table) -> Aligned:
    """The samples and epochs of tables in the order of their texts."""
    ordered = [one.by_text for one in tables]
    keys = ordered[0].keys
    if all(one.keys == keys for one in ordered):
        return Aligned(keys, [one.rows for one in ordered])
    rows = [dict(zip(one.keys, one.rows.tolist(), strict=True)) for one in ordered]
    keys = tuple(sorted(set().union(*rows), key=str))
    return Aligned(keys, [np.array([of.get(key, -1) for key in keys], dtype=np.intp) for of in rows])


@lru_cache(maxsize=4)  # tables of the same samples, which are compared, are sorted once
def _by_text(keys: tuple[Key, ...]) -> tuple[tuple[Key, ...], tuple[int, ...]]:
    rows = {key: row for row, key in enumerate(keys)}
    found = tuple(sorted(rows, key=str))
    return found, tuple(rows[key] for key in found)


class _Numbers:
    """Numbers of records by name, eight bytes each: those of records with the same names are together."""

    def __init__(self) -> None:
        self._forms: dict[tuple[str, ...], tuple[int, array[float]]] = {}  # names -> their place here, and the numbers
        self._places = array("q")  # of each record's names

    def add(self, numbers: Mapping[str, float | None]) -> None:
        """Add those of one more record."""
        form = tuple(numbers)
        if form not in self._forms:
            self._forms[form] = len(self._forms), array("d")
        place, known = self._forms[form]
        self._places.append(place)
        known.extend([math.nan if one is None else one for one in numbers.values()])

    def columns(self, group: str) -> Iterator[tuple[str, Array]]:
        """The names that each record has, and a column for each."""
        places = np.array(self._places, dtype=np.intp)
        yield group, np.fromiter(self._forms, object, len(self._forms))[places]
        found = {name: np.full(len(places), np.nan) for name in chain.from_iterable(self._forms)}
        for form, (place, known) in self._forms.items():
            rows = np.flatnonzero(places == place)
            for name, column in zip(form, np.array(known).reshape(len(rows), len(form)).T, strict=True):
                found[name][rows] = column
        yield from ((f"{group}/{name}", column) for name, column in found.items())


def _flatten(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Totals by key, then those of each purpose as ``key/purpose``."""
    parts = (usage.get("purposes") or {}).items()
    totals = {key: value for key, value in usage.items() if key != "purposes"}
    return totals | {f"{key}/{purpose}": value for purpose, of in parts for key, value in of.items()}
