"""A run folder of HELM: three instances, one of them perturbed too, and one whose request failed."""

import json


def _stat(name, value, perturbation=None):
    """A statistic of one instance, as ``Stat.add`` makes it; none for a value of None."""
    of = {"name": name, "split": "test"} | ({"perturbation": perturbation} if perturbation else {})
    if value is None:
        return {"name": of, "count": 0, "sum": 0, "sum_squared": 0}
    return {"name": of, "count": 1, "sum": value, "sum_squared": value**2, "min": value, "max": value, "mean": value,
            "variance": 0, "stddev": 0}  # fmt: skip


def _state(name, text, perturbation=None, error=None):
    instance = {
        "input": {"text": "Q"},
        "references": [],
        "split": "test",
        "id": name,
        "extra_data": {"ward": "w" + name[2:]},
    }
    result = {"success": error is None, "completions": [{"text": text, "logprob": 0, "tokens": []}] if text else [],
              "cached": False, "request_time": 0.5, "request_datetime": 1_700_000_000}  # fmt: skip
    return {
        "instance": instance | ({"perturbation": perturbation} if perturbation else {}), "train_trial_index": 0,
        "request": {"model": "openai/gpt-4", "prompt": f"What is {name}?"},
        "result": result | ({"error": error} if error else {}),
    }  # fmt: skip


def write(folder):
    """Write it. Returns the folder."""
    typo = {"name": "typos", "robustness": True, "fairness": False}
    folder.mkdir(parents=True)
    spec = {
        "name": "med_qa:method=joint,model=openai_gpt-4", "adapter_spec": {"method": "joint", "model": "openai/gpt-4"},
        "metric_specs": [{"class_name": "Basic", "args": {"names": ["exact_match", "f1_score"]}}],
    }  # fmt: skip
    rows = [("id1", None, 1.0, 0.5), ("id2", None, 0.0, None), ("id1", typo, 0.0, 0.25)]
    stats = [
        {"instance_id": name, "train_trial_index": 0,
         "stats": [_stat("num_references", 4, of), _stat("f1_score", f1, of), _stat("exact_match", exact, of),
                   _stat("num_prompt_tokens", 20, of), _stat("num_output_tokens", 3, of)]}
        | ({"perturbation": of} if of else {})
        for name, of, exact, f1 in rows
    ]  # fmt: skip
    states = [_state("id1", "B"), _state("id2", "C"), _state("id1", "D", typo), _state("id3", "", error="rate limit")]
    for name, value in (
        ("run_spec", spec),
        ("per_instance_stats", stats),
        ("scenario_state", {"request_states": states}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder
