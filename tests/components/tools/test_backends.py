"""What tools share: a tool whose backend lacks something says what; where data files are."""

import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.backends import Backend, digest, first_rows, lacking, located, plain
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
    assert located("drugs", None, "backend").name == "drugs.jsonl"
    assert located(None, str(tmp_path), "backend") == tmp_path
    for shipped, path in (("drugs", "x"), (None, None)):
        with pytest.raises(ConfigError, match="either shipped or path"):
            located(shipped, path, "backend")


def test_what_is_absent_is_said_with_how_to_get_it(tmp_path):
    assert lacking(tmp_path, "make it") == ""
    assert lacking(tmp_path / "x", "make it") == f"there is no {tmp_path / 'x'}: make it"


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


def test_a_digest_is_of_the_contents_in_their_order(tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("a")
    two.write_text("b")
    found = {digest("", one, two), digest("", two, one), digest("x", one, two), digest("", one)}
    assert len(found) == 4 and all(len(name) == 32 for name in found)
    two.write_text("a")
    assert digest("", one) == digest("", two)


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
