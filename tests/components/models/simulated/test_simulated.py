from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.messages import Message, Request, Sampling
from components.core.protocols import Model
from components.models.simulated import Simulated
from components.prompts import load
from components.radiology.dataset import RadABench
from runner.config.build import part
from tests.simulated import simulated

SAMPLES = tuple(RadABench(shipped="radabench_mini").load("test"))


def request(text="question", seed=1):
    return Request((Message("user", text),), (), Sampling(), "answer", "main", "s", 0, "main", 0, seed)


def test_it_is_a_model_in_this_process_without_a_key():
    model = Simulated()
    assert isinstance(model, Model)
    assert (model.kind, model.in_process, model.deterministic) == ("simulated", True, False)


def test_its_identity_names_what_changes_its_replies_and_nothing_else():
    same = [Simulated(), Simulated(latency_seconds=1.0), Simulated(max_connections=3)]
    assert len({model.identity for model in same}) == 1
    others = [
        Simulated(competence=0.5), Simulated(planning_slip_rate=0.5), Simulated(wrong_tool_rate=0.5),
        Simulated(malformed_rate=0.5), Simulated(ignored_refusal_rate=0.5), Simulated(seed=1), Simulated(name="other"), simulated(),
    ]  # fmt: skip
    assert len({model.identity for model in (same[0], *others)}) == 9


def test_its_identity_names_what_it_has_studied_in_whatever_order():
    def studied(given):
        model = Simulated()
        model.study(given)
        return model.identity

    corrected = [replace(SAMPLES[0], target="another"), *SAMPLES[1:9]]
    relabelled = [replace(SAMPLES[0], metadata={**SAMPLES[0].metadata, "x": frozenset("ab")}), *SAMPLES[1:9]]
    assert studied(SAMPLES[:9]) == studied(reversed(SAMPLES[:9])) != Simulated().identity
    assert len({studied(one) for one in (SAMPLES[:9], SAMPLES[:8], corrected, relabelled)}) == 4


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_bounds_is_refused(seed):
    with pytest.raises(ConfigError, match="seed"):
        part({"_target_": "components.models.simulated.Simulated", "seed": seed}, "model", (), Model)


async def test_request_seed_and_model_seed_both_change_what_is_drawn():
    asked = [request(sample.problem.question) for sample in SAMPLES[:30]]
    told = load("radagent").render("conclude", memory="{}", examples="")

    async def said(model, seed):
        model.study(SAMPLES)
        found = []
        for one in asked:
            messages = (*one.messages, Message("user", told))
            again = Request(messages, (), Sampling(), "conclude", "main", "s", 0, "main", 0, seed)
            found.append((await model.generate(again)).message.text)
        return found

    first = await said(simulated(competence=0.5), 1)
    assert first == await said(simulated(competence=0.5), 1)
    assert first != await said(simulated(competence=0.5), 2)
    assert first != await said(simulated(competence=0.5, seed=9), 1)


async def test_latency_changes_no_reply():
    replies = [await Simulated(latency_seconds=seconds).generate(request()) for seconds in (0.0, 0.002)]
    assert replies[0] == replies[1]


@pytest.mark.parametrize("temperature,tokens", [(0.0, None), (0.7, 50)])
def test_sampling_is_sent_like_a_real_models(temperature, tokens):
    model = Simulated(temperature=temperature, max_tokens=tokens)
    assert model.sampling == Sampling(temperature=temperature, max_tokens=tokens)
