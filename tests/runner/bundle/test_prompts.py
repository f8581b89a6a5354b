"""Prompt sets are packed with their includes, and a changed file is traced to the calls that used it."""

import pytest

from runner.bundle import prompt_files
from runner.bundle.differences import changed_prompts, first_call, sources_of

RECORDS = [
    {"sample_id": name, "epoch": 0, "steps": [
        {"branch": "main", "n": 0, "purpose": "act", "asked": [{"source": source}, {"source": None}]}
    ]}
    for name, source in (("b", "mine/ask.jinja"), ("a", "/home/own/ask.jinja"), ("c", "mine/other.jinja"))
]  # fmt: skip


@pytest.fixture
def bundle(tmp_path):
    for name, text in {
        "mine/ask.jinja": '{% include "_shared/end.jinja" %}', "mine/other.jinja": "x", "mine/words.yaml": "a: b",
        "_shared/end.jinja": "end", "own-1/ask.jinja": "own",
    }.items():  # fmt: skip
        (tmp_path / "prompts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "prompts" / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("member", "sample"),
    [
        ("mine/ask.jinja", "b"), ("_shared/end.jinja", "b"), ("mine/words.yaml", "b"), ("mine/other.jinja", "c"),
        ("own-1/ask.jinja", "a"), ("mine/never.jinja", ""),
    ],
)  # fmt: skip
def test_first_call_that_used_a_file_is_found(bundle, member, sample):
    call = first_call(RECORDS, sources_of(f"prompts/{member}", bundle, {"own-1": "/home/own"}))
    assert call == (f"sample '{sample}', epoch 0, branch 'main', call 0 (act)" if sample else "")


def test_first_call_of_the_run_is_that_of_the_first_sample():
    assert first_call(RECORDS).startswith("sample 'a'") and first_call([]) == ""


def test_set_is_packed_with_its_includes_and_recognised_by_text(tmp_path):
    found = prompt_files(["react"])
    assert {"prompts/react/problem.jinja", "prompts/_shared/conclude.jinja"} <= found.keys()
    for name, path in found.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(path.read_bytes())
    assert changed_prompts(tmp_path) == []
    (tmp_path / "prompts/react/problem.jinja").write_text("other")
    assert changed_prompts(tmp_path) == ["prompts/react/problem.jinja"]
