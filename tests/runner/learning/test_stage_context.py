"""Separate stages: their context, and the command that runs them."""

import json

import pytest

from components.core.errors import ConfigError, ModelError
from components.core.traits import ScorerTraits
from components.core.types import Answer
from runner.storage.journal import Journal
from tests.stage_bench import CAREFUL, Class, base_set, bench


def test_gain_matches_the_statistics_and_follows_the_direction(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"))

    def records(values):
        return [
            {"sample_id": f"s{n}", "epoch": 0, "cluster": f"p{n}", "strata": {}, "stop": "answered", "scores": {"m": v}}
            for n, v in enumerate(values)
        ]

    gain = desk.gain(records([1, 2, 3, 4]), records([0, 0, 0, 9]), "m")
    assert (gain["gain"], gain["wins"], gain["losses"], gain["pairs"]) == (0.25, 3, 1, 4)
    assert json.loads(json.dumps(gain)) == gain and desk.gain([], [], "m")["gain"] is None

    class Distance:
        traits = ScorerTraits(lower=("m",))

    desk.experiment.parts.scorers["low"] = Distance()
    assert desk.gain(records([1]), records([3]), "m")["gain"] == 2.0
    with pytest.raises(ConfigError, match="'stop/refused' has no direction of improvement"):
        desk.gain(records([1]), records([3]), "stop/refused")


async def test_talk_offers_no_tools_and_is_journalled(tmp_path):
    room, seen = Class(critique="said"), []
    with Journal(tmp_path / "journal") as journal:
        for n in (1, 1):
            desk = bench(room.say, base_set(tmp_path / "base"), journal=journal)

            async def speak(episode, n=n):
                from components.core.messages import Message

                seen.append(dict(episode.offer.tools))
                return Answer(
                    (await episode.ask([Message("user", "Write your critique")], "reflect", role="critic")).text
                )

            assert (await desk.talk("here", speak)).answer == "said"
    assert seen == [{}, {}] and len(room.asked) == n == 1


async def test_model_fault_ends_a_talk_and_an_episode(tmp_path):
    def say(request):
        raise ModelError("down", "server")

    desk = bench(say, base_set(tmp_path / "base"))
    with pytest.raises(ModelError, match="down"):
        await desk.run_sample(desk.evaluated[0], desk.agent)


def test_fingerprint_covers_everything_that_can_change_a_reply(tmp_path):
    base = base_set(tmp_path / "base")
    begun = bench(Class().say, base).begun
    assert begun == bench(Class().say, base, run={"journal": "x"}, name="other", limit=3).begun
    assert begun != bench(Class().say, base, stage={"rounds": 2}).begun
    assert begun != bench(Class().say, base_set(tmp_path / "other", ask=CAREFUL)).begun
