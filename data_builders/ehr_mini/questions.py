"""Questions in the form of EHRAgent's edition of EHRSQL, from the templates of ``questions_<database>.yaml``.

Slot values are drawn from the database. Every template gives its share of a level's questions; yes and no are
balanced, every sixth count is zero, and values are repeated only where there are no others.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import Any

from data_builders.ehr_mini.dealing import SPLITS, Deal, Slots
from data_builders.ehr_mini.gold_answers import Asker
from data_builders.ehr_mini.schema import Schema, asked, table_of

# Questions of a level in each split.
LEVEL_SIZES = {"test": 20, "valid": 20, "train": 8}
_ZERO_EVERY = 6  # counts
_ONE_EVERY = 3  # counts; the others are two or more where the database allows
_MOST_ROWS, _MOST_MIXES = 2000, 500  # tried for one question

Record = dict[str, Any]
Wanted = Callable[[list[str]], bool]


@dataclass(frozen=True)
class Template:
    """A question template, with the values that its slots may have; ``pool`` may name a slot that it only owns."""

    name: str
    answer: str
    ask: str
    paraphrases: Sequence[str]
    sql: str
    pool: Sequence[Slots]

    @property
    def level(self) -> str:
        """As the name says it: I to IV."""
        return self.name.split("-")[1]

    def slots(self, row: Slots) -> dict[str, Any]:
        """Those values of a row of the pool that the question names."""
        return {name: value for name, value in row.items() if f"{{{name}}}" in self.ask}


@dataclass(frozen=True)
class Question:
    """A template with its values, and what they give. ``turn``: how many its template gave before in this split."""

    template: Template
    turn: int
    slots: Slots
    sql: str
    answer: list[str]


@dataclass
class Drawer:
    """Draws the questions of one split of one database."""

    asker: Asker
    deal: Deal
    split: str
    seed: str
    taken: set[tuple[str, ...]]
    kinds: Counter[str] = field(default_factory=Counter)
    uses: Counter[tuple[str, str, Any]] = field(default_factory=Counter)

    def level(self, templates: Sequence[Template], size: int) -> Iterator[Question]:
        """So many questions of one level, its templates by turns; one that gives no more is passed over.

        Raises ValueError when there are too few.
        """
        pools = {template.name: self._pool(template) for template in templates}
        left, turn, n_made = list(templates), 0, 0
        while left and n_made < size:
            for template in left[: size - n_made]:
                one = self._next(template, pools[template.name], turn)
                if one is None:
                    left.remove(template)
                    continue
                n_made += 1
                yield one
            turn += 1
        if n_made < size:
            names = ", ".join(template.name for template in templates)
            raise ValueError(
                f"{names}: the database gives {n_made} of {size} questions of the split {self.split}; "
                "more patients or another seed may give them"
            )

    def _pool(self, template: Template) -> list[Slots]:
        """The rows of a template's pool that belong to the split, in an order of the seed."""
        pool = [row for row in template.pool if self.deal.allows(row, self.split)]
        return self._rng(template).sample(pool, min(len(pool), _MOST_ROWS))

    def _rng(self, template: Template, turn: int = -1) -> Random:
        return Random(f"{self.seed}/{template.name}/{self.split}/{turn}")

    def _next(self, template: Template, pool: list[Slots], turn: int) -> Question | None:
        """The next question of a template, with values that were used least."""
        name = template.name
        rows = sorted(pool, key=lambda row: sum(self.uses[name, slot, value] for slot, value in row.items()))
        for wanted in self._wanted(template):
            one = self._first(template, chain(rows, _mixed(pool, self._rng(template, turn))), wanted, turn)
            if one is not None:
                self.kinds[template.answer] += 1
                self.uses.update((name, slot, value) for slot, value in one.slots.items())
                return one
        return None

    def _wanted(self, template: Template) -> tuple[Wanted, ...]:
        """The answers that may come next, in order of preference."""
        turn = self.kinds[template.answer]
        if template.answer == "yes_no":
            return (_is_zero,) if turn % 2 else (_is_count,)
        if template.answer != "count":
            return (_is_any,)
        if turn % _ZERO_EVERY == _ZERO_EVERY - 1:
            return _is_zero, _is_count
        return (_is_several, _is_count) if turn % _ONE_EVERY else (_is_count,)

    def _first(self, template: Template, rows: Iterable[Slots], wanted: Wanted, turn: int) -> Question | None:
        """The first question with such an answer that is not taken yet."""
        for row in rows:
            slots = template.slots(row)
            key = (template.name, *map(str, slots.values()))
            if key in self.taken:
                continue
            sql = filled_sql(template.sql, slots)
            answer = self.asker.answer(sql, single=template.answer == "single")
            if answer is None or not wanted(answer):
                continue
            self.taken.add(key)
            return Question(template, turn, slots, sql, answer)
        return None


