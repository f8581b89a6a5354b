"""ReflecTool's experiments: which agent is shown which demonstration, read from the sent messages."""

import re
from pathlib import Path

import pytest
import yaml
from hydra import compose

from runner.config.catalogue import CONF
from runner.storage import records
from runner.storage.texts import TextReader
from tests.acceptance.command import run_in_process
from tests.composing import composing
from tests.slow import slow
from tests.table import each_row

FOLDER = CONF / "experiment" / "reflectool"
SMALL = ("dataset.tasks=[medqa,ehrsql]", "dataset.per_task=2", "tracking=off")
FIXED = "A 58-year-old woman with atrial fibrillation takes warfarin"
ROWS = [
    "direct", "cot_steps_one_shot", "react_one_shot", "critic_one_shot", "reflexion_one_shot", "reflectool",
    "reflectool_select",
]  # fmt: skip


def params(name: str) -> dict[str, str]:
    """The parameters that an experiment sweeps."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())["hydra"]["sweeper"]["params"]


def read_requests(folder: Path) -> list[tuple[str, str, str]]:
    """Sample, purpose and text (before any reply of the agent) of every request of a run."""
    texts, found = TextReader(folder), []
    for record in records.read(folder):
        sent: dict[str, list[str]] = {}
        for step in record["steps"]:
            own = sent[step["branch"]] = sent.get(step["branch"], [])[: step.get("kept", 0)]
            own += [texts[m["text"]["ref"]] if isinstance(m["text"], dict) else m["text"] for m in step["asked"]]
            found.append((record["sample_id"], step["purpose"], "\n".join(own[:2])))
    return found


def demonstrations(text: str) -> list[str]:
    """The demonstrations of a request, each to the answer that it ends with."""
    before = re.split(r"^\[(?:Previous_Trial|Execution)\]$", text, maxsplit=1, flags=re.MULTILINE)[0]
    shown = re.findall(r"^Tasks that were solved before:$(.*)", before, re.DOTALL | re.MULTILINE)
    whole = re.compile(r"\n\n(.*?^Action: Finish\[)", re.DOTALL | re.MULTILINE)
    return [one for block in shown for one in whole.findall(block)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Table 2 in small: row -> its requests."""
    home = tmp_path_factory.mktemp("table2")
    done = run_in_process(home, "-m", "experiment=reflectool/table2", *SMALL, "hydra.sweep.dir=sweep", own=False)
    assert done.code == 0, done.err
    return {row: read_requests(home / "sweep" / f"agent-{row}") for row in ROWS}


def test_tables_2_and_5_are_one_sweep_with_plain_refined_and_selected_rows():
    assert params("table2") == {"agent": ",".join(ROWS)}
    assert params("fig5") == {"agent": ",".join(ROWS[2:])}


@slow
@each_row("row", ROWS)
def test_table_2_shows_each_agent_one_demonstration_and_the_bare_model_none(table, row):
    acts = [text for _, purpose, text in table[row] if purpose == "act"]
    assert bool(acts) is (row != "direct") and table[row]
    assert all(len(demonstrations(text)) == text.count("[Example]") == 1 for text in acts)
    if row.startswith("reflectool"):
        assert not any(FIXED in text for _, _, text in table[row])
    else:
        assert all(FIXED in text for text in acts)
        assert not any(FIXED in text or "[Example]" in text for _, purpose, text in table[row] if purpose != "act")


@slow
@each_row("row", ROWS[1:])
def test_agents_of_table_2_have_the_same_task_role_limit_and_form_of_the_answer(table, row):
    acts = [text for name, purpose, text in table[row] if purpose == "act" and name.startswith("medqa")]
    for part in (
        "You are a clinician who is at home with medical literature, patient records, databases and images.\n",
        "- There are at most 15 actions; the last one closes the task.\n",
        "Where the task gives options, close with the letter and the text of one of them.",
    ):
        assert acts and all(text.count(part) == 1 for text in acts)
    tasks = {re.search(r"\[Execution\]\n(.*?\nA\. .*?\nB\. )", text, re.DOTALL)[1] for text in acts}
    assert len(tasks) == 2 and not any("Answer: <" in text for text in acts)


