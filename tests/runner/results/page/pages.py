"""Run folders with metrics, and pages parsed as a browser does."""

import json

from lxml import html

from runner.results.kinds import kinds_of
from runner.results.metrics import summarise
from runner.results.runs import Run
from runner.storage.records import read, slim
from tests.runner.results.folders import CFG, CHOICES, write

HOSTILE = '</script><script>alert("1")</script><img src=x onerror=alert(2)> & a|b $_{x}$ \\input{y} =1+1'
BROAD = ".//svg[@class='broad']"


def made(folder, scored, cfg=None, lower=(), **notes):
    """A run with ``metrics.json``, as after its end."""
    path = write(folder, scored, cfg, lower=list(lower), **notes)
    records = [slim(record) for record in read(path)]
    manifest = json.loads((path / "manifest.json").read_text())
    metrics = summarise(records, manifest.get("levels"), kinds=kinds_of(manifest, records))
    (path / "metrics.json").write_text(json.dumps(metrics))
    return Run.at(path)


def grid(home, values, agents=("react", "cot"), conditions=("intact", "withheld"), **notes):
    """Runs of a sweep over agents and conditions. ``values``: (agent, condition) -> values of the task one."""
    runs = []
    for agent in agents:
        for condition in conditions:
            cfg = {"agent": CFG["agent"] | {"kind": agent}, "condition": {"_target_": "mine.C", "kind": condition}}
            choices = CHOICES | {"agent": agent, "condition": condition}
            scored = {"one": ("k", values[agent, condition])}
            swept = {"sweep": home.name, "swept": ["agent", "condition"]}
            varied = {"agent": agent, "condition": condition}
            name = f"{agent}+{condition}"
            runs.append(made(home / name, scored, cfg, choices=choices, varied=varied, **swept, **notes))
    return runs


def cells(sheet):
    """The rows of a table, by column."""
    return [dict(zip([column.name for column in sheet.columns], row, strict=True)) for row in sheet.rows]


def tips(plot):
    """The tooltips of a broad plot: its points and bars, in the order in which they are drawn."""
    return [
        one.text for one in html.fragment_fromstring(plot.svg).xpath(f"{BROAD}//*[self::circle or self::rect]/title")
    ]


def written_on(plot):
    """The texts of a broad plot, its legend and the titles of its axes included."""
    return [
        one.text for one in html.fragment_fromstring(plot.svg).xpath(f"{BROAD}//text | .//span | .//p[@class='axis']")
    ]


def parsed(text):
    """A page as a tree."""
    return html.document_fromstring(text)
