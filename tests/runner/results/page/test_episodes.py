"""Episodes on the page: what is embedded, and which of them."""

import json
import re
from itertools import compress

import pytest

from components.core.types import Problem, Sample, Score
from runner.results.sections.page import episodes
from runner.storage.records import RecordWriter, record_of
from tests.runner.results import folders
from tests.runner.results.page.episode_runs import HOSTILE, LONG, STOPS, data, episode, hostile_run, two_runs, written


@pytest.fixture
def runs(tmp_path):
    return two_runs(tmp_path)


@pytest.fixture
def hostile(tmp_path):
    return hostile_run(tmp_path)


def test_the_list_has_every_episode_and_its_numbers(runs):
    found = episodes.section(runs)
    index = data(found, "index")
    assert [one["key"] for one in index["runs"]] == ["one", "two+cfg"] and index["runs"][0]["label"] != index["runs"][
        1
    ]["label"]
    assert index["strata"] == ["task"] and index["scores"] == ["score/x"]
    assert [row["stop"] for row in index["rows"][:5]] == list(STOPS)
    assert [row["kind"] for row in index["rows"][:5]] == ["", "lost", "provider", "", ""]
    assert [row["answer"] for row in index["rows"][:5]] == ["B", "", "provider: gone", "problem: ToolMissing", ""]
    assert index["rows"][0] == {
        "run": 0, "sample": "a/1", "epoch": 0, "strata": ["a"], "stop": "answered", "kind": "", "solved": True,
        "scores": [1.0], "calls": 2, "tokens": 30, "cost": 1.0, "seconds": 0.5, "answer": "B", "question": "What is a/1?",
    }  # fmt: skip
    assert "10 episodes;" in found.parts[0].html


def test_episode_on_the_page_equals_the_record(runs):
    found = episodes.section(runs)
    texts, (first, *_) = data(found, "texts-0"), data(found, "steps-0")
    asked = first["steps"][0]["asked"]
    assert "\n".join(texts[n] for n in asked[0]["text"]) == "Rules of the house. " * 20
    assert asked[1]["text"] == "Answer in one word.\nWhat is a/1?"
    assert [step["reply"]["text"] for step in first["steps"]] == ["I call Books.", "It is B."]
    assert json.loads(texts[first["offered"][0]]) == [spec.name for spec in folders.TOOLS]
    assert first["explanations"] == {"score/x": "read it"}
    assert texts.count("Rules of the house. " * 20) == 1, "a text is stored once"


@pytest.mark.parametrize(
    ("value", "ceiling", "solved"),
    [(1.0, None, True), (0.5, None, False), (0.0, 0.0, True), (3.0, 0.0, False), (0.5, 0.5, True), (None, None, None)],
)
def test_solved_means_the_score_of_a_perfect_agent(tmp_path, value, ceiling, solved):
    run = written(tmp_path, [])
    writer = RecordWriter(tmp_path)
    score = Score("score/x", value, ceiling=ceiling)
    writer.append(record_of(Sample(Problem("a", "?"), "A"), 0, episode("a"), [score], 0.5, writer.packer))
    writer.close()
    assert data(episodes.section([run]), "index")["rows"][0]["solved"] is solved


def test_failures_come_before_a_seeded_draw_of_the_same_samples(tmp_path):
    names = [f"s{n}" for n in range(40)]
    stops = {"s7": "failed", "s8": "error", "s9": "limit"}
    some = [
        written(tmp_path / key, [(name, episode(name, stop=stops.get(name, "answered")), 1.0) for name in names])
        for key in "ab"
    ]
    kept = episodes.choose_episodes(some, 20)
    names = [set(compress(one.table["sample_id"], wanted)) for one, wanted in zip(some, kept, strict=True)]
    assert names[0] == names[1] > set(stops) and len(names[0]) == 10
    assert kept == episodes.choose_episodes(some, 20) and kept[:1] != episodes.choose_episodes(some[:1], 20)
    found = episodes.section(some, limit=20)
    assert "20 of 80 episodes are on this page: failures first, then a seeded draw" in found.parts[0].html
    assert len(data(found, "index")["rows"]) == len(data(found, "marks")) == 20


@pytest.mark.parametrize(("privacy", "warned"), [("open", False), ("credentialed", True), ("phi", True)])
def test_page_with_restricted_texts_is_marked(tmp_path, privacy, warned):
    run = written(tmp_path, [("a", episode("a"), 1.0)], dataset={"name": "d", "privacy": privacy})
    assert (f"data that are not open ({privacy})" in episodes.section([run]).parts[0].html) == warned


def test_no_episodes_give_no_section(tmp_path):
    assert episodes.section([written(tmp_path, [])]) is None


def test_question_summary_omits_the_shared_instructions():
    questions = [f"Rules.\n\nQuestion: {n}?\nA. yes" for n in range(30)]
    assert list(episodes.summaries_of(questions))[:2] == ["Question: 0?", "Question: 1?"]
    assert list(episodes.summaries_of(["Same."] * 9)) == ["Same."] * 9, "identical questions keep their text"
    assert list(episodes.summaries_of([])) == [] and list(episodes.summaries_of([""])) == [""]
    assert list(episodes.summaries_of(["x" * 3_000])) == ["…" + "x" * 2_000]


def test_data_texts_are_embedded_encoded_only(hostile):
    found = episodes.section([hostile])
    assert not re.search("onerror|Rules of|bold|long long", found.parts[0].html)
    assert "</script" not in found.parts[0].script and "innerHTML" not in found.parts[0].script
    index, (steps, *_) = data(found, "index"), data(found, "steps-0")
    texts = [one for n, _ in enumerate(index["texts"]) for one in data(found, f"texts-{n}")]
    assert index["runs"][0]["key"] == "h?<b>" and index["rows"][0]["sample"] == HOSTILE
    assert "\n".join(texts[n] for n in steps["answer"]) == LONG
