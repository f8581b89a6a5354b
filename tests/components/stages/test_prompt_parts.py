from dataclasses import dataclass, replace

import pytest

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.stages.prompt_parts import parts_of, record_of
from tests.stage_bench import Class, Halves, base_set, bench


def test_parts_are_drawn_by_whole_records_and_by_the_seed(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"))
    parts = parts_of(desk, None, 2, 1, 0)
    assert [len(part) for part in (parts.train, parts.validation, parts.compared)] == [4, 2, 0]
    assert parts.records == parts_of(desk, "train", 2, 1, 0).records and parts.split == "train"
    assert record_of(Sample(Problem("p", "?"), None)) == "p"


@dataclass(frozen=True)
class Echoes(Halves):
    """The same question of every record."""

    def load(self, split):
        rows = super().load(split)
        return rows if split == "test" else [replace(one, problem=replace(one.problem, question="?")) for one in rows]


def test_a_task_that_stands_in_two_parts_under_two_names_is_refused(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"), Echoes())
    with pytest.raises(ConfigError, match="for validation says the same as one for training"):
        parts_of(desk, None, 2, 2, 0)
    assert parts_of(desk, None, 2, 0, 0).train


def test_a_dataset_without_a_split_to_learn_from_is_refused(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"), Halves(splits=("test",)))
    with pytest.raises(ConfigError, match="no split to learn from"):
        parts_of(desk, None, 1, 1, 0)
    with pytest.raises(ConfigError, match=r"stage\.split='test'"):
        parts_of(desk, "test", 1, 1, 0)
