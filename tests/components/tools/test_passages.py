import orjson
import pytest

from components.core.errors import ConfigError
from components.tools.passages import LocalCorpora


def corpora(folder, **files):
    for name, texts in files.items():
        rows = [{"id": f"{name}{n}", "title": f"T{n}", "content": text} for n, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return LocalCorpora(path=str(folder))


async def test_corpora_are_searched_apart_and_merged_by_score(tmp_path):
    rare = ["vertigo and nausea", "asthma", "cough", "fever"]
    backend = corpora(tmp_path, a=["vertigo"] * 3, b=rare)
    found = await backend.search("vertigo", 3)
    assert [(one.id, one.source) for one in found] == [("b0", "b"), ("a0", "a"), ("a1", "a")]
    assert found[0].score > found[1].score == found[2].score
    assert found[0].content == "vertigo and nausea" and found[0].title == "T0"


async def test_a_query_without_a_match_finds_nothing(tmp_path):
    assert await corpora(tmp_path, a=["vertigo"]).search("asthma", 3) == []


async def test_changed_files_are_read_again(tmp_path):
    backend = corpora(tmp_path, a=["vertigo"])
    assert len(await backend.search("vertigo", 3)) == 1
    corpora(tmp_path, a=["vertigo", "more vertigo"])
    assert len(await backend.search("vertigo", 3)) == 2


async def test_indexes_are_kept_in_the_cache_folder(tmp_path):
    (tmp_path / "in").mkdir()
    corpora(tmp_path / "in", a=["vertigo"], b=["asthma"])
    backend = LocalCorpora(path=str(tmp_path / "in"), cache=str(tmp_path / "cache"))
    assert len(await backend.search("vertigo", 3)) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_missing_corpus_is_reported(tmp_path):
    assert "there is no" in LocalCorpora(path=str(tmp_path / "x")).missing
    assert "no .jsonl file" in LocalCorpora(path=str(tmp_path)).missing
    assert corpora(tmp_path, a=["x"]).missing == ""


def test_the_place_is_named_once():
    with pytest.raises(ConfigError, match="either shipped or path"):
        LocalCorpora()


async def test_the_shipped_sample_is_read():
    (first, *_) = await LocalCorpora("corpus").search("What lowers the pressure inside the eye in glaucoma?", 5)
    assert "glaucoma" in f"{first.title} {first.content}".lower()


def test_a_file_of_another_form_is_refused_before_a_run(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"title": "x", "content": "y"}')
    with pytest.raises(ConfigError, match=r"x.jsonl:1: id: is missing"):
        LocalCorpora(path=str(tmp_path / "x.jsonl"))
