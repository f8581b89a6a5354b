import orjson
import pytest

from components.core.errors import ConfigError
from components.tools.web_snapshot import WebSnapshot

ROWS = [
    {"url": "https://a.org/1", "title": "Asthma", "paragraphs": ["Wheeze.", "Cough."]},
    {"url": "https://a.org/2", "title": "Gout", "paragraphs": ["Joint pain, wheeze never."]},
]


def write(path, rows=ROWS):
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return str(path)


async def test_pages_are_found_by_title_and_paragraphs(tmp_path):
    source = WebSnapshot(path=write(tmp_path / "w.jsonl"))
    assert [page.title for page in await source.search("wheezing", 2)] == ["Asthma", "Gout"]
    (page,) = await source.search("gout", 2)
    assert (page.url, page.paragraphs, page.error) == ("https://a.org/2", ("Joint pain, wheeze never.",), "")
    assert await source.search("zebra", 2) == []


async def test_a_folder_holds_rows_and_saved_pages(tmp_path):
    write(tmp_path / "w.jsonl")
    (tmp_path / "saved.html").write_text("<title>Saved</title><p>Hypokalaemia.</p>")
    (page,) = await WebSnapshot(path=str(tmp_path)).search("hypokalaemia", 2)
    assert (page.url, page.title, page.paragraphs) == ("saved.html", "Saved", ("Hypokalaemia.",))


@pytest.mark.parametrize(
    ("rows", "message"),
    [([*ROWS, ROWS[0]], "two documents have the id 'https://a.org/1'"), ([{"url": "u", "title": "t"}], "paragraphs")],
)
async def test_bad_rows_are_config_errors(tmp_path, rows, message):
    with pytest.raises(ConfigError, match=message):
        await WebSnapshot(path=write(tmp_path / "w.jsonl", rows)).search("x", 1)


def test_a_missing_snapshot_is_reported(tmp_path):
    assert "there is no" in WebSnapshot(path=str(tmp_path / "x")).missing
    assert "no .jsonl or .html or .htm file in" in WebSnapshot(path=str(tmp_path)).missing
    assert WebSnapshot(path=write(tmp_path / "w.jsonl")).missing == ""
    with pytest.raises(ConfigError, match="either shipped or path"):
        WebSnapshot()


async def test_the_shipped_sample_is_read():
    (page,) = await WebSnapshot("web").search("migraine", 1)
    assert "igraine" in page.title and len(page.paragraphs) > 5


def test_a_file_of_another_form_is_refused_before_a_run(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"url": "x"}')
    with pytest.raises(ConfigError, match=r"x.jsonl:1: title: is missing"):
        WebSnapshot(path=str(tmp_path / "x.jsonl"))
