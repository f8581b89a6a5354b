"""An episode as readable text, without control characters."""

import json

import pytest
import yaml

from components.core.messages import Image, Message, ToolCall, Usage
from components.core.types import Action, Observation, Observed, Problem, Refusal, Sample, Score, Step, Trajectory
from runner.report import main
from runner.storage.records import RecordWriter, record_of
from tests.runner.results.folders import CFG, CHOICES

BAD = "\x1b[31mred\x1b[0m \x07 \x9b \u202e [red]not red[/red]\r\nsecond\tline"


def step(text, number=0, **fields):
    given = {"purpose": "act", "role": "main", "branch": "main", "asked": (Message("user", "Which?"),)} | fields
    return Step(index=number, kept=given.pop("kept", 0), reply=Message("assistant", text, **given.pop("said", {})),
                usage=Usage(10, 5, 0.001), **given)  # fmt: skip


def trajectory():
    call, other = ToolCall("1", "Books", '{"query": "sepsis"}'), ToolCall("2", "Image", "{}")
    acted = step("I look it up.", 1, action=Action(Message("assistant"), (call, other)), verdict="refine: kept 1 of 2")
    acted.observed = [
        Observed(call, Observation("a page", {"faults": [{"kind": "noisy", "numbers": 2}]}, (Image("data:x"),)))
    ]
    acted.tried = [Observed(call, Observation("not there"), "not_found")]
    return Trajectory(
        [
            step("Cardiology\n\nand more", branch="expert/1", role="planner", purpose="plan",
                 remarks={"label": "experts on the question"}, said={"reasoning": "hidden thought"}),
            acted,
            step("B", 2, committed=False, finish="length", kept=2,
                 action=Action(Message("assistant"), error="unparsable_reply", error_text="no action in it")),
            step(BAD, 3, branch="\x1b[2J", said={"tool_calls": (ToolCall("3", "Native", "{}"),)}),
        ],
        stop="answered", answer="B",
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A run of two epochs of one sample, and another that refused."""
    writer = RecordWriter(tmp_path)
    sample = Sample(Problem("case-1", "Which?"), "THE TARGET")
    scores = [Score("score/x", 1.0, "read 'B'"), Score("score/y", None)]
    for epoch in (1, 0):
        writer.append(record_of(sample, epoch, trajectory(), scores, 2.0, writer.packer))
    refused = Trajectory(stop="refused", refusal=Refusal({"problem": "ToolMissing"}))
    writer.append(record_of(Sample(Problem("case-2", "?"), "A"), 0, refused, [], 1.0, writer.packer))
    writer.close()
    notes = {"name": "x", "choices": CHOICES, "models": {"main": "big"}, "dataset": {"name": "d"}}
    (tmp_path / "manifest.json").write_text(json.dumps(notes))
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CFG))
    return tmp_path


def test_episode_is_printed_as_text(folder, capsys):
    assert main(["episode", "case-1", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        f"case-1, epoch 0, of {folder}\nagent react, model openai, dataset cab (big)\nasked: Which?\n"
    )
    for message in (
        "[1] expert/1 (planner), plan: experts on the question\n    Cardiology\n    \n    and more\n",
        "[2] main, act\n    I look it up.\n  verdict: refine: kept 1 of 2\n",
        '  tried: Books {"query": "sepsis"}\n  not_found: not there\n',
        '  called: Books {"query": "sepsis"}\n  observed: a page\n    [an image]\n  fault: noisy, numbers 2\n  not run: Image {}\n',
        "[3] main, act, not chosen, ended by length\n    B\n  unreadable: no action in it\n",
        "ended: answered\nanswer: B\nscore/x: 1 (read 'B')\nscore/y: unscored\n",
        "usage: 4 calls, 40 tokens in, 20 out, $0.004, 2.0 s",
    ):  # fmt: skip
        assert message in out, message
    assert "THE TARGET" not in out and "hidden thought" not in out
    assert not (folder / "metrics.json").exists(), "reading changes nothing"


def test_the_last_line_leads_on_to_the_page(folder, capsys):
    assert main(["episode", "case-1", str(folder), "--epoch", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"2.0 s\nas a page: python -m runner.report page {folder}\n\n")
    (folder / "report.html").touch()
    assert main(["episode", "case-1", str(folder), "--epoch", "1"]) == 0
    link = f"{folder.as_uri()}/report.html#episode={folder.name}/case-1/1"
    assert capsys.readouterr().out.endswith(f"\non the page: {link}\n\n")


@pytest.mark.parametrize("depth", [0, 1])
def test_the_page_of_the_sweep_is_named_where_the_run_has_none(folder, capsys, depth):
    home = folder.parents[depth]
    (home / "report.html").touch()
    assert main(["episode", "case-1", str(folder)]) == 0
    assert "as a page: python" in capsys.readouterr().out, "another run's"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"sweep": home.name}))
    assert main(["episode", "case-1", str(folder)]) == 0
    assert f"on the page: {home.as_uri()}/report.html#episode=" in capsys.readouterr().out


def test_nothing_hostile_reaches_the_terminal(folder, capsys):
    assert main(["episode", "case-1", str(folder)]) == 0
    out = capsys.readouterr().out
    assert all(c.isprintable() or c == "\n" for c in out)
    assert (
        r"\x1b[31mred\x1b[0m \x07 \x9b \u202e [red]not red[/red]" in out
        and "    second    line\n    -> Native {}" in out
    )


def test_prompts_are_shown_on_request(folder, capsys):
    assert main(["episode", "case-1", str(folder), "--prompts", "--epoch", "1"]) == 0
    out = capsys.readouterr().out
    assert "epoch 1" in out and "  user:\n    Which?\n  thought:\n    hidden thought\n  said:\n    Cardiology" in out
    assert "asked, after the 2 messages before:" in out


def test_refusal_is_printed_with_its_grounds(folder, capsys):
    assert main(["episode", "case-2", str(folder)]) == 0
    assert "ended: refused\nrefused, problem: ToolMissing\n" in capsys.readouterr().out


def test_unknown_episode_is_refused_in_one_line_with_a_suggestion(folder, capsys):
    assert main(["episode", "case-3\x1b", str(folder)]) == 2
    err = capsys.readouterr().err
    assert (
        err.startswith("error: episode 'case-3\\x1b': there is no such sample; did you mean case-")
        and "\x1b" not in err
    )
    assert main(["episode", "case-1", str(folder), "--epoch", "7"]) == 2
    assert capsys.readouterr().err == "error: --epoch 7: sample 'case-1' has the epochs 0, 1\n"


def test_question_is_printed_and_the_end_of_an_id_is_enough(folder, capsys):
    assert main(["episode", "e-1", str(folder)]) == 0
    assert "(big)\nasked: Which?\n\n[1]" in capsys.readouterr().out
    assert main(["episode", "-2", str(folder)]) == 0 and "case-2" in capsys.readouterr().out
    (folder / "records.jsonl").write_text((folder / "records.jsonl").read_text().replace("case-2", "else-1"))
    assert main(["episode", "e-1", str(folder)]) == 2
    assert "episode 'e-1': 2 samples end so; " in capsys.readouterr().err