def _is_zero(answer: list[str]) -> bool:
    return answer == ["0"]


def _is_count(answer: list[str]) -> bool:
    return not _is_zero(answer)


def _is_several(answer: list[str]) -> bool:
    return answer not in (["0"], ["1"])


def _is_any(answer: list[str]) -> bool:
    return bool(answer)


def _mixed(pool: Sequence[Slots], rng: Random) -> Iterator[Slots]:
    """Rows that take their first slot of one row of the pool and the others of another."""
    for _ in range(_MOST_MIXES if len(pool) > 1 and len(pool[0]) > 1 else 0):
        one, other = rng.sample(pool, 2)
        first = next(iter(one))
        yield {**other, first: one[first]}


def filled_sql(sql: str, slots: Slots) -> str:
    """A gold statement with its values, quotes doubled."""
    for name, value in slots.items():
        sql = sql.replace(f"{{{name}}}", str(value).replace("'", "''"))
    return sql


def rows_of(connection: sqlite3.Connection, sql: str, clock: str | None) -> list[dict[str, Any]]:
    """The rows of a statement by the names of their columns, sorted."""
    cursor = asked(connection, sql, clock)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in sorted(cursor)]


def questions(schema: Schema, connection: sqlite3.Connection, seed: int) -> dict[str, list[Record]]:
    """The records of every split. Raises ValueError when the database is too small for them."""
    given = table_of(f"questions_{schema.name}.yaml")
    templates = [
        Template(name, **{key: one[key] for key in ("answer", "ask", "paraphrases", "sql")},
                 pool=rows_of(connection, one["pool"], schema.clock))
        for name, one in given["templates"].items()
    ]  # fmt: skip
    people = rows_of(connection, given["people"], schema.clock)
    text = f"{seed}/questions/{schema.name}"
    deal = Deal([people, *(template.pool for template in templates)], given["closed"], text)
    asker, taken = Asker(connection, schema.clock), set[tuple[str, ...]]()
    made = {}
    for split in SPLITS:
        drawer = Drawer(asker, deal, split, text, taken)
        levels = {template.level: [one for one in templates if one.level == template.level] for template in templates}
        drawn = [one for group in levels.values() for one in drawer.level(group, LEVEL_SIZES[split])]
        pairs = given["unanswerable"].get(split, ())
        allowed = [row for row in people if deal.allows(row, split)]
        made[split] = [
            *(_record(schema, split, one) for one in sorted(drawn, key=lambda one: one.turn)),
            *_unanswerable(schema, split, pairs, allowed, text),
        ]
    return made


def _record(schema: Schema, split: str, one: Question) -> Record:
    """One answerable question."""
    template, slots = one.template, one.slots
    wording = template.paraphrases[one.turn % len(template.paraphrases)]
    return {
        "id": f"{schema.name}-{split}-{template.name}-{one.turn + 1}", "db_id": schema.name,
        "question": wording.format(**slots), "template": template.ask.format(**slots), "query": one.sql,
        "value": dict(slots), "q_tag": template.ask, "answer": one.answer, "is_impossible": False, "split": split,
        "template_id": template.name,
    }  # fmt: skip


def _unanswerable(
    schema: Schema, split: str, pairs: Sequence[Sequence[str]], people: Sequence[Slots], seed: str
) -> Iterator[Record]:
    """Questions about what no table holds. Raises ValueError where the split has no patient to ask about."""
    if pairs and not people:
        raise ValueError(f"{schema.name}: no patient for the split {split}; more patients give one")
    for number, ((ask, wording), row) in enumerate(
        zip(pairs, Random(f"{seed}/unanswerable/{split}").choices(people, k=len(pairs)), strict=True), start=1
    ):
        slots: Mapping[str, Any] = {name: value for name, value in row.items() if f"{{{name}}}" in ask}
        yield {
            "id": f"{schema.name}-{split}-unanswerable-{number}", "db_id": schema.name,
            "question": wording.format(**slots), "template": ask.format(**slots), "query": "nan",
            "value": dict(slots), "q_tag": ask, "answer": [], "is_impossible": True, "split": split,
            "template_id": None,
        }  # fmt: skip
