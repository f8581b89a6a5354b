"""ReflecTool's clinical toolbox: knowledge, multimodal, numerical, data and trust tools over the files of a sample.

Source: Liao et al. 2024, arXiv 2410.17657, table 4; the names of the sets are those of its implementation
(BlueZeros/ReflecTool). Departures: ``trust`` is a set too, ``auto`` takes tools for images away where there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from components.acting.inner_actions import INNER, Inputs, preloadable
from components.cab.tasks import DIMENSIONS
from components.core.errors import ConfigError
from components.core.tools import Offer, Tool
from components.core.traits import ToolsetTraits, ToolTraits, declared
from components.core.types import Privacy, Sample
from components.files.attachments import SampleFiles
from components.text.words import meant

Set = Literal["auto", "all", "all_wo_mm", "know", "mm", "num", "data", "trust", "none"]
_DIMENSION_OF = {"know": "knowledge", "mm": "multimodal", "num": "numerical", "data": "data", "trust": "trust"}


@dataclass(frozen=True)
class Clinical:
    """The tools of the configuration in its order, after Plan and Think.

    ``use``: a set's name, or the names of tools. auto = all, without tools for images where a sample has none;
    all_wo_mm = all without multimodal ones; know, mm, num, data, trust = those of one dimension; none = Plan and
    Think alone. ``images``: whether tools look at images, by their names, or the agent's model itself, which agents
    also show them where no offered tool takes one. ``permits``: data classes, in addition to open ones, that
    services behind tools may receive. ``Offer.facts``: ``tools`` name -> dimension, ``toolset`` all names.
    ``demonstrations``: the prompt set whose solved tasks show how the tools are used.
    """

    tools: Mapping[str, Tool]
    use: Set | Sequence[str] = "auto"
    images: Literal["tools", "model"] = "tools"
    permits: Sequence[Privacy] = ()
    demonstrations: str = "clinical_demonstrations"

    def __post_init__(self) -> None:
        inner = [tool.spec.name for tool in INNER]
        for name, tool in self.tools.items():
            if name in inner:
                raise ConfigError(f"tools: {name} is always offered; remove it")
            if name != tool.spec.name:
                raise ConfigError(f"tools: {name} is the tool {tool.spec.name}; give it that name")
            if (dimension := tool.spec.facts.get("dimension")) not in DIMENSIONS:
                kinds = ", ".join(DIMENSIONS)
                raise ConfigError(f"tools: {name} has the dimension {dimension!r} among its facts; there are {kinds}")
        if self.use not in ("auto", "none") and not self._chosen:
            raise ConfigError(f"use={self.use!r} leaves no tool; there are {', '.join(self.tools) or 'none'}")

    @property
    def traits(self) -> ToolsetTraits:
        """Its tools, the permitted services, and what is missing for the chosen tools; their calls will fail."""
        lacking = {name: declared(tool, ToolTraits).missing for name, tool in self._chosen.items()}
        notes = [f"{name} will be unavailable: {missing}" for name, missing in lacking.items() if missing]
        return ToolsetTraits(tools=self.tools, permits=self.permits, notes=notes)

    def open(self, sample: Sample) -> Offer:
        """Open the tools over the sample's files."""
        has_image = any(kind.startswith("image") for kind in sample.problem.inputs)
        tools = self._whole
        if self.use == "auto" and not has_image:
            tools = {name: tool for name, tool in tools.items() if tool.spec.facts.get("needs") != "image"}
        files = SampleFiles({name: Path(path) for name, path in sample.files.items()})
        dimensions = {name: tool.spec.facts["dimension"] for name, tool in tools.items()}
        facts = {"tools": dimensions, "toolset": list(self._whole)}
        controls = {"inputs": Inputs()} if preloadable(sample.problem) else {}
        return Offer(tools, files, controls, shows_images=self.images == "model", facts=facts)

    @cached_property
    def _chosen(self) -> Mapping[str, Tool]:
        """The tools of ``use``, in the configuration's order. Raises ConfigError."""
        if not isinstance(self.use, str):
            if unknown := [name for name in self.use if name not in self.tools]:
                have = f"{meant(unknown[0], self.tools)}there are {', '.join(self.tools)}"
                raise ConfigError(f"use: there is no tool {unknown[0]!r}; {have}")
            return {name: tool for name, tool in self.tools.items() if name in self.use}
        if self.use not in get_args(Set):
            raise ConfigError(f"use={self.use!r}: it is one of {', '.join(get_args(Set))}, or a list of tools")
        dimensions = {_DIMENSION_OF[self.use]} if self.use in _DIMENSION_OF else {*DIMENSIONS}
        dimensions -= {*DIMENSIONS} if self.use == "none" else set()
        dimensions -= {"multimodal"} if self.use == "all_wo_mm" else set()
        return {name: tool for name, tool in self.tools.items() if tool.spec.facts["dimension"] in dimensions}

    @cached_property
    def _whole(self) -> Mapping[str, Tool]:
        """What is offered; the tools hold no state and are shared by all samples."""
        return {tool.spec.name: tool for tool in (*INNER, *self._chosen.values())}
