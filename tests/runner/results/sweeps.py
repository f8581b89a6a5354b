"""Small sweeps on disk."""

import json

from runner.results.runs import Run
from tests.runner.results.folders import CHOICES, write


def job(home, values, agent="react", dataset="cab", score="score/x", clusters=None, **settings):
    """A job of a sweep over agents and whatever else is ``varied``; scores are those of samples t-0, t-1, ..."""
    varied = {"agent": agent} | settings.pop("varied", {})
    name = "-".join([*map(str, varied.values()), dataset])
    manifest = {
        "sweep": "s", "swept": list(varied), "varied": varied, "choices": CHOICES | varied | {"dataset": dataset},
        "levels": {}, "lower": [], "decides": score,
    }  # fmt: skip
    cfg = {"agent": {"_target_": f"mine.{agent}"}, "dataset": {"path": dataset}} | {
        key: {"_target_": f"mine.{value}"} for key, value in varied.items() if key != "agent"
    }
    folder = write(home / name, {"t": ("k", values)}, cfg=cfg, **(manifest | settings))
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for n, line in enumerate(lines):
        line["scores"] = {score: line["scores"]["score/x"]}
        line["cluster"] = clusters and clusters[n]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Run.at(folder)
