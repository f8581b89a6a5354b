"""The report of a study: the hypotheses in their order, the deviations, and separately all other sections."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner.config.catalogue import CONF
from runner.protocol.analysis import Analysis, Finding
from runner.results.cells import p_text
from runner.results.intervals import Metric
from runner.results.levels import rows_by_path
from runner.results.runs import warnings_of
from runner.results.sections.page import sections_of, write_sections
from runner.results.sheets import Cell, Column, Section, Sheet, Value, columns
from runner.storage import manifest
from runner.study import log
from runner.study.frozen import Frozen
from runner.study.looks import looks

AUTHORS = "by the authors"
_GAIN = Column("gain", "", "higher", signed=True)
_ASKED = (
    "Gain: the mean difference over pairs (same sample, same seed), positive where the first arm is better, with its "
    "95 % interval over whole patients, which is not adjusted. The claim is tested on one side: p, adjusted for all "
    "hypotheses, must not exceed {:g}, which is at least as strict as the interval. Not shown is not "
    "the same as shown to be untrue. Secondary hypotheses can be shown only if all primary ones are."
)
_EXPLORATORY = "Not asked in the protocol: exploratory, without any claim. "


def sections(analysis: Analysis) -> list[Section]:
    """The hypotheses in their order, and how they were tested."""
    n = len(analysis.study.primary)
    asked = [_asked("Primary hypotheses", analysis, analysis.findings[:n])]
    if analysis.study.secondary:
        asked.append(_asked("Secondary hypotheses", analysis, analysis.findings[n:]))
    if analysis.study.strata and analysis.runs:
        asked.append(_strata(analysis))
    return [
        Section("hypotheses", "Hypotheses", _ASKED.format(analysis.level), asked),
        Section("protocol", "Protocol", analysis.study.question, [_plan(analysis), power_sheet(analysis.frozen)]),
        Section("flow", "Samples and runs", "", [_flow(analysis)]),
        Section("deviations", "Deviations and looks", "", [_deviations(analysis), _looks(analysis)]),
    ]


def write(analysis: Analysis, home: Path, asked: Sequence[Section]) -> Path:
    """Write page, Markdown and tables: the sections ``asked``, the items of guidelines, then all other sections, marked
    as exploratory. Returns the page."""
    runs, study = list(analysis.runs.values()), analysis.study
    others = [replace(one, key=f"exploratory-{one.key}", title=f"Exploratory: {one.title}",
                      intro=_EXPLORATORY + one.intro) for one in sections_of(runs)] if runs else []  # fmt: skip
    titles = tuple(one.title for one in (*asked, *others))
    guidelines = Section("checklists", "Reporting guidelines", _SOURCES, [_checklist(name, titles) for name in LISTS])
    about = f"{study.question} Frozen at {analysis.frozen.time[:16]} UTC, {len(runs)} runs."
    return write_sections(runs, home, (study.title, about, warnings(analysis)), [*asked, guidelines, *others])[0]


def warnings(analysis: Analysis) -> list[str]:
    """What a reader must know first."""
    lines = warnings_of(list(analysis.runs.values()))
    if analysis.lacking:
        lines.insert(0, f"not all planned samples were run, nothing is decided: {'; '.join(analysis.lacking)}")
    if gone := ", ".join(str(one.folder) for one in analysis.missing):
        lines.insert(0, f"runs were moved or deleted: {gone}; name their folders after the study's file")
    return lines


def _plan(analysis: Analysis) -> Sheet:
    study, frozen = analysis.study, analysis.frozen
    last = log.events(frozen.path, "frozen")[-1]
    budget = ", ".join(f"{key} {value:g}" for key, value in vars(study.budget).items() if value is not None)
    looks = ", ".join(map(str, study.looks)) or "none"
    planned = {key: json.loads(text) for one in frozen.runs for key, text in one["planned"].items()}
    facts = {
        "frozen (UTC)": frozen.time[:19].replace("T", " "),
        "time stamp": f"{last['stamped']} by {last['authority']}" if last["stamped"] else "none",
        "git": f"commit {str(frozen.git['commit'])[:10]}{', with changes' * bool(frozen.git['dirty'])}, tag"
               f" {last['tag'] or 'none'}",
        "SHA-256 of the frozen form": frozen.digest, "SHA-256 of the code": frozen.code,
        "digest of the data": planned["data.fingerprint"],
        **{f"digest of {key}": of for key, of in planned.items() if key.startswith("prompts.")},
        **{f"arm {name}": " ".join([*study.common, *words]) for name, words in study.arms.items()},
        "models": ", ".join(f"{role} {name}" for role, name in study.models.items()),
        "samples": f"{study.samples} in each arm, seeds {', '.join(map(str, study.seeds))}",
        "exclusions": "; ".join(f"{one.reason}: {one.text}" for one in study.exclusions) or "none",
        "multiplicity": f"{study.multiplicity}, alpha {study.alpha:g} (two-sided), at the end {study.final_alpha:g}",
        "stopping": f"{study.stopping} Planned looks: {looks}", "budget of a command": budget or "none",
    }  # fmt: skip
    return Sheet("What was planned", columns("item", "planned"), [[name, text] for name, text in facts.items()])


def power_sheet(plan: Frozen) -> Sheet:
    """The power of each hypothesis, and what it assumes."""
    heads = columns("hypothesis", "assumed", "samples", "patients", "alpha", "power", "samples needed")
    rows: list[list[Cell]] = []
    for one, of in zip(plan.study.hypotheses, plan.power, strict=True):
        spread = f"sd {one.sd:g}" if one.sd is not None else f"{one.differ:g} of the pairs differ"
        assumed = f"gain {one.expected:g}, {spread}, correlation within patients {one.within:g}"
        rows.append([one.name, assumed, *(of[key] for key in ("samples", "patients", "alpha", "power", "needed"))])
    notes = ["alpha: two-sided, divided by the number of hypotheses of a family with Holm, the strictest level of them"]
    return Sheet(f"{plan.study.title}: power", heads, rows, notes)


def _asked(title: str, analysis: Analysis, found: Sequence[Finding]) -> Sheet:
    heads = columns("hypothesis", "of", "less", "metric", "claim", _GAIN, ("pairs", "n"), ("patients", "n"), "p",
                    "adjusted p", "level", "result")  # fmt: skip
    rows: list[list[Cell]] = []
    for of in found:
        one, metric = of.hypothesis, Metric(None) if of.difference is None else of.difference.metric
        rows.append([one.name, *one.compare, one.metric, f"{one.kind}: {one.claim}", Value.of(metric), metric.n,
                     0 if of.difference is None else of.difference.clusters, p_text(of.p), p_text(of.p_adjusted),
                     analysis.level, of.verdict])  # fmt: skip
    lower = dict.fromkeys(of.hypothesis.metric for of in found if of.hypothesis.direction == "lower")
    notes = [f"{of.hypothesis.name} ({of.hypothesis.sentence}): {of.verdict}" for of in found]
    notes += [f"lower is better: a gain is a decrease of {name}" for name in lower]
    return Sheet(title, heads, rows, notes)


def _strata(analysis: Analysis) -> Sheet:
    """The gain in each planned group, an estimate without a test."""
    rows: list[list[Cell]] = []
    table = next(iter(analysis.tables.values()))
    for one in analysis.study.hypotheses:
        for name in analysis.study.strata:
            for (value,) in rows_by_path(table, [name]):
                if (of := analysis.difference(one, (name, value))) is not None:
                    rows.append([one.name, name, value, Value.of(of.metric), of.metric.n, of.clusters])
    heads = columns("hypothesis", "stratum", "value", _GAIN, ("pairs", "n"), ("patients", "n"))
    return Sheet("Planned strata", heads, rows, ["Estimates: nothing is tested in single groups."], keys=3)


def _flow(analysis: Analysis) -> Sheet:
    rows: list[list[Cell]] = []
    for (arm, seed), planned in analysis.frozen.episodes.items():
        run = analysis.runs.get((arm, seed))
        if run is None:
            rows.append([arm, seed, planned, 0, 0, 0, 0, "", "not run"])
            continue
        n, kept = len(run.table), analysis.tables[arm, seed]
        sessions = run.manifest.get("sessions") or ()
        names = {name for one in sessions for of in one["answered_by"].values() for name in of}
        errors = int((kept["stop"] == "error").sum())
        rows.append([arm, seed, planned, n, n - len(kept), errors, len(kept) - errors, ", ".join(sorted(names)),
                     str(run.folder)])  # fmt: skip
    heads = columns("arm", "seed", "planned", "run", "excluded", "errors", "analysed", "answered by", "folder")
    notes = [f"excluded: {one.reason}" for one in analysis.study.exclusions]
    notes += [f"started under the protocol, not analysed: {one.folder}" for one in analysis.others]
    return Sheet("Flow of samples", heads, rows, notes, keys=2)


def _deviations(analysis: Analysis) -> Sheet:
    """Whatever was run otherwise than planned, and amendments; with the reason that was given."""
    frozen, rows, before = analysis.frozen, list[list[Cell]](), ""
    for event in log.events(frozen.path):
        time = event["time"][:19]
        if time < before:
            rows.append([time, f"the clock was set back, it had been {before}", "", ""])
        if event["event"] == "frozen" and event["reason"]:
            rows.append([time, "the protocol was amended", event["reason"], ""])
        for what in event.get("deviations") or ():
            rows.append([time, what, event["reason"], f"{event['arm']}, seed {event['seed']}"])
        before = time
    for (arm, seed), run in analysis.runs.items():
        start, name = run.manifest["start"][:19], f"{arm}, seed {seed}"
        if run.manifest["protocol"]["frozen"] != frozen.digest:
            rows.append([start, "started before the last amendment", "", name])
        if (arm, seed) in analysis.cut_off:
            rows.append([start, "the study's log lacks lines that it had when this run began or ended", "", name])
        if run.manifest["status"] != "complete":
            rows.append([start, f"the run did not end as planned: {run.manifest['status']}", "", name])
    now = manifest.now()[:19]
    rows += [[now, f"a run is missing: {one.folder}", "", f"{one.arm}, seed {one.seed}"] for one in analysis.missing]
    rows += [[now, f"{one.name}: {n:,} pairs are not analysed: {why}", "", ""]
             for one in analysis.study.hypotheses for why, n in analysis.lost(one).items()]  # fmt: skip
    rows += [[now, f"when it was analysed {line}", "", ""] for line in frozen.changes()]
    return Sheet("Deviations", columns("time (UTC)", "what", "reason", "run"), rows, [] if rows else ["None."])


def _looks(analysis: Analysis) -> Sheet:
    rows: list[list[Cell]] = []
    for event, planned in looks(analysis.frozen.path):
        n = ", ".join(f"{name}: {n:,}" for name, n in event["n"].items())
        rows.append([event["time"][:19], n, event["command"], "planned" if planned else "not planned"])
    heads = columns("time (UTC)", "samples so far", "command", "look")
    return Sheet("Looks at results before all runs were complete", heads, rows, [] if rows else ["None."])


LISTS = {"tripod_llm": "TRIPOD-LLM", "consort_ai": "CONSORT-AI"}
_SOURCES = (
    "TRIPOD-LLM: Gallifant et al. 2025, Nature Medicine 31, 60-69. CONSORT-AI: Liu et al. 2020, Nature Medicine 26, "
    "1364-1374, for trials with patients; many of its items hold for a study of recorded questions, too. Items are "
    "shortened: the publications have their full text. What a machine cannot know is left to the authors."
)


def _checklist(name: str, titles: tuple[str, ...]) -> Sheet:
    """The items of a guideline, each with the sections that answer it, of those that are in this report."""
    rows: list[list[Cell]] = []
    with (CONF / "checklists" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            parts = [one for one in row["answered"].split("; ") if one.startswith(titles)]
            rest = [AUTHORS] if not parts else [one for one in row["answered"].split("; ") if one.endswith(AUTHORS)]
            rows.append([row["item"], row["asks for"], "; ".join([*parts, *rest])])
    answered = sum(row[2] != AUTHORS for row in rows)
    notes = [f"{answered} of {len(rows)} items are answered here, at least in part"]
    return Sheet(LISTS[name], columns("item", "asks for", "answered"), rows, notes)
