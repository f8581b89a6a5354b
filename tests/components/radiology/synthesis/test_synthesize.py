"""New records in a folder that the dataset reads; what is rejected is kept apart with the reason."""

import json
from time import perf_counter

import pytest

from components.core.errors import ConfigError, RunLimitReached
from components.radiology.dataset import RadABench
from components.radiology.synthesis.checks import record_flaws
from components.radiology.synthesis.question_checks import question_flaws
from components.radiology.synthesis.record_author import cells_of
from components.radiology.synthesis.synthesize import Synthesize
from components.radiology.tasks import PAIRS
from runner.episode.budget import Budget, BudgetPool
from runner.storage.journal import Journal
from tests.components.radiology.synthesis.sound import case
from tests.golden.vectors import PAPER
from tests.parts import door
from tests.simulated import simulated
from tests.slow import slow
from tests.stage_bench import base_set, bench


def cells(path=None, anatomies=None, modalities=None, per_pair=1, per_disease=1, seed=0):
    return cells_of("synthesize", path, anatomies, modalities, per_pair, per_disease, seed)


def test_every_pair_has_diseases_of_ours_each_once():
    every = cells(per_pair=None)
    assert list(dict.fromkeys((one.anatomy, one.modality) for one in every)) == list(PAIRS) and len(every) == 66
    assert len({one.disease for one in every}) == 66 == len({one.id for one in every})


def test_a_draw_depends_on_the_seed_and_records_are_numbered():
    assert len(cells()) == 22 and cells() == cells() != cells(seed=1)
    chest = cells(anatomies=["Chest"], modalities=["CT", "Mammography"], per_disease=2)
    assert [(one.anatomy, one.modality, one.id[-2:]) for one in chest] == [("Chest", "CT", "-1"), ("Chest", "CT", "-2")]


def test_many_records_are_planned_in_a_moment():
    began = perf_counter()
    assert len(cells(per_pair=None, per_disease=1000)) == 66_000
    assert perf_counter() - began < 10


@pytest.mark.parametrize("none", [{"anatomies": []}, {"modalities": []}])
def test_an_empty_list_does_not_select_everything(none):
    with pytest.raises(ConfigError, match="no disease is left to write about"):
        cells(**none)


def test_a_custom_table_replaces_the_built_in_one(tmp_path):
    path = tmp_path / "diseases.csv"
    path.write_text("disease,anatomy,modality\nRare pneumonitis,Chest,CT\n")
    (only,) = cells(str(path))
    assert (only.id, only.disease) == ("chest-ct-rare-pneumonitis-1", "Rare pneumonitis")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anatomy,disease\nChest,x\n", "has no column 'modality'"),
        ("anatomy,modality,disease\nChest,Mammography,x\n", "line 2: no pair 'Chest', 'Mammography'"),
        ("anatomy,modality,disease\nChest,CT,\n", "line 2: the disease is missing"),
        ("anatomy,modality,disease\nChest,CT,x\nChest,CT,X!\n", "would be written twice"),
        ("anatomy,modality,disease\n", "no disease is left"),
    ],
)
def test_an_invalid_table_is_refused(tmp_path, text, message):
    path = tmp_path / "diseases.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        cells(str(path), per_pair=None)
    with pytest.raises(ConfigError, match=r"x\.csv cannot be read: .*No such file"):
        cells(str(tmp_path / "x.csv"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"anatomy,modality,disease\nChest,CT,\xe9\n",
            "diseases.csv cannot be read: 'utf-8' codec can't decode byte 0xe9 in position 34",
        ),
        (b'anatomy,modality,disease\nChest,CT,"' + b"x" * 4_100_000, "diseases.csv cannot be read: field larger than"),
    ],
)
def test_an_unreadable_table_is_named(tmp_path, data, message):
    path = tmp_path / "diseases.csv"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        cells(str(path))


def desk(tmp_path, journal=None, budget=None, dataset=None, **rates):
    """A bench whose model is a simulated core."""
    made = bench(lambda request: "", base_set(tmp_path / "base"), dataset)
    model = simulated(**{"malformed_rate": 0.0, **rates})
    object.__setattr__(made.experiment, "models", {"main": model})
    object.__setattr__(made, "door", door(model, journal, **({"budget_pool": BudgetPool(budget, 1)} if budget else {})))
    return made


