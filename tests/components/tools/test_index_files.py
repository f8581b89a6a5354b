import orjson
import pytest

from components.core.errors import ConfigError
from components.tools.passages import LocalCorpora

ROWS = [
    {"id": "p1", "title": "Ménière disease", "content": "Vertigo, tinnitus\nand hearing loss."},
    {"id": "p2", "title": "Asthma", "content": "Wheeze that β-agonists relieve."},
]


def indexed(path, cache):
    (index,) = LocalCorpora(path=str(path), cache=cache and str(cache)).load([path])
    return index


def write(path, rows, between=b"\n"):
    path.write_bytes(between.join(orjson.dumps(row) for row in rows) + b"\n")
    return path


@pytest.mark.parametrize("between", [b"\n", b"\n\n  \n"])
def test_rows_are_read_where_they_stand(tmp_path, between):
    index = indexed(write(tmp_path / "a.jsonl", ROWS, between), None)
    assert [index.row(hit.id).values for hit in index.bm25.search("wheezing", 3)] == [ROWS[1]]
    assert index.row("p1").text("title") == "Ménière disease"


def test_an_index_is_kept_and_found_again(tmp_path):
    file, cache = write(tmp_path / "a.jsonl", ROWS), tmp_path / "cache"
    first = indexed(file, cache)
    (kept,) = cache.iterdir()
    changed = kept.stat().st_mtime_ns
    again = indexed(file, cache)
    assert kept.stat().st_mtime_ns == changed
    for query in ("tinnitus", "β", "relief relieve", "nothing at all"):
        assert again.bm25.search(query, 5) == first.bm25.search(query, 5)
    assert again.row("p2").values == ROWS[1]


def test_other_content_has_another_index(tmp_path):
    file, cache = write(tmp_path / "a.jsonl", ROWS), tmp_path / "cache"
    indexed(file, cache)
    write(file, ROWS[:1])
    assert len(indexed(file, cache).bm25) == 1 and len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"PK not a zip", b"\x00" * 100])
def test_a_broken_index_is_built_again(tmp_path, content):
    file, cache = write(tmp_path / "a.jsonl", ROWS), tmp_path / "cache"
    indexed(file, cache)
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    assert len(indexed(file, cache).bm25) == 2 and kept.stat().st_size > 200


def test_a_truncated_index_is_built_again(tmp_path):
    file, cache = write(tmp_path / "a.jsonl", ROWS), tmp_path / "cache"
    indexed(file, cache)
    (kept,) = cache.iterdir()
    kept.write_bytes(kept.read_bytes()[:-50])
    assert len(indexed(file, cache).bm25) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "p3", "title": "x"}, "content: is missing"),
        ({**ROWS[0], "content": "x"}, "two documents have the id 'p1'"),
    ],
)
def test_a_bad_row_is_a_config_error(tmp_path, row, message):
    with pytest.raises(ConfigError, match=message):
        indexed(write(tmp_path / "a.jsonl", [*ROWS, row]), None)
