"""Run folders of HELM: ``run_spec.json``, ``per_instance_stats.json`` and, where it is there, ``scenario_state.json``.

Source: github.com/stanford-crfm/helm, ``src/helm/benchmark/metrics/metric.py``, ``statistic.py`` and
``adaptation/request_state.py``. A sample is an instance, a perturbed one ``id/perturbation`` in the instance's cluster;
an epoch is a training trial. What HELM counts of tokens and time is usage here, not a score.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.core.messages import Message
from runner.logs.documents import document
from runner.logs.imported import Entry, Log, calls_of, cluster_in, number

STATS = "per_instance_stats.json"
_MEASURED = ("num_prompt_tokens", "num_completion_tokens", "num_output_tokens", "inference_runtime")
_ABOUT = ("num_references", "num_train_trials", "num_train_instances", "num_instances", "prompt_truncated", "num_bytes",
          "num_completions", "batch_size", "training_co2_cost", "training_energy_cost", "logprob", "max_prob",
          "inference_idealized_runtime", "inference_denoised_runtime")  # fmt: skip

Key = tuple[str, str, int]  # of an instance: its id, its perturbation, its training trial


def read_helm(folder: Path, cluster: str | None) -> Log:
    """The log in a run folder; ``cluster``: the field of the instances' ``extra_data`` that has it."""
    spec, states = document(folder / "run_spec.json"), folder / "scenario_state.json"
    adapter = spec["adapter_spec"]
    task, _, words = str(spec["name"]).partition(":")
    kept = ",".join(word for word in words.split(",") if not word.startswith("model"))
    named = [name for one in spec.get("metric_specs") or () for name in (one.get("args") or {}).get("names") or ()]
    return Log(
        folder, "HELM", f"{task}:{kept}" if kept else task, str(adapter.get("model_deployment") or adapter["model"]),
        _entries(document(folder / STATS), document(states) if states.exists() else {}, cluster),
        agent=str(adapter.get("method") or "generation"),
        settings={name: adapter[name] for name in ("temperature", "max_tokens") if name in adapter},
        decides=str(named[0]) if named else None,
    )  # fmt: skip


def _entries(stats: Any, state: Mapping[str, Any], cluster: str | None) -> Iterator[Entry]:
    found = dict[Key, dict[str, float | None]]()
    splits = dict[Key, str]()
    for one in stats:
        key = (str(one["instance_id"]), _perturbed(one), int(one["train_trial_index"]))
        for stat in one["stats"]:
            found.setdefault(key, {})[str(stat["name"]["name"])] = number(stat.get("mean")) if stat["count"] else None
            splits[key] = str(stat["name"].get("split") or "")
    asked = dict[Key, Mapping[str, Any]]()
    for request in state.get("request_states") or ():
        instance = request["instance"]
        asked.setdefault((str(instance["id"]), _perturbed(instance), int(request["train_trial_index"])), request)
    for key in dict.fromkeys([*found, *asked]):
        yield _entry(key, found.get(key), asked.get(key, {}), splits.get(key, ""), cluster)


def _perturbed(of: Mapping[str, Any]) -> str:
    return str((of.get("perturbation") or {}).get("name", ""))


def _entry(
    key: Key, stats: Mapping[str, float | None] | None, request: Mapping[str, Any], split: str, cluster: str | None
) -> Entry:
    name, perturbation, trial = key
    values, result, instance = stats or {}, request.get("result") or {}, request.get("instance") or {}
    replies = [str(one["text"]) for one in result.get("completions") or ()]
    messages = [Message("user", str(request["request"]["prompt"]))] if request else []
    messages += [Message("assistant", replies[0])] if replies else []
    error = None if result.get("success", True) else str(result.get("error") or "error")
    tokens = values.get("num_output_tokens", values.get("num_completion_tokens"))
    return Entry(
        f"{name}/{perturbation}" if perturbation else name, trial, messages,
        {score: value for score, value in values.items() if score not in (*_MEASURED, *_ABOUT)},
        calls_of(1, values.get("num_prompt_tokens"), tokens),
        answer=replies[0] if replies else None,
        error=error if stats is not None or error else "the log has no statistics of it",
        cluster=name if cluster is None else cluster_in(instance.get("extra_data"), cluster, name),
        strata={part: of for part, of in (("split", split), ("perturbation", perturbation)) if of},
        started=float(result.get("request_datetime") or 0.0),
        seconds=float(result.get("request_time") or values.get("inference_runtime") or 0.0),
    )  # fmt: skip
