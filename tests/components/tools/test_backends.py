"""What tools share: a tool whose backend lacks something says what; where data files are."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import ClassVar

import pytest

from components.core.errors import ConfigError, ToolError
from components.files.rows import files_digest
from components.tools.backends import Backend, FileBackend, first_rows, locate_data, missing_data, plain
from components.tools.drug_table import DrugTable
from components.tools.drugbank import DrugBank, Drugs
from components.tools.openfda import OpenFda
from components.tools.passages import LocalCorpora, Passages
from tests.components.tools.service import At


async def test_a_backend_that_lacks_a_file_is_unavailable(tmp_path):
    with pytest.raises(ToolError, match=r"^DrugBank is unavailable: there is no .*x\.jsonl: give") as caught:
        await DrugBank(DrugTable(path=str(tmp_path / "x.jsonl")))(At(), drug_name="x")
    assert caught.value.label == "unavailable"


def test_every_place_where_answers_are_found_is_a_backend_and_of_one_kind():
    assert isinstance(OpenFda(), Backend) and isinstance(OpenFda(), Drugs)
    assert not isinstance(OpenFda(), Passages)


def test_names_are_compared_in_one_case_with_single_spaces():
    assert plain("  Acetylsalicylic\n ACID ") == plain("acetylsalicylic acid") == "acetylsalicylic acid"


def test_one_place_is_named(tmp_path):
    assert locate_data("drugs", None, "backend").name == "drugs.jsonl"
    assert locate_data(None, str(tmp_path), "backend") == tmp_path
    for shipped, path in (("drugs", "x"), (None, None)):
        with pytest.raises(ConfigError, match="either shipped or path"):
            locate_data(shipped, path, "backend")


def test_a_missing_file_is_reported_with_how_to_get_it(tmp_path):
    assert missing_data(tmp_path, "make it") == ""
    assert missing_data(tmp_path / "x", "make it") == f"there is no {tmp_path / 'x'}: make it"


def test_files_are_read_again_when_they_change(tmp_path):
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_text('{"id": "1", "title": "t", "content": "c"}')
    (tmp_path / "c.txt").write_text("1")
    corpora = LocalCorpora(path=str(tmp_path))
    before = corpora.loaded
    assert corpora.files == [tmp_path / "a.jsonl", tmp_path / "b.jsonl"] and corpora.loaded is before
    assert LocalCorpora(path=str(tmp_path / "c.txt")).files == [tmp_path / "c.txt"]
    (tmp_path / "a.jsonl").write_text("")
    assert corpora.loaded is not before


@dataclass(frozen=True)
class Waiting(FileBackend[list[str]]):
    """A backend whose reading takes until the test ends it."""

    how: ClassVar[str] = "give a file"
    begun: ClassVar[Event] = Event()
    end: ClassVar[Event] = Event()
    loads: ClassVar[list[str]] = []

    def read(self, row):
        return row

    def load(self, files):
        self.loads.append(files[0].name)
        self.begun.set()
        assert self.end.wait(60)
        return [files[0].name]


def test_one_backend_does_not_wait_until_another_has_read_its_files(tmp_path):
    (tmp_path / "x.jsonl").write_text("{}")
    with ThreadPoolExecutor(2) as threads:
        reading = [threads.submit(lambda: Waiting(path=str(tmp_path / "x.jsonl")).loaded) for _ in range(2)]
        try:
            assert Waiting.begun.wait(60)
            with ThreadPoolExecutor(1) as another:
                assert another.submit(lambda: DrugTable(shipped="drugs").loaded).result(60)
        finally:
            Waiting.end.set()
    assert reading[0].result() is reading[1].result() and Waiting.loads == ["x.jsonl"]


def test_a_digest_is_of_the_contents_in_their_order(tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("a")
    two.write_text("b")
    pairs = ((one, two), (two, one), (one,))
    found = {files_digest(*files, digits=32) for files in pairs} | {files_digest(one, two, salt="x", digits=32)}
    assert len(found) == 4 and all(len(name) == 32 for name in found)
    two.write_text("a")
    assert files_digest(one) == files_digest(two)


def test_first_rows_are_those_of_each_file(tmp_path):
    (tmp_path / "b.jsonl").write_text('\n{"n": 1}\n{"n": 2}\n')
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "c.txt").write_text("{")
    assert [row.values for row in first_rows(tmp_path)] == [{"n": 1}]
    assert [row.place for row in first_rows(tmp_path / "b.jsonl")] == [f"{tmp_path / 'b.jsonl'}:2"]
    assert list(first_rows(tmp_path / "none")) == list(first_rows(tmp_path / "c.txt")) == []
    (tmp_path / "a.jsonl").write_text("{")
    with pytest.raises(ConfigError, match=r"a.jsonl:1: not JSON"):
        list(first_rows(tmp_path))
