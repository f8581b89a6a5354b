"""Runs with episodes for the page."""

import json
import re

import yaml

from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Problem, Refusal, Sample, Score, Step, Trajectory
from runner.results.runs import Run
from runner.storage.records import RecordWriter, record_of
from tests.runner.results import folders
from tests.runner.results.page.test_episodes_packed import unpacked

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold</b> \u2028 \x1b[31mred \u202eright\r\n\u0000"
WRITTEN = HOSTILE.replace("\u2028", "\\u2028").replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
WRITTEN = WRITTEN.replace("\r\n", "\n").replace("\x00", "\\x00")
LONG = "long " * 100_000
STOPS = ("answered", "failed", "error", "refused", "limit")


def data(section, name):
    """A block of the page."""
    return unpacked(re.search(rf'id="episodes-{name}">([^<]*)<', section.parts[0].html)[1])


def written(folder, pairs, cfg=None, **notes):
    """A run folder of (sample, trajectory, score)."""
    writer = RecordWriter(folder)
    for name, trajectory, value in pairs:
        sample = Sample(Problem(name, "?"), "A", strata={"task": name[0]})
        scores = [] if value is None else [Score("score/x", value, "read it")]
        writer.append(record_of(sample, 0, trajectory, scores, 0.5, writer.packer))
    writer.close()
    manifest = {"name": "x", "choices": folders.CHOICES, "models": {"main": "big"}, "dataset": {"name": "d"}, "seed": 0}
    (folder / "manifest.json").write_text(json.dumps(manifest | notes))
    (folder / "config.yaml").write_text(yaml.safe_dump(folders.CFG | (cfg or {})))
    return Run.at(folder)


def episode(name, *calls, stop="answered", text="B"):
    """A trajectory that calls tools one after the other, then answers."""
    steps = [_step(f"I call {call}.", ToolCall("1", call, '{"q": 1}'), name) for call in calls]
    failure = "lost" if stop == "failed" else None
    refusal = Refusal({"problem": "ToolMissing"}) if stop == "refused" else None
    answer = text if stop == "answered" else None
    error = "provider: gone" if stop == "error" else None
    steps.append(_step(f"It is {text}.", None, name))
    return Trajectory(steps, folders.TOOLS, stop=stop, answer=answer, failure=failure, refusal=refusal, error=error)


def _step(text, call, name):
    asked = (Message("system", "Rules of the house. " * 20), Message("user", f"Answer in one word.\nWhat is {name}?"))
    action = Action(Message("assistant"), (call,)) if call else Action(Message("assistant"), answer="B")
    observed = [Observed(call, Observation(f"page of {call.name}"))] if call else []
    return Step("act", "main", "main", 0, 0, asked, Message("assistant", text), Usage(10, 5, 0.5), action=action, observed=observed)  # fmt: skip


def two_runs(home):
    """Two runs of five samples: equal, differing at a call, differing at the answer, or one stopping early."""
    ways = {"a/1": ("Books",), "b-2": ("Books", "Think"), "c-3": ("Books",), "d-4": (), "e-5": ("Think",)}
    one = [
        (name, episode(name, *ways[name], stop=stop), float(stop == "answered"))
        for name, stop in zip(ways, STOPS, strict=True)
    ]
    ways |= {"b-2": ("Books", "Query"), "c-3": ("Books", "Books"), "e-5": ("Think",)}
    two = [(name, episode(name, *ways[name], text="C" if name == "e-5" else "B"), 1.0) for name in ways]
    return [
        written(home / "one", one),
        written(home / "two+cfg", two, {"verifier": {"_target_": "mine.Verifier", "n": 5}}),
    ]


def hostile_run(home):
    """A run whose every text is an injection attempt."""
    trajectory = episode("a", "Books", text=LONG)
    trajectory.offered = (ToolSpec(HOSTILE, HOSTILE, card=HOSTILE),)
    trajectory.steps[0].reply = Message("assistant", HOSTILE, reasoning=HOSTILE)
    trajectory.steps[0].remarks = {"label": HOSTILE}
    trajectory.steps[0].observed = [Observed(ToolCall("1", HOSTILE, HOSTILE), Observation(HOSTILE), HOSTILE)]
    return written(home / "h\udcff<b>", [(HOSTILE, trajectory, 1.0)])
