import orjson
import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.drug_table import DrugTable

ROWS = [
    {
        "name": "Acetylsalicylic acid", "description": "An analgesic.", "state": "solid", "indication": "Pain.",
        "dosages": [{"from": "Tablet", "route": "Oral", "strength": "100 mg"}, {"from": "Powder"}],
        "synonyms": ["Aspirin", "ASA"],
    },
    {"name": "Metformin", "description": "", "state": None, "indication": "Diabetes.", "synonyms": ["Glucophage"]},
    {"name": "Metoprolol succinate", "dosages": [], "synonyms": []},
    {"name": "Metoprolol", "dosages": [], "synonyms": ["Metformin"]},
]  # fmt: skip


def table(folder, rows=ROWS, **options):
    (folder / "drugs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return DrugTable(path=str(folder / "drugs.jsonl"), **options)


@pytest.mark.parametrize(
    ("asked", "name", "match"),
    [
        ("metformin", "Metformin", "exact"),
        ("  ASPIRIN ", "Acetylsalicylic acid", "exact"),
        ("metop", "Metoprolol", "prefix"),
        ("metoprolol s", "Metoprolol succinate", "prefix"),
        ("gluco", "Metformin", "prefix"),
        ("metfromin", "Metformin", "fuzzy"),
        ("asprin", "Acetylsalicylic acid", "fuzzy"),
    ],
)
async def test_names_are_found_exactly_then_by_prefix_then_by_likeness(tmp_path, asked, name, match):
    found = await table(tmp_path).find(asked)
    assert (found.drug.name, found.match) == (name, match)
    assert (found.similarity == 1) == (match == "exact") and found.similarity > 0.3


async def test_below_the_threshold_the_closest_names_are_reported(tmp_path):
    with pytest.raises(ToolError, match="closest names are: Metoprolol") as caught:
        await table(
            tmp_path,
        ).find("omeprazol 20")
    assert caught.value.label == "not_found" and caught.value.data["closest"][0] == "Metoprolol"
    assert (await table(tmp_path, threshold=0.3).find("omeprazole")).match == "fuzzy"
    with pytest.raises(ToolError):
        await table(tmp_path, threshold=1).find("metfromin")


async def test_a_table_is_not_changed_by_a_search(tmp_path):
    backend = table(tmp_path)
    before = (await backend.find("aspirin")).drug.as_json
    await backend.find("asprin")
    assert (await backend.find("aspirin")).drug.as_json == before
    assert orjson.loads(before)["dosages"] == [
        {"from": "Tablet", "route": "Oral", "strength": "100 mg"},
        {"from": "Powder", "route": None, "strength": None},
    ]
    assert orjson.loads((await backend.find("metformin")).drug.as_json)["description"] is None


async def test_an_empty_table_has_no_drug(tmp_path):
    with pytest.raises(ToolError, match="no drug called"):
        await table(tmp_path, []).find("aspirin")


@pytest.mark.parametrize(
    "row", [{"names": "x"}, {"name": "x", "synonyms": "y"}, {"name": "x", "dosages": ["y"]}, {"name": "x", "state": 1}]
)
async def test_a_bad_row_is_a_config_error(tmp_path, row):
    with pytest.raises(ConfigError, match=r"drugs.jsonl:5"):
        await table(tmp_path, [*ROWS, row]).find("aspirin")


def test_a_missing_file_and_conflicting_settings_are_reported(tmp_path):
    assert "openFDA" in DrugTable(path=str(tmp_path / "x")).missing and table(tmp_path).missing == ""
    with pytest.raises(ConfigError, match="either shipped or path"):
        DrugTable("drugs", "x")


async def test_the_shipped_sample_is_read():
    found = await DrugTable("drugs").find("coumadin")
    assert found.drug.name == "Warfarin" and found.drug.dosages and found.drug.indication


def test_a_name_or_synonym_in_any_case_is_known_and_a_similar_one_is_not():
    assert [DrugTable("drugs").known_as(name) for name in ("Coumadin", "warfarin", "warfari")] == ["Warfarin"] * 2 + [
        None
    ]


def test_a_file_of_another_form_is_refused_before_a_run(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"title": "x"}')
    with pytest.raises(ConfigError, match=r"x.jsonl:1: name: is missing"):
        DrugTable(path=str(tmp_path / "x.jsonl"))
