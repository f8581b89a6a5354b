"""The types that other packages use."""

import dataclasses

import pytest

from components.sandbox import Library, Limits, Ran
from components.sandbox.api import SandboxError


def test_defaults_are_those_of_the_specification():
    assert dataclasses.asdict(Limits()) == {
        "wall_seconds": 30.0, "cpu_seconds": 20.0, "memory_bytes": 2 << 30, "file_bytes": 10 << 20,
        "scratch_bytes": 64 << 20, "open_files": 64, "output_bytes": 64 << 10, "answer_bytes": 64 << 10,
    }  # fmt: skip


def test_results_are_immutable_and_an_unavailable_sandbox_has_its_label():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ran("ok").answer = "other"
    assert SandboxError.label == "unavailable" and Library("m", {}).readable == ()
