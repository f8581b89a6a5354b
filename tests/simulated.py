"""The simulated model as ``conf/model/simulated.yaml`` makes it: with the responders of all families."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from components.core.messages import Message, ToolSpec
from components.core.types import Sample
from components.models.simulated import Core, Simulated
from components.simulation.asked import Asked, Responder
from components.simulation.draws import Draws, Rates
from components.text.structured import read_yaml
from runner.config.build import construct

CONF = Path(__file__).resolve().parents[1] / "conf" / "model" / "simulated.yaml"


@cache
def responders() -> Sequence[Responder]:
    """The responders of the config."""
    return tuple(construct(node, "responder") for node in read_yaml(CONF)["responders"])  # type: ignore[misc]


def simulated(kind: type[Simulated] = Simulated, **settings: Any) -> Simulated:
    """The model with these settings."""
    return kind(responders=responders(), **settings)


def core(samples: Iterable[Sample] = (), **rates: float) -> Core:
    """Its core, which never errs but for these rates, with samples as its answer key."""
    made = Core(Rates(**rates), responders())
    made.study(samples)
    return made


def asked(messages: Sequence[Message], sample: Sample | None = None, tools: Sequence[ToolSpec] = (), seed: int = 0,
          **rates: float) -> Asked:  # fmt: skip
    """A request about a sample, with any messages."""
    known = (one.knowledge(sample) for one in core()._chain) if sample is not None else ()
    knowledge = next((one for one in known if one is not None), None)
    return Asked(messages, tools, Rates(**rates), Draws(seed, messages), knowledge)