def stage(tmp_path, **changes):
    return Synthesize(**{"folder": str(tmp_path / "made"), **changes})


def rejected(made):
    return [json.loads(line) for line in (made.folder / "rejected.jsonl").read_text().splitlines()]


@slow
async def test_the_dataset_reads_what_was_accepted_and_all_of_it_is_sound(tmp_path):
    made = await stage(tmp_path).make(desk(tmp_path))
    notes = json.loads((made.folder / "manifest.json").read_text())
    dataset = RadABench(path=str(made.folder), switches=PAPER)
    samples = list(dataset.load("test"))
    assert dataset.splits == ("test",) and len(samples) == 11 * notes["counts"]["accepted"]
    assert 15 <= notes["counts"]["accepted"] < notes["counts"]["planned"] == 22
    for name, entry in json.loads((made.folder / "test.json").read_text()).items():
        assert not record_flaws(entry["case"]) and not question_flaws(entry["case"], entry["QA"]), name
    assert notes["models"] == {"main": "simulated"} and notes["model_kind"] == "simulated" and notes["seed"] == 0
    assert "(simulated model)" in made.lines[0] and "dataset=radabench" in made.lines[-1]


async def test_rejected_records_are_kept_separately_with_reasons_and_replies(tmp_path):
    setting = {"anatomies": ["Chest", "Limb"], "attempts": 2}
    made = await stage(tmp_path, **setting).make(desk(tmp_path, competence=0.5, malformed_rate=0.3))
    rejections = rejected(made)
    assert {one["attempt"] for one in rejections} == {1, 2} and all(
        one["reasons"] and one["replies"] for one in rejections
    )
    reasons = " ".join(reason for one in rejections for reason in one["reasons"])
    assert "gives away" in reasons and "no JSON object" in reasons
    assert set(json.loads((made.folder / "test.json").read_text())).isdisjoint(
        json.loads((made.folder / "manifest.json").read_text())["missing"]
    )


async def test_a_core_that_never_errs_is_rejected_for_repeating_others_at_most(tmp_path):
    setting = {"anatomies": ["Head and Neck", "Spine"], "attempts": 6}
    made = await stage(tmp_path, **setting).make(desk(tmp_path, competence=1.0))
    assert json.loads((made.folder / "manifest.json").read_text())["counts"]["accepted"] == 7
    reasons = [reason for one in rejected(made) for reason in one["reasons"]]
    assert all(reason.startswith("stands in another record already") for reason in reasons)


async def test_the_same_seed_writes_the_same_records_and_nothing_is_paid_twice(tmp_path):
    setting = {"anatomies": ["Spine"], "per_pair": 2}
    with Journal(tmp_path / "journal") as journal:
        first = await stage(tmp_path, **setting).make(desk(tmp_path, journal))
        again = desk(tmp_path, journal)
        second = await stage(tmp_path, folder=str(tmp_path / "again"), **setting).make(again)
    assert (
        again.door.spent.calls == 0
        and (second.folder / "test.json").read_text() == (first.folder / "test.json").read_text()
    )
    there = desk(tmp_path)
    assert (await stage(tmp_path, **setting).make(there)).lines == first.lines and there.door.spent.calls == 0


async def test_records_that_were_lost_are_written_again(tmp_path):
    setting = {"anatomies": ["Chest"]}
    made = await stage(tmp_path, **setting).make(desk(tmp_path))
    before = (made.folder / "test.json").read_bytes()
    (made.folder / "test.json").unlink()
    again = await stage(tmp_path, **setting).make(desk(tmp_path))
    assert (made.folder / "test.json").read_bytes() == before and again.lines[0] == made.lines[0]


