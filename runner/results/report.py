"""A run's report: what ran, the table, where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.results import usage
from runner.results.kinds import INFERRED, KEY
from runner.results.table import HEAD, interval, markdown, number, plain, rows


def report(manifest: Mapping[str, Any], summary: Mapping[str, Any], resume: str | None) -> str:
    """The text of ``report.md``."""
    dataset = manifest["dataset"]
    choices = ", ".join(f"{group} {choice}" for group, choice in manifest["choices"].items())
    lines = [f"# {manifest['name']}", "", f"{status_line(manifest)}", "", f"- Choices: {choices}"]
    if manifest["varied"]:
        lines.append("- Set or varied: " + ", ".join(f"{key}={value}" for key, value in manifest["varied"].items()))
    lines += [
        f"- Dataset: {dataset['name']}, split {dataset['split']}, {dataset['samples']} samples, "
        f"fingerprint {dataset['fingerprint'][:16]}",
        f"- Seed {manifest['seed']}, {manifest['epochs']} epoch(s)",
        f"- Command: `{manifest['command']}`",
    ]
    if manifest["model_kind"] == "simulated":
        lines.append("- **Simulated model: these numbers say nothing about any real model.**")
    lines += [f"- Note: {note}" for note in manifest["notes"]]
    if KEY not in manifest:
        lines.append(f"- Note: {INFERRED}")
    if held := manifest.get("sandbox"):
        kills = ", ".join(f"{name} {n}" for name, n in held.get("kills", {}).items()) or "none"
        lines.append(f"- Code of models ran in: {held['tier']}; ended cells: {kills}")
    if resume:
        lines.append(f"- To go on: `{resume}`")
    metrics, purposes = summary["metrics"], usage.purposes_of(summary["metrics"])
    whole = {name: metric for name, metric in metrics.items() if not usage.is_of_a_purpose(name, purposes)}
    lines += ["", "## Results", "", markdown(HEAD, rows(whole)), ""]
    if used := usage.lines(metrics):
        lines += [f"## {usage.TITLE.capitalize()}", "", markdown(usage.HEAD, used), ""]
    for stratum, values in summary["strata"].items():
        lines += [f"## By {plain(stratum)}", "", _by(values), ""]
    levels = manifest.get("levels") or {}
    if levels := {score: of for score, of in levels.items() if f"total/{score}" in summary["metrics"]}:
        lines += [*_means(levels), ""]
    lines += [
        "Intervals are 95 %, by the kind that the scorer declares: of proportions Wilson's, of other scores a "
        "studentised bootstrap over patients, with fewer than ten of them a score interval "
        "(docs/explanation/statistics.md). `n too small`: fewer than two patients or samples; `does not vary`: nothing "
        "says how far such a number could reach. "
        "The ceiling is what a perfect agent reaches here. Every step stands in `records.jsonl`, its texts in "
        "`texts-*.jsonl.gz`; what ran in `config.yaml` and `manifest.json`.",
        "",
    ]
    return "\n".join(lines)


def _means(levels: Mapping[str, Sequence[str]]) -> list[str]:
    """What the means of means are."""
    told = {tuple(reversed(strata)) for strata in levels.values()}
    return [
        f"`{names[0]}/...` are means of the means per {' and '.join(names[1:]) or 'sample'}, `total/...` the mean of "
        "those: what has no score is left out. Their intervals follow from the variances within each."
        for names in sorted(told)
    ]


def calls_line(manifest: Mapping[str, Any]) -> str:
    """What was sent and what the journal answered; empty where all was sent and stands in the records."""
    calls = manifest["calls"]
    found, beside, usd = calls["from_journal"], calls.get("beside", 0), manifest["spent"]["usd"]
    if not found and not beside:
        return ""
    told = f"calls:      {calls['sent']:,} sent, {found:,} answered by the journal"
    told += f"; {beside:,} of them for what is played beside" if beside else ""
    return told + (f"; ${usd:.4f} in all" if beside and usd else "")


def status_line(manifest: Mapping[str, Any]) -> str:
    """How the run ended, in one sentence; or that it did not."""
    if not (counts := manifest.get("counts")):
        return (
            f"Status {manifest.get('status')}: it has not ended, since it still runs or was killed (run.resume=FOLDER"
            " goes on with it); what follows is of the episodes played so far."
        )
    done = f"{counts['finished']} of {counts['wanted']} episodes played, {counts['errored']} errored"
    return f"Status {manifest['status']}: {done}."


def _by(values: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Metrics that have a value in some stratum as rows, the strata's values as columns."""
    names = dict.fromkeys(name for metrics in values.values() for name in metrics)
    body = [
        (name, *(_cell(metrics.get(name)) for metrics in values.values()))
        for name in names
        if any((metrics.get(name) or {}).get("value") is not None for metrics in values.values())
    ]
    return markdown(("metric", *values), body)


def _cell(metric: Mapping[str, Any] | None) -> str:
    if metric is None or metric["value"] is None:
        return "-"
    return f"{number(metric['value'])} ({interval(metric)})" if interval(metric) else number(metric["value"])
