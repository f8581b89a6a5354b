"""A consultation: a patient to question, and measurements that report examinations and tests; models answer for both.

Source: Schmidgall et al. 2024, arXiv 2405.07960, and the published code (``SamuelSchmidgall/AgentClinic`` at b6570ed):
each role is shown its part of the case and the transcript so far; 20 turns of the doctor, of which the last one is the
diagnosis; temperature 0.05 and 200 tokens per reply. Departures: own prompts; the doctor acts by tools, so that any
agent can be one; a question after the last turn is refused, where the published code ends the case as wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge

from components.acting.arguments import text_argument, text_spec
from components.core.cached import cached_property
from components.core.errors import ConfigError, ToolError
from components.core.messages import Sampling, ToolSpec
from components.core.tools import Context, Effect, Offer
from components.core.traits import PromptSetName, ToolsetTraits, ToolTraits
from components.core.types import Observation, Sample
from components.prompts import load

Role = Literal["patient", "measurement"]
CLOSING = "[This was the last question or test. Give your diagnosis now.]"
SPENT = "No question or test is left: give your diagnosis now."
_LONGEST = 2_000  # characters of a question or an order
_ASKS: Mapping[Role, str] = {"patient": "ask", "measurement": "order"}  # the prompt of a request
_SPEAKS: Mapping[Role, str] = {"patient": "Patient", "measurement": "Results"}  # who replies, in the transcript


@dataclass
class Consultation:
    """The state of a case: what each role knows, the lines of the transcript, and how many questions and tests are
    left. ``bias``: the patient's, as a text."""

    patient: str
    findings: str
    left: int
    bias: str = ""
    transcript: list[str] = field(default_factory=list)

    def fork(self) -> "Consultation":
        """A copy that continues by itself."""
        return replace(self, transcript=list(self.transcript))

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True)
class AskRole:
    """Passes the doctor's words to a role's model, and its reply back; after the last turn no model is called.
    Observation data of a call: ``asked`` (the role) and ``request``. Raises ToolError: empty (a blank reply),
    bad_arguments."""

    role: Role
    spec: ToolSpec
    prompts: str
    sampling: Sampling
    effect: ClassVar[Effect] = "episode"

    @property
    def traits(self) -> ToolTraits:
        """The model that it asks; a question that was tried on a fork would be asked again, with another reply."""
        return ToolTraits(asks=self.role, triable=False)

    async def __call__(self, context: Context, /, **arguments: Any) -> Observation:
        state = context.state
        if not isinstance(state, Consultation):
            raise TypeError(f"{self.spec.name} needs a Consultation, found {type(state).__name__}")
        name = next(iter(self.spec.parameters["properties"]))
        request = text_argument(self.spec, name, arguments.get(name), _LONGEST).strip()
        if state.left < 1:  # no error, so that a grammar whose last action is a call can end with it
            return Observation(SPENT)
        state.left -= 1
        prompts = load(self.prompts)
        notes = {"notes": state.patient, "bias": state.bias} if self.role == "patient" else {"notes": state.findings}
        role = prompts.system(self.role, **notes)
        asked = prompts.user(_ASKS[self.role], transcript="\n".join(state.transcript), request=request)
        reply = (await context.ask([role, asked], "tool", self.sampling, self.role)).text.strip()
        if not reply:
            raise ToolError(f"The {self.role} gave no reply.", "empty")
        spoken = (("Doctor", request), (_SPEAKS[self.role], reply))
        state.transcript += [f"{who}: {' '.join(text.split())}" for who, text in spoken]
        seen = reply if state.left else f"{reply}\n\n{CLOSING}"
        return Observation(seen, {"asked": self.role, "request": request})


@dataclass(frozen=True)
class Clinic:
    """``ask_patient`` and ``order_test``. ``turns`` of the doctor, of which the diagnosis is the last. ``temperature``
    and ``max_tokens``: of the replies of patient and measurements."""

    prompts: PromptSetName = "clinic"
    turns: Annotated[int, Ge(2)] = 20
    temperature: Annotated[float, Ge(0)] | None = 0.05
    max_tokens: Annotated[int, Ge(1)] | None = 200

    @property
    def traits(self) -> ToolsetTraits:
        """Its tools."""
        return ToolsetTraits(tools=self._tools)

    def open(self, sample: Sample) -> Offer:
        """Open the consultation of a case. Raises ConfigError for a sample without a patient."""
        patient, findings = (sample.metadata.get(name) for name in ("patient", "findings"))
        if not isinstance(patient, str) or not isinstance(findings, str):
            why = "has no patient and findings: choose dataset=clinic_mini or dataset=agentclinic, or another toolset"
            raise ConfigError(f"sample {sample.problem.id!r} {why}")
        return Offer(self._tools, Consultation(patient, findings, self.turns - 1))

    @cached_property
    def _tools(self) -> dict[str, AskRole]:
        limit = f"At most {self.turns - 1} questions, examinations and tests in all; then give your diagnosis."
        sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
        specs: dict[Role, ToolSpec] = {
            "patient": text_spec(
                "ask_patient", f"Say something to the patient, such as one question. {limit}", "question",
                "What you say to the patient, in words that a patient understands.",
            ),
            "measurement": text_spec(
                "order_test", f"Examine the patient or order a test, and get the findings. {limit}", "test",
                "What is examined or ordered, such as: vital signs; abdominal examination; chest X-ray.",
            ),
        }  # fmt: skip
        return {spec.name: AskRole(role, spec, self.prompts, sampling) for role, spec in specs.items()}
