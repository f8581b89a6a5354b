from components.core.score_names import JUDGED, SOUND, SUPPORTED
from runner.report import main
from runner.results.runs import Run
from runner.results.sections.audit import audit
from tests.runner.results.folders import write

CELLS = ["right_unsound", "wrong_unsound", "wrong_sound", "right_sound"]


def run_of(folder, cells, judged=()):
    """A run of episodes in these cells."""
    write(folder, {"chest": ("a", [1.0] * len(cells))})
    path, lines = folder / "records.jsonl", []
    for n, (line, cell) in enumerate(zip(path.read_text().splitlines(), cells, strict=True)):
        scores = {f"audit/{name}": float(name == cell) for name in CELLS} | {SOUND: float("_s" in cell)}
        scores |= {SUPPORTED: float("_s" in cell)}
        scores |= {JUDGED.format("audit_support", "support", "whole"): judged[n]} if judged else {}
        text = ",".join(f'"{name}":{value}' for name, value in scores.items())
        lines.append(line.replace('"score/x":1.0', text))
    path.write_text("\n".join(lines) + "\n")
    return Run.at(folder)


def sheets(run):
    return {sheet.title: sheet for sheet in audit([run]).parts}


def test_examples_begin_with_right_answers_by_unsound_ways_and_link_to_them(tmp_path):
    rows = sheets(run_of(tmp_path, ["right_sound", "wrong_sound", "right_unsound"]))["Examples"].rows
    assert [row[1:3] for row in rows] == [
        ["right, unsound", "chest-2"], ["wrong, sound", "chest-1"], ["right, sound", "chest-0"],
    ]  # fmt: skip
    assert rows[0][3].link.endswith("/chest-2/0")


def test_a_judge_is_compared_with_the_rules(tmp_path):
    run = run_of(tmp_path, ["right_sound", "wrong_unsound", "right_unsound"], judged=[1.0, 1.0, 0.0])
    assert sheets(run)["Right and wrong answers by sound and unsound ways"].rows[0][-1] == 2 / 3


def test_runs_without_an_audit_have_no_section(tmp_path, capsys):
    write(tmp_path, {"chest": ("a", [1.0])})
    assert main(["audit", str(tmp_path)]) == 2
    assert "audit: these runs have nothing for this section" in capsys.readouterr().err
