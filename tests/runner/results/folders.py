"""Small run folders, written as a run writes them."""

import json
from pathlib import Path

from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Problem, Sample, Score, Step, Trajectory
from runner.storage.records import FILE, RecordWriter, record_of
from runner.storage.resume import config_text

LEVELS = {"score/x": ["task", "dimension"]}
TOOLS = (
    ToolSpec("Think", "", facts={"dimension": "inner"}),
    ToolSpec("Books", "", facts={"dimension": "knowledge"}),
    ToolSpec("Query", "", facts={"dimension": "numerical", "needs": "sql_database"}),
)
CFG = {
    "agent": {"_target_": "mine.Agent", "max_steps": 15}, "model": {"_target_": "mine.Model", "temperature": 0},
    "verifier": {"_target_": "mine.Verifier", "n": 2}, "dataset": {"_target_": "mine.Data", "split": "test"},
    "condition": {"_target_": "mine.Condition"}, "memory": None, "seed": 0, "run": {"shard": None},
}  # fmt: skip
CHOICES = {"agent": "react", "model": "openai", "verifier": "accept", "dataset": "cab", "condition": "intact"}


def step(*calls, verdict="", branch="main", committed=True, **fields):
    """A step of one action: names of tools, or an answer."""
    action = Action(Message("assistant"), tuple(ToolCall(str(n), name, "{}") for n, name in enumerate(calls)), **fields)
    return Step(
        "act", "main", branch, 0, 0, (), Message("assistant"), Usage(1, 1, 0.0), action=action, committed=committed,
        verdict=verdict,
    )  # fmt: skip


def sample(n, task, dimension, inputs=(), card=None):
    """A sample of a task."""
    problem = Problem(f"{task}-{n}", "?", inputs={kind: f"{kind}.x" for kind in inputs})
    return Sample(problem, "A", strata={"task": task, "dimension": dimension}, card=card or {})


def write(folder: Path, scored, cfg=None, steps=None, inputs=(), cards=(), **notes) -> Path:
    """A run folder, in place of one that is there. ``scored``: task -> (dimension, values); ``steps``: those of every episode; ``cards``: of the n-th
    sample of each task."""
    cfg, folder = CFG | (cfg or {}), Path(folder)
    (folder / FILE).unlink(missing_ok=True)
    writer = RecordWriter(folder)
    for task, (dimension, values) in scored.items():
        for n, value in enumerate(values):
            trajectory = Trajectory(list(steps or [step(answer="A")]), TOOLS, stop="answered", answer="A")
            scores = [Score("score/x", value)]
            made = sample(n, task, dimension, inputs, cards[n] if n < len(cards) else None)
            writer.append(record_of(made, 0, trajectory, scores, 0.1, writer.packer))
    writer.close()
    manifest = {
        "name": folder.name, "status": "complete", "levels": LEVELS, "choices": CHOICES, "model_kind": "live",
        "models": {"main": "qwen/Qwen2-7B-Instruct"}, "dataset": {
            "name": "cab", "split": "test", "samples": 4, "fingerprint": "0" * 16,
        }, "scorers": {"x": "1"}, "epochs": 1, "seed": 0, "shard": None, "notes": [], "varied": {}, "command": "run",
        "counts": {"finished": 4, "wanted": 4, "errored": 0}, "calls": {"sent": 3, "from_journal": 1}, "sweep": None,
    } | notes  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "config.yaml").write_text(config_text(cfg))
    return folder
