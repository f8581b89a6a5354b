"""Biases of the patient and of the doctor.

Source: Schmidgall et al. 2024, arXiv 2405.07960: 11 of the patient and 12 of the doctor, by their names there;
cognitive ones (that it is cancer) and implicit ones (about the other person). The texts are the project's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from components.clinic.toolset import Consultation
from components.core.errors import ConfigError
from components.core.tools import Offer
from components.core.traits import PromptSetName
from components.core.types import Sample
from components.prompts import load
from components.text.words import meant

NONE = "none"


@dataclass(frozen=True)
class Biased:
    """A ``patient`` and a ``doctor`` with a bias each; ``none`` leaves either as it is. Names are those in
    ``biases.yaml`` of the prompt set. The patient's is in the prompt of the patient's model, the doctor's in the
    instructions of the agent."""

    patient: str = NONE
    doctor: str = NONE
    prompts: PromptSetName = "clinic"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Add the biases. Raises ConfigError for a name that there is not, and for a toolset without a patient."""
        if not isinstance(offer.state, Consultation):
            raise ConfigError(
                "condition biased: this toolset has no patient: choose toolset=clinic, or condition=intact"
            )
        patient, doctor = self._text("patient", self.patient), self._text("doctor", self.doctor)
        note = load(self.prompts).render("doctor", bias=doctor) if doctor else ""
        facts = {"kind": "intact", "condition": "intact", "biases": {}, **offer.facts}
        named = {who: name for who, name in (("patient", self.patient), ("doctor", self.doctor)) if name != NONE}
        return replace(
            offer,
            state=replace(offer.state, bias=patient or offer.state.bias),
            note="\n\n".join(filter(None, (offer.note, note))),
            facts={**facts, "biases": {**facts["biases"], **named}},
        )

    def _text(self, who: str, name: str) -> str:
        """The text of a bias; empty for none. Raises ConfigError."""
        data = load(self.prompts).data("biases")
        texts = data.get(who) if isinstance(data, Mapping) else None
        if not isinstance(texts, Mapping):
            raise ConfigError(
                f"prompt set {self.prompts!r}: biases.yaml must have names with their texts below {who!r}"
            )
        if name != NONE and name not in texts:
            known = (NONE, *texts)
            raise ConfigError(
                f"condition biased: {who}: found {name!r}; {meant(name, known)}there are {', '.join(known)}"
            )
        return "" if name == NONE else str(texts[name])