@slow
@each_row("row", ["direct", "cot_steps_one_shot", "critic_one_shot"])
def test_database_questions_without_tools_may_be_answered_in_sql(table, row):
    blind = "act" if row == "cot_steps_one_shot" else "answer"
    questions = [text for name, purpose, text in table[row] if purpose == blind and name.startswith("ehrsql")]
    assert questions and all("one SQL statement" in text and "Tables of the database" in text for text in questions)


@slow
@pytest.mark.parametrize("row", ["reflectool", "reflectool_select"])
def test_reflectool_demonstrations_were_solved_for_the_same_task(table, row):
    shown = {
        (name.partition("-")[0], demonstrations(text)[0]) for name, purpose, text in table[row] if purpose == "act"
    }
    by_task = {task: [text for one, text in shown if one == task] for task in ("medqa", "ehrsql")}
    assert all("sql_database" in text for text in by_task["ehrsql"]) and by_task["ehrsql"]
    assert not any("sql_database" in text for text in by_task["medqa"]) and by_task["medqa"]


@slow
@each_row("row", ROWS[1:])
def test_agents_of_table_2_act_in_the_same_way(row):
    with composing():
        cfg = compose("config", ["experiment=reflectool/table2", f"agent={row}"], return_hydra_config=True)
    assert (cfg.agent.shots, cfg.agent.max_steps, cfg.agent.force_finish, cfg.agent.grammar) == (
        1, 15, True, "bracket_json",
    )  # fmt: skip
    ours = row.startswith("reflectool")
    chosen = cfg.hydra.runtime.choices
    assert chosen.memory == ("learnt" if ours else "demonstrations")
    assert chosen.verifier == ({"reflectool": "refine", "reflectool_select": "select"}[row] if ours else "accept")
    assert not ours or (cfg.memory.per, cfg.memory.samples, cfg.memory.stage.per) == ("task", 200, "task")


@slow
def test_table_3_has_each_part_left_out_and_unchecked_steps_as_one_row(tmp_path):
    small = ("dataset.tasks=[mmlu]", "dataset.per_task=1", "tracking=off")
    done = run_in_process(tmp_path, "-m", "experiment=reflectool/table3", *small, "hydra.sweep.dir=sweep", own=False)
    assert done.code == 0, done.err
    jobs = {path.parent.name for path in (tmp_path / "sweep").glob("*/records.jsonl")}
    parts = ("long_term-True", "long_term-False", "reflected-False", "experience-False")
    modes = {f"verifier-{mode}+memory-{part}" for mode in ("refine", "select") for part in parts}
    assert jobs == {*modes, "verifier-accept+memory-long_term-True"}
    for job in jobs:
        fixed = any(FIXED in text for _, _, text in read_requests(tmp_path / "sweep" / job))
        assert fixed is job.endswith("long_term-False")


@slow
@pytest.mark.parametrize(
    ("agent", "words", "shown"),
    [
        ("react", ("dataset=ehr_mini", "toolset=ehr", "scorer=ehr", "agent.shots=2"), "Action: LoadDB["),
        ("critic", ("agent.shots=1", "condition=intact"), "nodules on both shins"),
        ("reflexion", (*SMALL[:1], "dataset=cab_mini", "agent.shots=1"), FIXED),
    ],
)
def test_any_agent_is_shown_demonstrations_on_any_data(tmp_path, agent, words, shown):
    common = (f"agent={agent}", "memory=demonstrations", "limit=1", "tracking=off", "hydra.run.dir=run")
    done = run_in_process(tmp_path, *words, *common, own=False)
    assert done.code == 0, done.err
    acts = [text for _, purpose, text in read_requests(tmp_path / "run") if purpose == "act"]
    n = 2 if "agent.shots=2" in words else 1
    assert acts and all(len(demonstrations(text)) == n and shown in text for text in acts)
    assert agent != "critic" or "Action: TOOL" in acts[0].partition("[Example]")[2]
