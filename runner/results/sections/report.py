"""The report of one run: what ran, its metrics, where to look. ``report.md`` and the terminal have the same tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from runner.results import metrics as usage
from runner.results.cells import interval, markdown_text, number, plain
from runner.results.intervals import MetricJSON
from runner.results.kinds import INFERRED, KEY, better, group_by
from runner.results.metrics import Summary
from runner.results.render.formats import markdown_of
from runner.results.rows import headline
from runner.results.sheets import ARROWS, Cell, Sheet, Value, columns
from runner.results.terminal import show_sheet
from runner.storage.schema import Manifest, Session

_TOTALS = ("cost", "tokens", "calls", "time")
_ENDINGS = ("stop", "errors")
_UNASKED = ("bug:", "program:", "mcp_server:")  # errors that are of no call to a model
_FEW = 6  # scores that are all printed
_EXPLAINED = (
    "Intervals are 95 %, by the kind that the scorer declares: of proportions Wilson's, of other scores a "
    "studentised bootstrap over patients, with fewer than ten of them a score interval "
    "(docs/explanation/statistics.md). `n too small`: fewer than two patients or four samples; `does not vary`: "
    "no spread was seen, so its precision is unknown. "
    "The ceiling is what a perfect agent reaches here. Every step is in `records.jsonl`, its texts in "
    "`texts-*.jsonl.gz`; what ran in `config.yaml` and `manifest.json`."
)
Metrics = Mapping[str, MetricJSON]


def report(manifest: Manifest, summary: Summary, resume: str | None) -> str:
    """The text of ``report.md``."""
    metrics, levels = summary["metrics"], manifest.get("levels") or {}
    of_a_purpose = {f"{kind}/{name}" for kind in ("calls", "tokens", "cost") for name in usage.purposes_of(metrics)}
    whole = {name: metric for name, metric in metrics.items() if "/".join(name.split("/")[:2]) not in of_a_purpose}
    sheets = [_results("Results", whole, manifest), *purposes(metrics)]
    for stratum, values in summary["strata"].items():
        names = dict.fromkeys(name for part in values.values() for name in part)
        rows = [[name, *(Value.from_json(part.get(name)) for part in values.values())] for name in names]
        rows = [row for row in rows if any(cell is not None for cell in row[1:])]
        sheets.append(Sheet(f"By {stratum}", columns("metric", *values), rows))
    lines = [f"# {markdown_text(manifest['name'])}", status_line(manifest), "\n".join(_facts(manifest, resume))]
    for sheet in sheets:
        lines += [f"## {markdown_text(sheet.title)}", markdown_of(sheet)]
    for path in sorted({tuple(reversed(strata)) for score, strata in levels.items() if f"total/{score}" in metrics}):
        lines.append(
            f"`{path[0]}/...` are means of the means per {' and '.join(path[1:]) or 'sample'}, `total/...` the mean of "
            "those, without unscored samples. Their intervals follow from the variances within each."
        )
    return "\n\n".join([*lines, _EXPLAINED]) + "\n"


def _facts(manifest: Manifest, resume: str | None) -> list[str]:
    dataset = manifest["dataset"]
    choices = ", ".join(f"{group} {choice}" for group, choice in manifest["choices"].items())
    varied = ", ".join(f"{key}={value}" for key, value in manifest["varied"].items())
    name, split = markdown_text(dataset["name"]), markdown_text(dataset["split"])
    lines = [f"- Choices: {choices}", *([f"- Set or varied: {markdown_text(varied)}"] if varied else [])]
    lines += [
        f"- Dataset: {name}, split {split}, {dataset['samples']} samples, fingerprint {dataset['fingerprint'][:16]}",
        f"- Seed {manifest['seed']}, {manifest['epochs']} epoch(s)",
        f"- Command: `{manifest['command']}`",
    ]
    if manifest["model_kind"] == "simulated":
        lines.append("- **Simulated model: these numbers say nothing about any real model.**")
    lines += [
        f"- Note: {markdown_text(note)}" for note in [*manifest["notes"], *([] if KEY in manifest else [INFERRED])]
    ]
    if sandbox := manifest.get("sandbox"):
        kills = ", ".join(f"{name} {n}" for name, n in sandbox.get("kills", {}).items()) or "none"
        lines.append(f"- Code of models ran in: {sandbox['tier']}; ended cells: {kills}")
    if servers := manifest.get("servers"):
        shown = ", ".join(f"{markdown_text(name)} ({digest})" for name, digest in servers.items())
        lines.append(f"- Servers of tools, with what identifies them: {shown}")
    return [*lines, *([f"- To resume: `{resume}`"] if resume else [])]


def present(title: str, facts: Manifest, summary: Summary, whole: bool = False) -> None:
    """Print a run's metrics as a table, the score that decides first, and totals in one line. Unless ``whole``: the
    first score of each group and the endings that occurred; else also the other scores, the undefined by name, values
    of strata, and what a question costs by purpose."""
    metrics, decides = summary["metrics"], facts.get("decides") or next(iter(facts.get("levels") or ()), "")
    decides = total if (total := f"total/{decides}") in metrics else decides
    main = {name: one for name, one in metrics.items() if name.partition("/")[0] not in _TOTALS}
    names = dict.fromkeys([decides, *(main if whole else _first_names(main, facts, summary))])
    rows = {name: main[name] for name in names if name in main and main[name]["value"] is not None}
    zero = decides in rows and rows[decides].get("ceiling") == 0 and better(decides, [facts]) == "higher"
    why = " (0 is all that a perfect agent reaches of it here: look at the other scores)" if zero else ""
    first = f"{decides} decides{why}; " if decides in rows else ""
    show_sheet(replace(_results(title, rows, facts), notes=[f"{first}↑ higher is better, ↓ lower"] if rows else []))
    undefined = [name for name, one in main.items() if one["value"] is None]
    if undefined and whole:
        print(f"not defined here: {plain(', '.join(undefined))}")  # noqa: T201
    if metrics:
        print(totals(metrics, facts.get("errors", ())))  # noqa: T201
    for sheet in purposes(metrics) if whole else ():
        show_sheet(sheet)


def _first_names(main: Metrics, facts: Manifest, summary: Summary) -> list[str]:
    """The first score of each group, or all where they are few, and the endings that occurred."""
    groups = group_by(main, lambda name: name.partition("/")[0])
    scored = [group for group in groups if group not in (*summary["strata"], *_ENDINGS)]
    valued = [[name for name in groups[group] if main[name]["value"] is not None] for group in scored]
    most = _FEW if sum(map(len, valued)) <= _FEW else 1
    names = headline([{name: main[name] for of in valued for name in of[:most]}], len(main), [facts])
    return [*names, *(name for group in _ENDINGS for name in groups.get(group, ()) if main[name]["value"])]


def _results(title: str, metrics: Metrics, facts: Manifest) -> Sheet:
    """A row per metric: its direction and interval, how many samples count and how many were not scored."""
    rows: list[list[Cell]] = []
    for name, one in metrics.items():
        unscored = f" (+{one['unscored']} unscored)" if one.get("unscored") else ""
        value = None if one["value"] is None else Value(one["value"])
        directed = f"{name} {ARROWS[better(name, [facts])]}".strip()
        rows.append([directed, value, interval(one), f"{one['n']}{unscored}", one.get("ceiling")])
    return Sheet(title, columns("metric", "value", "95 % interval", "n", "ceiling"), rows)


def purposes(metrics: Metrics) -> list[Sheet]:
    """What a question costs by purpose, and in all; nothing where there is one purpose only."""
    n = metrics["calls/total"]["n"] if "calls/total" in metrics else 0
    values = {name: one["value"] for name, one in metrics.items()}
    if not (found := usage.per_purpose(values, n)):
        return []
    rows: list[list[Cell]] = [
        [f"{purpose} (not in all)" if purpose == usage.APART else purpose, *of] for purpose, of in found.items()
    ]
    rows.append(["all", *usage.divide([values[name] for name in usage.TOTALS], n)])
    return [Sheet("Per question, by purpose", columns("purpose", *usage.COLUMNS), rows)]


def totals(metrics: Metrics, errors: Iterable[str] = ()) -> str:
    """Cost, tokens, calls and time of a run in one line; ``errors``: what ended its samples."""
    value = {name: one["value"] for name, one in metrics.items()}
    seconds = f"{value['time/seconds_p50']:.3f} s a sample (median)"
    if not value["calls/total"] and any(not text.startswith(_UNASKED) for text in errors):
        return f"no call was answered, cost not known, {seconds}"  # one without a reply may have been billed
    cost = "cost not known" if value["cost/usd"] is None else f"${value['cost/usd']:.4f}"
    calls = f"{number(value['calls/total'])} calls ({value['calls/per_sample']:.1f} a sample)"
    return f"{calls}, {tokens_text(value['tokens/input'], value['tokens/output'])}, {cost}, {seconds}"


def tokens_text(tokens_in: float | None, tokens_out: float | None) -> str:
    """Tokens in and out in words, also where a call did not report them."""
    if tokens_in is None or tokens_out is None:
        return "tokens not known"
    return f"{number(tokens_in)} tokens in, {number(tokens_out)} out"


def calls_line(manifest: Manifest, n_before: int = 0) -> str:
    """What was sent and what the journal answered since this start; empty where all was sent now and is in the records.
    ``n_before``: samples that earlier parts of the run finished."""
    *before, now = manifest["sessions"]
    apart, usd = now.get("separate", 0), manifest["spent"]["usd"]
    if not now["from_journal"] and not apart and not n_before:
        return ""
    text = calls_of([now])
    text += f"; {apart:,} of them apart from the episodes" if apart else ""
    text += f"; ${usd:.4f} in all" if apart and usd else ""
    n_sent = sum(one["sent"] for one in before)
    return text + (f"; {n_before:,} samples finished before ({n_sent:,} calls sent)" if n_before else "")


def calls_of(sessions: Sequence[Session], over: str = "") -> str:
    """What was sent and what the journal answered. Where nothing was sent, when that was last written: a dead server or
    a wrong key is not noticed then."""
    sent, found = sum(one["sent"] for one in sessions), sum(one["from_journal"] for one in sessions)
    text = f"calls:      {sent:,} sent, {found:,} answered by the journal{over}"
    if sent or not found:
        return text
    written = max((one.get("journal_written") or 0.0 for one in sessions), default=0.0)
    date = f", last written {datetime.fromtimestamp(written):%Y-%m-%d %H:%M}" if written else ""
    return f"{text}{date}: no model was asked"


def status_line(manifest: Manifest, n_records: int | None = None) -> str:
    """How the run ended, in one sentence; or that it did not. ``n_records``: as many are there now."""
    if not (counts := manifest.get("counts")):
        return (
            f"Status {manifest.get('status')}: it still runs or was killed (run.resume=FOLDER "
            "resumes it); the following is about the episodes finished so far."
        )
    done = f"{counts['finished']} of {counts['wanted']} episodes finished, {counts['errored']} errored"
    if n_records is not None and n_records < counts["finished"]:
        done = f"{n_records} of {counts['wanted']} episodes are in records.jsonl, {counts['finished']} were finished"
    return f"Status {manifest['status']}: {done}."
