import pytest

from components.core.errors import ConfigError
from components.tools.google_search import QueryRecord
from components.tools.web_snapshot import WebPage

PAGES = (WebPage("https://a.org", "Ä", ("One", "Two")), WebPage("https://b.org", "B", error="gone"))


def test_a_recorded_answer_is_found_again(tmp_path):
    path = str(tmp_path / "new" / "queries.jsonl")
    record = QueryRecord(path)
    assert "record queries with a search service first" in record.missing and record.get("heart attack") is None
    record.put("Heart  Attack", PAGES)
    record.put("nothing", ())
    for one in (record, QueryRecord(path)):
        assert one.missing == "" and one.get(" heart attack") == PAGES and one.get("nothing") == ()
        assert one.get("other") is None


def test_the_last_answer_counts(tmp_path):
    record = QueryRecord(str(tmp_path / "q.jsonl"))
    record.put("x", PAGES)
    record.put("x", PAGES[:1])
    assert record.get("x") == QueryRecord(record.path).get("x") == PAGES[:1]


@pytest.mark.parametrize(
    "line", ['{"query": "x"}', '{"query": "x", "pages": [1]}', '{"query": "x", "pages": [{}]}', "{"]
)
def test_a_bad_line_is_a_config_error(tmp_path, line):
    (tmp_path / "q.jsonl").write_text(line)
    with pytest.raises(ConfigError, match=r"q.jsonl:1"):
        QueryRecord(str(tmp_path / "q.jsonl"))


def test_a_later_bad_line_is_a_config_error(tmp_path):
    record = QueryRecord(str(tmp_path / "q.jsonl"))
    record.put("x", PAGES)
    with record.place.open("a") as file:
        file.write("{")
    with pytest.raises(ConfigError, match=r"q.jsonl:2: not JSON, perhaps cut off"):
        QueryRecord(record.path).get("x")
