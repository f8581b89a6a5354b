import orjson

from components.tools.medrag_index import main


def test_indexes_are_made_beforehand(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps({"id": "1", "title": "t", "content": "some words"}))
    assert main([str(tmp_path), str(tmp_path / "cache")]) == 0
    assert "a.jsonl: 1 passages, 3 terms" in capsys.readouterr().out
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_corpus_that_cannot_be_indexed_is_reported(tmp_path, capsys):
    assert main([str(tmp_path), str(tmp_path / "cache")]) == 2
    assert "no .jsonl file" in capsys.readouterr().err
    (tmp_path / "a.jsonl").write_text("{")
    assert main([str(tmp_path), str(tmp_path / "cache")]) == 2
    assert "a.jsonl:1: not JSON" in capsys.readouterr().err
