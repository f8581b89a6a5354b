import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.types import Answer
from components.radiology.agent import Radagent
from components.stages.prompt_trials import Tried, per_record, scatter, tried, with_prompts
from tests.golden.vectors import PAPER
from tests.stage_bench import CAREFUL, Asking, Class, Halves, base_set, bench


async def test_samples_are_played_so_often_with_the_prompts_of_a_folder(tmp_path):
    careful = base_set(tmp_path / "careful", ask=CAREFUL)
    room = Class()
    desk = bench(room.say, base_set(tmp_path / "base"))
    samples = Halves().load("train")[:2]
    plain, refined = [await tried(desk, Path(folder), samples, 3) for folder in (desk.agent.prompts, careful)]
    assert (len(plain.failed()), len(refined.failed("score/right"))) == (6, 0)
    assert (plain.mean("solved"), refined.mean("score/right")) == (0.0, 1.0)
    assert sorted({one.epoch for one in room.asked}) == [0, 1, 2]
    assert per_record(plain, refined, "score/right") == [{"record": "t0", "plain": 0.0, "refined": 1.0, "n": 6}]
    assert desk.gain(refined.records, plain.records, "score/right")["gain"] == 1.0


def test_who_has_no_prompts_cannot_be_given_others():
    class Mute:
        async def solve(self, episode):
            return Answer("")

    assert with_prompts(Asking("a"), "b") == Asking("b")
    with pytest.raises(ConfigError, match="Mute has no prompt set"):
        with_prompts(Mute(), "b")
    with pytest.raises(ConfigError, match=r"Radagent plays with no other prompts as it is set .* refine them without"):
        with_prompts(Radagent(PAPER, strategies=["refined_prompts"]), "b")


def test_a_score_that_is_missing_everywhere_is_no_mean():
    scored = Tried([], [{"scores": {"a": 1.0, "b": None, "solved": None}}])
    with pytest.raises(ConfigError, match=r"stage\.metric: 'b' scores no episode here; these do: a"):
        scored.mean("b")
    with pytest.raises(ConfigError, match=r"stage\.solved_by: the score that decides scores no episode here"):
        scored.failed()
    assert scored.mean("a") == 1.0


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_plot_has_a_point_per_record_where_it_belongs_and_the_line(better):
    points = [{"record": "a <b>", "plain": 1.0, "refined": 0.5}, {"record": "c", "plain": 0.0, "refined": 0.0}]
    drawing = ElementTree.fromstring(scatter(points, "planning/levenshtein", better))
    of = {}
    for one in drawing:
        of.setdefault(one.tag.rpartition("}")[2], []).append(one)
    line, (first, second) = of["line"][0].attrib, of["circle"]
    assert (line["x1"], line["y1"]) == (second.attrib["cx"].removesuffix(".0"), second.attrib["cy"].removesuffix(".0"))
    across = (float(first.attrib["cx"]) - float(line["x1"])) / (float(line["x2"]) - float(line["x1"]))
    up = (float(line["y1"]) - float(first.attrib["cy"])) / (float(line["y1"]) - float(line["y2"]))
    assert (across, up) == (1.0, 0.5) and first[0].text == "a <b>: plain 1, refined 0.5"
    side = {"lower": "below", "higher": "above"}[better]
    assert f"{side} the line refined is better" in [one.text for one in of["text"]]
    assert [one.text for one in of["text"] if one.attrib.get("text-anchor") == "end"][:3] == ["0", "0.5", "1"]


def test_a_plot_of_nothing_is_one_all_the_same():
    assert ElementTree.fromstring(scatter([], "m", "lower")) is not None
    assert ">1.6</text>" in scatter([{"record": "a", "plain": 1.47, "refined": 0.1}], "m", "lower")
