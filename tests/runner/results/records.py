"""Small records, as runs write them."""

from runner.results.table import Table


def record(sample, value, cluster=None, epoch=0, stop="answered", score="score/x", **strata):
    """The record of an episode."""
    usage = {"calls": 3, "input_tokens": 20, "output_tokens": 5, "cost_usd": None}
    return {
        "sample_id": str(sample), "epoch": epoch, "cluster": cluster, "strata": strata, "stop": stop,
        "scores": {score: value}, "usage": usage, "seconds": 0.5,
    }  # fmt: skip


def records(values, clusters=None, **strata):
    """One record per value; ``clusters``: the patient of each."""
    return [record(n, value, clusters and f"p{clusters[n]}", **strata) for n, value in enumerate(values)]


def change_records(run, change):
    """Let a run have its records with what ``change`` makes of each (number, record)."""
    found = run.records
    for number, one in enumerate(found):
        change(number, one)
    vars(run)["table"] = Table.of(found)
