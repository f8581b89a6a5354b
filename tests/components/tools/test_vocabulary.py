import orjson
import pytest

from components.core.errors import ConfigError, ToolError
from components.tools.vocabulary import Vocabulary

ROWS = [
    {
        "cui": "D1", "name": "Asthma", "synonyms": ["Bronchial asthma"], "semantic_type": "Disease",
        "definition": "Airways narrow.", "definition_source": "HPO",
        "relations": [{"from": "Asthma", "label": "affects", "to": "Airway"}],
    },
    {"cui": "D2", "name": "Airway"},
]  # fmt: skip


def conso(cui, text, ts="P", stt="PF", preferred="Y", language="ENG", suppress="N"):
    return f"{cui}|{language}|{ts}|L1|{stt}|S1|{preferred}|A1||M1|D1|MSH|MH|D1|{text}|0|{suppress}||"


CONSO = [
    conso("C1", "Attack, Heart", ts="S"), conso("C1", "Myocardial Infarction"), conso("C1", "Infarto", language="SPA"),
    conso("C1", "MI old style", suppress="O"), conso("C2", "Heart", preferred="N"), conso("C3", "Corazón", language="SPA"),
]  # fmt: skip
DEF = [
    "C1|A1|AT1||NCI|Death of heart muscle.|N||", "C1|A1|AT2||MSH|Necrosis of the myocardium.|N||",
    "C1|A1|AT3||MSH|Suppressed.|Y||", "C3|A1|AT3||MSH|Spanish only.|N||",
]  # fmt: skip
REL = [
    "C1|A1|AUI|RO|C2|A2|AUI|finding_site_of|R1||SNOMEDCT_US|SNOMEDCT_US|||N||",
    "C1|A1|AUI|SY|C1|A2|AUI||R2||MSH|MSH|||N||", "C1|A1|AUI|RB|C9|A2|AUI||R3||MSH|MSH|||N||",
    "C2|A1|AUI|PAR|C1|A2|AUI||R4||MSH|MSH|||N||", "C1|A1|AUI|RB|C2|A2|AUI||R5||MSH|MSH|||O||",
]  # fmt: skip


def table(folder, rows=ROWS, **options):
    (folder / "v.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return Vocabulary(path=str(folder / "v.jsonl"), **options)


def subset(folder, conso=CONSO, **options):
    for name, lines in (("MRCONSO", conso), ("MRDEF", DEF), ("MRREL", REL)):
        (folder / f"{name}.RRF").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return Vocabulary(path=str(folder), **options)


async def test_an_open_vocabulary_is_read(tmp_path):
    found = await table(tmp_path).find("bronchial asthma")
    assert (found.cui, found.name, found.definitions) == ("D1", "Asthma", {"HPO": "Airways narrow."})
    assert found.relations == (("Asthma", "affects", "Airway"),)
    assert (await table(tmp_path).find("airways")).definitions == {}


async def test_a_subset_of_the_metathesaurus_is_read(tmp_path):
    found = await subset(tmp_path).find("heart attack")
    assert (found.cui, found.name, found.source) == ("C1", "Myocardial Infarction", "MSH")
    assert found.definitions == {"NCI": "Death of heart muscle.", "MSH": "Necrosis of the myocardium."}
    assert found.relations == (("Heart", "finding_site_of", "Myocardial Infarction"),)
    assert (await subset(tmp_path).find("heart")).relations == (("Myocardial Infarction", "PAR", "Heart"),)


@pytest.mark.parametrize("term", ["infarto", "MI old style", "corazón", "zebra"])
async def test_other_languages_suppressed_and_unknown_names_are_not_found(tmp_path, term):
    with pytest.raises(ToolError) as caught:
        await subset(tmp_path).find(term)
    assert caught.value.label == "empty"


async def test_definitions_and_relations_are_optional(tmp_path):
    backend = subset(tmp_path)
    (tmp_path / "MRDEF.RRF").unlink()
    (tmp_path / "MRREL.RRF").unlink()
    found = await backend.find("heart attack")
    assert found.definitions == {} and found.relations == ()


async def test_a_database_is_kept_in_the_cache_folder(tmp_path):
    cache = tmp_path / "cache"
    for _ in range(2):
        assert (await table(tmp_path, cache=str(cache)).find("asthma")).cui == "D1"
    (kept,) = cache.iterdir()
    (tmp_path / "v.jsonl").write_bytes(orjson.dumps(ROWS[1]))
    with pytest.raises(ToolError):
        await Vocabulary(path=str(tmp_path / "v.jsonl"), cache=str(cache)).find("asthma")
    assert kept.exists() and len(list(cache.iterdir())) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"cui": "D3"}, "name: is missing"),
        ({"cui": "D3", "name": "x", "relations": "y"}, "relations: must be a JSON array"),
    ],
)
async def test_a_bad_row_is_a_config_error(tmp_path, row, message):
    with pytest.raises(ConfigError, match=f"v.jsonl:3: {message}"):
        await table(tmp_path, [*ROWS, row]).find("asthma")


async def test_a_bad_line_is_a_config_error(tmp_path):
    with pytest.raises(ConfigError, match=r"MRCONSO.RRF:2: must have 18 fields"):
        await subset(tmp_path, [CONSO[0], "C1|ENG|x|"]).find("asthma")
    with pytest.raises(ConfigError, match=r"MRCONSO.RRF:1: must have 18 fields"):
        subset(tmp_path, ["C1|ENG|x|"])


def test_a_missing_vocabulary_is_reported(tmp_path):
    assert "MRCONSO.RRF" in Vocabulary(path=str(tmp_path)).missing
    assert "no " in Vocabulary(path=str(tmp_path / "x")).missing
    assert table(tmp_path).missing == "" and subset(tmp_path).missing == ""
    with pytest.raises(ConfigError, match="either shipped or path"):
        Vocabulary()


async def test_the_shipped_sample_is_read():
    found = await Vocabulary("vocabulary").find("heart attacks")
    assert found.name == "Myocardial infarction" and found.definitions and found.relations


def test_a_file_of_another_form_is_refused_before_a_run(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"name": "x"}')
    with pytest.raises(ConfigError, match=r"x.jsonl:1: cui: is missing"):
        Vocabulary(path=str(tmp_path / "x.jsonl"))
