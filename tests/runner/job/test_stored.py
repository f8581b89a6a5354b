"""Export of episodes in the layout of their method."""

import json

import pytest

from runner.report import main
from tests.slow import slow

EXPORTS = """
@dataclass(frozen=True)
class Exports(Asks):
    @property
    def requirements(self):
        return Requirements(export=self.export)

    def export(self, sample, trajectory):
        said = [step.reply.text for step in trajectory.steps]
        return {"question": sample.problem.question, "gold": sample.target, "said": said, "error": trajectory.stop}
"""


@pytest.fixture
def finished_sweep(home):
    """A sweep over an agent with a layout and one without."""
    path = home.path / "mine" / "parts.py"
    path.write_text(path.read_text() + EXPORTS)
    home.write("agent/exports", "_target_: mine.parts.Exports\ntimes: 2")
    assert home.run("-m", "agent=asks,exports", "dataset.n=3", "epochs=2").code == 0
    return home.runs()[0]


@slow
def test_episodes_are_exported_in_the_layout_of_their_method(finished_sweep, capsys):
    folder = finished_sweep / "agent-exports"
    assert main(["export", str(folder)]) == 0
    assert capsys.readouterr().out == f"6 episodes written to {folder}/export.jsonl\n"
    lines = [json.loads(line) for line in (folder / "export.jsonl").read_text().splitlines()]
    assert [(one["id"], one["epoch"]) for one in lines] == [(f"q{n}", epoch) for n in range(3) for epoch in (0, 1)]
    first = lines[0]
    assert (first["question"], first["gold"], first["said"]) == ("question 0?", "A", ["A", "A"])
    assert (first["method"], first["model"], first["dataset"], first["split"]) == ("exports", "echo", "numbers", "test")
    assert first["error"] == "answered", "keys of the agent take precedence"
    assert first["usage"]["calls"] == 2 and first["settings"]["agent"]["times"] == 2


@slow
def test_agent_without_an_export_layout_is_refused_in_one_line(finished_sweep, capsys):
    assert main(["export", str(finished_sweep / "agent-asks")]) == 2
    assert capsys.readouterr().err == "error: export: the agent asks has no export format (Requirements.export)\n"
    assert not (finished_sweep / "agent-asks" / "export.jsonl").exists()
    assert main(["export", str(finished_sweep)]) == 0
    assert "left out, without an export format: asks" in capsys.readouterr().out
    assert (finished_sweep / "agent-exports" / "export.jsonl").is_file()


@slow
def test_run_with_a_truncated_config_is_not_rescored(finished_sweep, capsys):
    folder = finished_sweep / "agent-exports"
    (folder / "config.yaml").write_text("name: scratch\n")
    assert main(["rescore", str(folder)]) == 2
    assert capsys.readouterr().err == f"error: {folder}/config.yaml is damaged: it is not the config of a run\n"
