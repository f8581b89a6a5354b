"""Agents of others and tools over MCP in whole runs: replayed, resumed, and as they are without the protocol."""

import pytest

from tests.acceptance.command import ROOT, read_manifest, read_records, run_in_process
from tests.slow import slow

PLAIN = ROOT / "docs" / "examples" / "plain_agent.py"
AGENTS = ROOT / ".venv-agents" / "bin" / "python"


def test_a_program_is_recorded_and_replayed_like_any_agent(tmp_path):
    words = (f"agent.command=[python,{PLAIN}]", "agent=external", "dataset=cab_mini", "toolset=clinical", "limit=2")
    first = run_in_process(tmp_path, *words, "tracking=off", own=False)
    again = run_in_process(tmp_path, *words, "tracking=off", "run.replay=true", own=False)
    assert (first.code, again.code) == (0, 0), first.err + again.err
    records = read_records(first.folder)
    assert records == read_records(again.folder) and read_manifest(again.folder)["calls"]["sent"] == 0
    assert {step["purpose"] for one in records for step in one["steps"]} >= {"act"}
    assert any(step.get("observed") for one in records for step in one["steps"])


@slow
def test_served_tools_give_the_scores_of_tools_in_this_process(tmp_path):
    words = ("agent=react", "dataset=cab_mini", "tracking=off", "limit=40")
    here = run_in_process(tmp_path, *words, "toolset=clinical", "toolset.use=know", own=False)
    server, main = tmp_path / "server.py", "main(['toolset=clinical', 'toolset.use=know', 'dataset=cab_mini'])"
    server.write_text(f"from runner.mcp import main\n\n{main}\n")
    command = "toolset.servers.clinical.command=[python,server.py]"
    kept = ("experiment=mcp", "tracking=off", "toolset.cards=cards.json", command)
    served = run_in_process(tmp_path, *kept, own=False)
    assert (here.code, served.code) == (0, 0), here.err + served.err
    manifest = read_manifest(served.folder)
    assert list(manifest["servers"]) == ["clinical"]
    scores = [
        {one["sample_id"]: [score[:2] for score in one["scores"]] for one in read_records(done.folder)}
        for done in (here, served)
    ]
    assert scores[0] == scores[1]
    assert "Servers of tools, with what identifies them: clinical (" in (served.folder / "report.md").read_text()
    server.unlink()
    again = run_in_process(tmp_path, *kept, "run.replay=true", own=False)
    assert again.code == 0 and read_records(again.folder) == read_records(served.folder), again.err


@slow
def test_a_run_is_not_resumed_with_another_server(tmp_path):
    server = (ROOT / "tests" / "components" / "tools" / "mcp" / "server.py").read_text()
    (tmp_path / "server.py").write_text(server)
    words = ("agent=react", "toolset=mcp", "toolset.servers={calc:{command:[python,server.py,plain]}}", "tracking=off")
    done = run_in_process(tmp_path, *words, "dataset=cab_mini", "limit=2", own=False)
    assert done.code == 0, done.err
    (tmp_path / "server.py").write_text(server.replace("Repeats.", "Repeats what it hears."))
    again = run_in_process(tmp_path, *words, "dataset=cab_mini", "limit=2", f"run.resume={done.folder}", own=False)
    assert again.code == 2 and "was started with another value of servers: it was {'calc': " in again.err


@slow
@pytest.mark.skipif(not AGENTS.exists(), reason="not installed: make .venv-agents/.installed")
@pytest.mark.parametrize("verifier", ["accept", "select"])
def test_an_agent_of_the_openai_agents_sdk_runs_unchanged(verifier, tmp_path):
    program = ROOT / "docs" / "examples" / "openai_agents_agent.py"
    words = (f"agent.command=[{AGENTS},{program}]", "agent=external", "dataset=cab_mini", "toolset=clinical")
    done = run_in_process(tmp_path, *words, f"verifier={verifier}", "limit=3", "tracking=off", own=False)
    assert done.code == 0, done.err
    records = read_records(done.folder)
    assert [one["stop"] for one in records] == ["answered"] * 3 and not any(one["error"] for one in records)
    assert any(step.get("observed") for one in records for step in one["steps"])
    if verifier == "select":
        assert any("select" in str(step.get("verdict")) for one in records for step in one["steps"])
