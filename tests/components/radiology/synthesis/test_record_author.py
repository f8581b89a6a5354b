"""An author is asked for a record, then for its exercises, and given the errors."""

import copy
import json

from components.radiology.synthesis.record_author import Author, Cell, Draft, arranged
from tests.components.radiology.synthesis.sound import case
from tests.stage_bench import base_set, bench

CELL = Cell("chest-x-ray-1", "Chest", "X-ray", "pulmonary sarcoidosis")


class Room:
    """Replies with a shipped case, spoilt or not."""

    def __init__(self, record=None, questions=None):
        entry = case()
        self.replies = [record or json.dumps(entry["case"]), questions or json.dumps(entry["QA"])]
        self.asked = []

    def say(self, request):
        text = request.messages[-1].text
        self.asked.append(text)
        return self.replies[0] if text.startswith("Write one invented") else self.replies[1]


async def drafted(tmp_path, room, last=None):
    return await Author(bench(room.say, base_set(tmp_path / "base")), "synthesize").draft(CELL, 1, last)


async def test_a_sound_record_with_its_exercises_has_no_errors(tmp_path):
    room = Room()
    draft = await drafted(tmp_path, room)
    assert not draft.flaws and draft.record == case()["case"] and draft.questions == case()["QA"]
    first, second = room.asked
    assert "Disease: pulmonary sarcoidosis" in first and "- MRC dyspnoea scale; Grade 2 / Grade 3" in first
    assert "The patient is a woman aged 36." in second and "- Right paratracheal stripe" in second


async def test_no_exercises_are_requested_for_an_unsound_record(tmp_path):
    for reply, said in (
        ("Here you are.", "no JSON object can be read"),
        (json.dumps({"Disease": "gout"}), "are expected"),
        (json.dumps(case("train-chest-ct-1")["case"]), "Modality is 'CT'; 'X-ray' was asked for"),
    ):
        room = Room(record=reply)
        draft = await drafted(tmp_path, room)
        assert len(room.asked) == 1 and any(said in flaw for flaw in draft.flaws) and draft.replies == [reply]


async def test_exercises_are_requested_again_for_a_sound_record(tmp_path):
    questions = copy.deepcopy(case()["QA"])
    questions["014"]["Q"] = "Is it pulmonary sarcoidosis, the disease?"
    unread = await drafted(tmp_path, Room(questions="no"))
    assert unread.sound and unread.flaws == ["no JSON object can be read"]
    draft = await drafted(tmp_path, Room(questions=json.dumps(questions)))
    assert draft.sound and any("gives away" in flaw for flaw in draft.flaws)
    room = Room()
    again = await drafted(tmp_path, room, draft)
    assert len(room.asked) == 1 and "gives away 'pulmonary'" in room.asked[0] and not again.flaws


async def test_a_rejected_record_is_written_again_with_the_reasons_in_view(tmp_path):
    room = Room()
    await drafted(tmp_path, room, Draft(None, {}, ["Treatment has 1 sentences"]))
    assert "Your last record was rejected:\n- Treatment has 1 sentences" in room.asked[0]
    assert "rejected" not in room.asked[1]


def test_keys_are_put_in_order_and_numbers_become_texts():
    record = case()["case"]
    turned = {key: record[key] for key in reversed(record)} | {"Extra": 1}
    turned["Information"] = dict(reversed(record["Information"].items())) | {"Age": 36}
    found = arranged(turned)
    assert list(found) == [*record, "Extra"] and {**found, "Extra": 1} == {**record, "Extra": 1}
    assert list(found["Information"]) == list(record["Information"])
    for odd in (float("nan"), float("inf"), True, None):
        assert repr(arranged({"Disease": odd})["Disease"]) == repr(odd), "no number"


async def test_unusual_json_is_rejected_without_a_crash(tmp_path):
    odd = [
        '{"Information": 3, "Report": [1], "Disease": null}',
        json.dumps(case()["case"]).replace("Pulmonary", "\\ud800"),
        "{" * 3000,
    ]
    for reply in odd:
        assert (await drafted(tmp_path, Room(record=reply))).flaws
    for reply in ('{"012": 4}', json.dumps(case()["QA"]).replace("Work", "\\ud800"), "[]"):
        assert (await drafted(tmp_path, Room(questions=reply))).flaws
