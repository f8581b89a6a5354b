from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from components.agents.direct import Cot
from components.agents.self_consistency import SelfConsistency
from components.core.plain import Accept, NoTools
from components.core.traits import Requirements
from components.core.types import Problem, Sample
from components.ehr.scorer import Ehr
from components.panel.agent import MedAgents
from components.scorers.choice import Choice
from components.scorers.confidence import Confidence
from components.scorers.faults import Faults
from components.verifiers.refine import Refine
from components.verifiers.reflect import Reflect
from runner.config.errors import ConfigErrors
from runner.experiment.parts import check_fit, check_scorers, with_provided_verifier
from tests.parts import Looper, Speaker, parts

SAMPLES = [Sample(Problem(f"p{n}/{k}", "?", context=f"Patient: {n}\nHistory: none\nmore {k}"), None)
           for n in range(2) for k in range(3)]  # fmt: skip


TAKES_ALL = Accept()


@dataclass(frozen=True)
class Wanting(Looper):
    """An agent with requirements."""

    verifier: Any = None
    models: tuple[str, ...] = ()
    shown_patients: tuple[str, ...] = ()

    @property
    def requirements(self):
        return Requirements(verifier=self.verifier, models=self.models, shown_patients=self.shown_patients)


@dataclass(frozen=True)
class Wrapping(Looper):
    """Wraps another agent."""

    inner: Any = field(default_factory=Wanting)


def given(agent: Any, verifier: Any = TAKES_ALL, samples: Any = SAMPLES) -> Any:
    return with_provided_verifier(
        replace(parts(agent), verifier=verifier), {"main": Speaker(str), "big": Speaker(str)}, samples
    )


def refused(agent: Any, verifier: Any = TAKES_ALL) -> str:
    with pytest.raises(ConfigErrors) as caught:
        given(agent, verifier)
    (finding,) = caught.value.findings
    return f"{finding.key}: {finding.text}"


def test_agent_without_requirements_passes():
    assert given(Looper()).verifier == given(Wanting()).verifier == Accept()
    assert given(Looper(), Refine()).verifier == Refine()


def test_verifier_provided_by_the_agent_replaces_the_accepting_one():
    brought = Wanting(verifier=Reflect(repairs=2))
    assert given(brought).verifier == given(Wrapping(inner=brought)).verifier == Reflect(repairs=2)
    assert given(brought, Reflect(repairs=2)).verifier == Reflect(repairs=2)


def test_second_verifier_is_refused_and_not_silently_ignored():
    message = refused(Wanting(verifier=Reflect()), Refine())
    assert message == "verifier: the agent provides a verifier (Reflect), so Refine would not be asked: verifier=accept"
    assert "Reflect would not be asked" in refused(Wanting(verifier=Reflect()), Reflect(repairs=3))


def test_verifier_that_no_agent_uses_is_refused():
    def fit(agent: Any, verifier: Any, **changes: Any) -> None:
        check_fit(replace(parts(agent), verifier=verifier, **changes), SAMPLES[0], 0, acts=False)

    fit(Cot(), Accept())
    fit(SelfConsistency(Looper()), Refine())
    fit(MedAgents(), Refine())
    with pytest.raises(ConfigErrors, match="verifier: Refine would not be asked: SelfConsistency takes no action"):
        fit(SelfConsistency(Cot()), Refine())
    with pytest.raises(ConfigErrors, match="MedAgents takes no action that it could check without tools: verifier=acc"):
        fit(MedAgents(), Refine(), toolset=NoTools())


def test_named_models_must_exist():
    assert given(Wanting(models=("big",)))
    message = refused(Wanting(models=("bigger",)))
    assert (
        message == "agent: Wanting names the model 'bigger'; there are main, big; another: +model@models.bigger=openai"
    )


def test_examples_about_an_evaluated_patient_are_refused():
    assert given(Wanting(shown_patients=("Patient: 7\nHistory: none",)))
    message = refused(Wrapping(inner=Wanting(shown_patients=("Patient: 1\nHistory: none",))))
    assert message.startswith("agent: Wanting shows examples on 3 of the samples that are evaluated, such as 'p1/0'")


def test_patient_is_recognised_with_a_shortened_context():
    less = Sample(Problem("p", "?", context="History: none"), None, plain=SAMPLES[0].problem)
    with pytest.raises(ConfigErrors, match="shows examples on 1 of the samples that are evaluated, such as 'p'"):
        given(Wanting(shown_patients=("Patient: 0\nHistory: none",)), samples=[less])


def test_scorer_that_fits_no_sample_is_refused_and_one_that_fits_some_is_not():
    asked = [replace(SAMPLES[0], target={"answer": ["1"]}), replace(SAMPLES[1], target={"answer": [{"no": "text"}]})]
    check_scorers({"ehr": Ehr()}, asked)
    with pytest.raises(ConfigErrors) as caught:
        check_scorers({"ehr": Ehr(), "choice": Choice()}, asked[1:])
    assert [finding.key for finding in caught.value.findings] == ["scorer.ehr", "scorer.choice"]
    assert "Choice can score none of these samples: an open question" in caught.value.findings[1].text


def test_scorer_that_follows_needs_one_that_decides():
    check_scorers({"harm": Faults(), "ehr": Ehr()}, [replace(SAMPLES[0], target={"answer": ["1"]})])
    with pytest.raises(
        ConfigErrors, match=r"scorer\.faults: scores by whether an answer is right, and no other"
    ) as caught:
        check_scorers({"faults": Faults(), "confidence": Confidence()}, SAMPLES)
    assert [finding.key for finding in caught.value.findings] == ["scorer.faults"]
