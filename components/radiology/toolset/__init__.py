"""RadABench's simulated radiology tools over one patient record.

Source: Zheng et al. 2024, arXiv 2412.09529.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from components.core.tools import Offer, Tool
from components.core.types import Sample
from components.radiology.controls import controls
from components.radiology.memory import open_memory
from components.radiology.offers import named
from components.radiology.sets import baseline
from components.radiology.study import study_of
from components.radiology.switches import Switches


@dataclass(frozen=True)
class Radiology:
    """One tool per category, none bound (12), with a fresh memory; conditions put other sets in their place.

    ``demonstrations``: the prompt set whose solved tasks show how the tools are used.
    """

    switches: Switches = field(default_factory=Switches)
    demonstrations: str = "radiology_demonstrations"

    @cached_property
    def _tools(self) -> Mapping[str, Tool]:
        """The tools, which hold no state and are shared by all samples."""
        return named(baseline(self.switches), self.switches)

    def open(self, sample: Sample) -> Offer:
        """Open the tools of a sample. Raises ConfigError when it has no patient record to image."""
        study = study_of(sample)
        memory = open_memory(study.record, study.task.id, self.switches)
        facts = {"condition": "baseline", "kind": "baseline"}
        return Offer(self._tools, memory, controls(self.switches, "baseline"), facts=facts)