async def test_a_spent_budget_keeps_finished_records_and_the_same_command_resumes(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        with pytest.raises(RunLimitReached):
            await stage(tmp_path, anatomies=["Limb"]).make(desk(tmp_path, journal, Budget(calls=6)))
        notes = json.loads((tmp_path / "made" / "manifest.json").read_text())
        assert notes["status"] == "new", "no record was finished"
        assert len(notes["missing"]) == notes["counts"]["planned"] > 0
        made = await stage(tmp_path, anatomies=["Limb"]).make(desk(tmp_path, journal))
    assert json.loads((made.folder / "manifest.json").read_text())["status"] == "complete"


async def test_a_draft_that_repeats_what_is_evaluated_is_rejected(tmp_path):
    setting = {"anatomies": ["Spine"], "modalities": ["CT"], "attempts": 1}
    first = await stage(tmp_path, **setting).make(desk(tmp_path, competence=1.0))
    other = desk(tmp_path, competence=1.0, dataset=RadABench(path=str(first.folder), switches=PAPER))
    made = await stage(tmp_path, folder=str(tmp_path / "other"), **setting).make(other)
    assert not (made.folder / "test.json").exists() and "0 of 1 accepted" in made.lines[0]
    assert all(one.startswith("stands in another record already") for one in rejected(made)[0]["reasons"])


async def test_a_copy_of_a_record_is_rejected_also_of_a_split_that_is_not_evaluated(tmp_path):
    entry = case()
    entry["QA"] = {chain: {**pair, "Q": pair["Q"].replace(". ", " ; ")} for chain, pair in entry["QA"].items()}
    (tmp_path / "own.csv").write_text(f"anatomy,modality,disease\nChest,X-ray,{entry['case']['Disease']}\n")

    def say(request):
        wanted = "case" if request.messages[-1].text.startswith("Write one") else "QA"
        return json.dumps(entry[wanted])

    shipped = RadABench(shipped="radabench_mini", switches=PAPER)
    made = await stage(tmp_path, diseases=str(tmp_path / "own.csv"), attempts=1).make(
        bench(say, base_set(tmp_path / "base"), shipped)
    )
    assert made.empty and made.lines[-1].startswith("no record was accepted")
    (one,) = (rejection["reasons"] for rejection in rejected(made))
    assert len(one) == 15 and {reason.partition(":")[0] for reason in one} == {"stands in another record already"}


HOSTILE = {
    "no JSON": "sure! " * 5,
    "NaN": '{"Information": {"Age": NaN, "Sex": true, "Height": 1e999, "History": NaN}, "Anatomy": NaN}',
    "wrong types": '{"Information": 3, "Report": [1], "Disease": null}',
    "deep": "[" * 50_000 + "{" * 50_000 + "}",
    "huge": '{"Treatment": "' + "x" * 2_000_000 + '"}',
    "huge number": '{"Anatomy": ' + "9" * 5_000 + "}",
    "twice": '{"Anatomy": "Chest"}' * 2,
}


@pytest.mark.parametrize("reply", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
async def test_bad_replies_are_rejected_with_a_reason_and_the_stage_reports_no_result(tmp_path, reply):
    room = bench(lambda request: reply, base_set(tmp_path / "base"))
    made = await stage(tmp_path, anatomies=["Spine"], modalities=["CT"], attempts=2).make(room)
    assert made.empty and "0 of 1 accepted" in made.lines[0] and "2 drafts rejected" in made.lines[0]
    assert not (made.folder / "test.json").exists() and (made.folder / "rejected.jsonl").stat().st_size < 60_000
    assert all(one["reasons"] and max(map(len, one["reasons"])) <= 303 for one in rejected(made))
    assert made.lines[1].startswith("            2 x ")
    stage(tmp_path, anatomies=["Chest"]).check(bench(lambda request: "", base_set(tmp_path / "base"), stage={"x": 1}))


def test_invalid_settings_or_an_occupied_folder_are_refused_at_once(tmp_path):
    with pytest.raises(
        ConfigError, match=r"anatomies: there is no 'Chst'; did you mean Chest[?] known are Head and Neck"
    ):
        Synthesize(anatomies=["Chst"])
    with pytest.raises(ConfigError, match="no disease is left"):
        stage(tmp_path, anatomies=["Chest"], modalities=["Mammography"]).check(desk(tmp_path))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError, match=r"holds thesis\.tex"):
        stage(tmp_path).check(desk(tmp_path))
