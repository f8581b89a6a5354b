"""What all loaders of data sets promise: splits, files, ids, fingerprints, and errors with file, record and key."""

import pytest

from components.cab.tasks import TASKS
from tests.components.cab.datasets import (
    test_bioasq,
    test_emrqa,
    test_halt_medvqa,
    test_longhealth,
    test_medhalt,
    test_medmentions,
    test_mmlu_med,
    test_omnimedvqa,
    test_slake,
    test_vqa_rad,
)
from tests.components.cab_files import refused, without
from tests.components.datasets import (
    test_cab_pubmedqa,
    test_medagentsbench,
    test_medmcqa,
    test_medqa,
    test_mirage,
    test_pubmedqa,
)
from tests.components.ehr.datasets import test_ehr_halt, test_ehragent_edition, test_ehrsql, test_ehrsql2024, test_treqs
from tests.components.medcalc import test_dataset as test_medcalc
from tests.table import each_row

# A small folder of each data set, and the splits that an unknown one is refused with.
LOADERS = {
    "medqa": (lambda folder: test_medqa.written(folder, test_medqa.ROWS), "MedQA with 4 options has test, train, dev, pool"),
    "medmcqa": (test_medmcqa.medmcqa, "MedMCQA has dev, train, pool"),
    "mirage": (test_mirage.mirage, "MIRAGE has test"),
    "pubmedqa": (test_pubmedqa.written, "PubMedQA has test, train"),
    "cab_pubmedqa": (test_cab_pubmedqa.closed, "PubMedQA has test, train"),
    "medagentsbench": (test_medagentsbench.bench, "MedAgentsBench has test_hard, train"),
    "bioasq": (test_bioasq.bioasq, "BioASQ has test"),
    "mmlu_med": (test_mmlu_med.mmlu, "MMLU has test, val, dev"),
    "medhalt": (test_medhalt.halt, "Med-HALT has test"),
    "halt_medvqa": (test_halt_medvqa.halt, "HALT-MedVQA has test, train"),
    "omnimedvqa": (test_omnimedvqa.omni, "OmniMedVQA has test, train"),
    "slake": (test_slake.slake, "SLAKE has test, validate, train"),
    "vqa_rad": (test_vqa_rad.vqa, "VQA-RAD has test, train"),
    "emrqa": (test_emrqa.emrqa, "emrQA has test, train"),
    "medmentions": (test_medmentions.mentions, "MedMentions has test, dev, train"),
    "longhealthqa": (test_longhealth.longhealth, "LongHealthQA has test, train"),
    "longhalt": (test_longhealth.halt, "LongHalt has test"),
    "medcalc": (test_medcalc.medcalc, "MedCalc-Bench has test, train, one_shot"),
    "ehragent_edition": (test_ehragent_edition.edition, "demo has test, valid, train"),
    "cab_ehragent_demo": (test_ehragent_edition.cab_demo, "the demo has test, valid"),
    "ehrsql": (test_ehrsql.ehrsql, "EHRSQL has test, valid, train"),
    "cab_ehrsql2022": (test_ehrsql.cab_ehrsql, "EHRSQL has test, valid, train"),
    "ehrsql2024": (test_ehrsql2024.ehrsql, "EHRSQL 2024 has test, valid, train"),
    "cab_ehrsql": (test_ehrsql2024.cab_ehrsql, "EHRSQL 2024 has test, valid, train"),
    "ehr_halt": (test_ehr_halt.halt, "EHR-Halt has test, valid, train"),
    "treqs": (test_treqs.treqs, "MIMICSQL has test, dev, train"),
}  # fmt: skip


@each_row("name", LOADERS)
def test_samples_have_ids_of_their_own_and_the_dimension_of_their_task(tmp_path_factory, name):
    make, folder = LOADERS[name][0], tmp_path_factory.mktemp(name)
    dataset = make(folder)
    samples = list(dataset.load(dataset.split))
    assert samples and len({sample.problem.id for sample in samples}) == len(samples)
    for strata in (sample.strata for sample in samples if "dimension" in sample.strata):
        assert strata["dimension"] == TASKS[strata["task"]].dimension
    assert dataset.fingerprint == make(folder).fingerprint


@each_row("name", LOADERS)
def test_an_unknown_split_is_refused_with_those_there_are(tmp_path_factory, name):
    make, has = LOADERS[name]
    assert refused(make(tmp_path_factory.mktemp(name)), "nope") == f"dataset.split: {has}; found 'nope'"


@each_row("name", LOADERS)
def test_a_missing_file_is_named_with_how_to_get_it(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp(name)
    dataset = LOADERS[name][0](folder)
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        file.unlink()
    complaint = refused(dataset, dataset.split)
    assert complaint.startswith(f"no data file {folder}") and complaint.endswith(f"; {dataset.how}")
    assert not dataset.splits


SLAKE, VQA, OMNI = test_slake.ROW, test_vqa_rad.ROW, test_omnimedvqa.ROW
MEDHALT, NOTA = test_medhalt.FAKE, test_medhalt.NOTA
MEDQA, MEDMCQA, BENCH = test_medqa.ROWS[1], test_medmcqa.ROW, test_medagentsbench.ROW
CASE = test_longhealth.QUESTION


def nota(folder, **fields):
    return test_medhalt.halt(folder, [{**NOTA, **fields}], "reasoning_nota.csv", tests=("nota",))


def halt_part(folder, part, **fields):
    rows = {"fake": (test_halt_medvqa.FAKE, {**test_halt_medvqa.FAKE, **fields})}
    rows = {"nota": (test_halt_medvqa.NOTA, {**test_halt_medvqa.NOTA, **fields})} if part == "nota" else rows
    return test_halt_medvqa.halt(folder, parts=(part,), **rows)


def long_health(folder, **changes):
    patients = {"patient_01": test_longhealth.patient("A"), "patient_02": test_longhealth.patient("B", **changes)}
    test_longhealth.written(folder, patients)
    return test_longhealth.LongHalt(str(folder), min_tokens=9, cache=str(folder / "cache"))


def pubmedqa(folder, **fields):
    return test_pubmedqa.written(folder, {**test_pubmedqa.ROWS, "103": {**test_pubmedqa.ROWS["103"], **fields}})


def mirage(folder, item):
    return test_mirage.mirage(folder, {**test_mirage.FILE, "bioasq": {"6a": test_mirage.TWO, "6b": item}})


def emrqa(folder, note):
    return test_emrqa.emrqa(folder, [note], titles=("medication",))


def qas(**changes):
    return test_emrqa.note("a", [{**test_emrqa.QA, **changes}])


def asked(**fields):
    return [test_ehrsql.UNASKED, {**test_ehrsql.ASKED, **fields}]


def treqs(folder, **fields):
    return test_treqs.treqs(folder, [test_treqs.TREQS, {**test_treqs.TREQS, **fields}])


def shaped(**changes):
    return {"format": {**test_treqs.TREQS["format"], **changes}}


def edition(folder, **fields):
    return test_ehragent_edition.edition(
        folder, [test_ehragent_edition.RECORD, {**test_ehragent_edition.RECORD, **fields}]
    )


def demo(folder, answer):
    row = test_ehragent_edition.ANSWERED
    return test_ehragent_edition.cab_demo(folder, [row, {**row, "answer": answer}])


def ehrsql2024(folder, sql, answer=None):
    answers = None if answer is None else {"a": answer, "b": "null"}
    return test_ehrsql2024.ehrsql(folder, labels={"a": sql, "b": "null"}, answers=answers)


def cut(dataset, file):
    """The data set with the end of a file lost."""
    file.write_bytes(file.read_bytes()[:-20])
    return dataset


TWO = test_mirage.TWO
WRONG = {  # data set: where the complaint points to, how a wrong row gets there, and complaints by row
    "medqa": ("phrases_no_exclude_test.jsonl:2: ", lambda d, **f: test_medqa.written(d, test_medqa.changed(**f)), [
        ({"answer_idx": "E"}, "answer_idx: must be one of the options A, B, C, D, found 'E'"),
        ({"answer_idx": None}, "answer_idx: must be a text, found None"),
        ({"question": ""}, "question: must be a text"),
        ({"options": ["Ulna"]}, "options: must be an object of texts"),
        ({"options": {**MEDQA["options"], "B": " "}}, "options: option B is empty"),
        ({"evidence_only": 1}, "evidence_only: must be a text or null, found 1"),
        ({"options": {"A": "Ulna"}}, "options: must be 4 options, found 1"),
    ]),
    "medmcqa": ("dev.json:2: ", lambda d, **f: test_medmcqa.medmcqa(d, [MEDMCQA, {**MEDMCQA, **f}]), [
        *(({"cop": cop}, "cop: must be 1 to 4, where 1 is opa (some copies count from 0)") for cop in (0, 5, "2", True)),
        ({"opc": ""}, "opc: must be a text, found ''"),
        ({"question": None}, "question: must be a text, found None"),
        ({"exp": 3}, "exp: must be a text or null, found 3"),
        ({"subject_name": None}, "subject_name: must be a text"),
    ]),
    "medmcqa, missing": ("dev.json:1: ", lambda d, key: test_medmcqa.medmcqa(d, [without(MEDMCQA, key)]), [
        ({"key": key}, f"{key}: ") for key in ("id", "cop", "opd", "question", "subject_name")
    ]),
    "mirage": ("benchmark.json:", mirage, [
        ({"item": {**TWO, "answer": "C"}}, ": answer: must be one of the options A, B, found 'C'"),
        ({"item": {**TWO, "options": dict.fromkeys("ABCDE", "x")}}, ": options: must be 2 to 4 options, found 5"),
        ({"item": {**TWO, "question": ""}}, ": question: must be a text"),
        ({"item": without(TWO, "answer")}, ": answer: is missing"),
        ({"item": []}, ": 6b: must be an object, found []"),
    ]),
    "pubmedqa": ("ori_pqal.json:", pubmedqa, [
        ({"final_decision": "perhaps"}, "final_decision: must be one of yes, no, maybe, found 'perhaps'"),
        ({"final_decision": "no"}, "final_decision: is 'no', but 'maybe' in"),
        ({"CONTEXTS": "Some"}, "CONTEXTS: must be a list of texts, found 'Some'"),
        ({"LONG_ANSWER": ["So"]}, "LONG_ANSWER: must be a text or null, found ['So']"),
        ({"QUESTION": None}, "QUESTION: must be a text, found None"),
    ]),
    "medagentsbench": ("test_hard.jsonl:2: ", lambda d, row: test_medagentsbench.bench(d, {"medqa/test_hard": [BENCH, row]}), [
        ({"row": {**BENCH, "answer_idx": "C"}}, "answer_idx: must be one of the options A, B, found 'C'"),
        ({"row": {**BENCH, "options": dict.fromkeys("ABCDEFGHIJK", "x")}}, "options: must be 2 to 10 options, found 11"),
        *(({"row": {**BENCH, "realidx": name}}, f"realidx: must be a number or a text, found {name}") for name in (None, True)),
        *(({"row": without(BENCH, key)}, f"{key}: is missing") for key in ("realidx", "question")),
    ]),
    "bioasq": ("8B1_golden.json: questions: record 1: ", lambda d, **f: test_bioasq.bioasq(d, [{**test_bioasq.YES, **f}]), [
        ({"exact_answer": "maybe"}, "exact_answer: must be yes or no, found 'maybe'"),
        ({"exact_answer": [["yes"]]}, "exact_answer: must be a text, found [['yes']]"),
        ({"body": ""}, "body: must be a text, found ''"),
        ({"type": None}, "type: must be a text, found None"),
    ]),
    "mmlu_med": ("anatomy_test.csv:4: ", lambda d, row: test_mmlu_med.mmlu(d, test_mmlu_med.ROWS + row), [
        ({"row": "Which?,1,2,3,4,E\n"}, "answer: must be one of A, B, C, D, found 'E'"),
        ({"row": "Which?,1,,3,4,A\n"}, "B: must be a text, found ''"),
        ({"row": "Which?,1,2,3,A\n"}, "must have 6 cells, found 5"),
    ]),
    "medhalt": ("reasoning_fake.csv:2: ", lambda d, **f: test_medhalt.halt(d, [{**MEDHALT, **f}]), [
        ({"options": "none"}, "options: must be a dict with the keys '0', '1', ..., found 'none'"),
        ({"options": "{'1': 'a', '2': 'b'}"}, "options: must be a dict with the keys"),
        ({"options": "{'0': 'a'}"}, "options: must be 2 to 26 texts"),
        ({"options": "{'0': 'a', '1': 2}"}, "options: must be 2 to 26 texts"),
        ({"question": ""}, "question: must be a text"),
    ]),
    "medhalt, nota": ("reasoning_nota.csv:2: ", nota, [
        ({"correct_index": "0"}, "correct_index: must be the number of the option 'None of the above' (option B), found '0'"),
        ({"correct_index": "x"}, "correct_index: must be the number of the option"),
    ]),
    "halt_medvqa": ("fake_qa_shuffle.json:12: ", lambda d, **f: halt_part(d, "fake", **f), [
        ({"answer_id": "C"}, "answer: the right letter must be one of A, B, found 'C'"),
        ({"answer": "Sirius"}, "answer: 'Sirius' is not option B: 'I do not know'"),
        ({"option": ["x"]}, "option: must be an object of texts"),
        ({"img": "../a.png"}, "img: must be a relative path below"),
    ]),
    "halt_medvqa, nota": ("pmc_vqa_nota1K.json: record 2: ", lambda d, **f: halt_part(d, "nota", **f), [
        ({"answer": "E"}, "answer: the right letter must be one of A, B, C, D, found 'E'"),
        ({"choice_D": None}, "choice_D: must be a text, found None"),
        ({"img": "b.png"}, "img: there is no"),
    ]),
    "omnimedvqa": ("ACRIMA.json: record 2: ", lambda d, **f: test_omnimedvqa.omni(d, {"ACRIMA": [OMNI, {**OMNI, **f}]}), [
        ({"gt_answer": "Myopia"}, "gt_answer: must be one of ['Cataract', 'Glaucoma', 'None'], found 'Myopia'"),
        ({"option_B": None, "option_C": None, "gt_answer": "Cataract"}, "gt_answer: must be one of ['Cataract']"),
        ({"image_path": "../../secret.png"}, "image_path: must be a relative path below"),
        ({"image_path": "Images/b.png"}, "image_path: there is no"),
        ({"modality_type": None}, "modality_type: must be a text"),
        ({"question": None}, "question: must be a text"),
    ]),
    "slake": ("test.json: record 2: ", lambda d, **f: test_slake.slake(d, (SLAKE, {**SLAKE, **f})), [
        ({"answer": ""}, "answer: must be a text"),
        ({"qid": None}, "qid: must be a number or a text"),
        ({"img_name": "xmlab2/source.jpg"}, "img_name: there is no"),
        ({"img_name": "/x.jpg"}, "img_name: must be a relative path below"),
        ({"q_lang": 1}, "q_lang: must be a text"),
    ]),
    "vqa_rad": ("Public.json: record 2: ", lambda d, **f: test_vqa_rad.vqa(d, (VQA, {**VQA, **f})), [
        ({"answer": ""}, "answer: must be a text or a number, found ''"),
        ({"answer": None}, "answer: must be a text or a number, found None"),
        ({"qid": None}, "qid: must be a number or a text"),
        ({"question": ""}, "question: must be a text"),
        ({"image_name": "../a.png"}, "image_name: must be a relative path below"),
        ({"image_name": "b.png"}, "image_name: there is no"),
        ({"phrase_type": 3}, "phrase_type: must be a text, found 3"),
    ]),
    "emrqa": ("data.json: data: record 1: paragraphs: record 1", emrqa, [
        ({"note": {"note_id": "a", "context": [], "qas": [test_emrqa.QA]}}, ": context: must not be empty"),
        ({"note": qas(question=[])}, "qas: record 1: question: must not be empty"),
        ({"note": qas(answers=[{}])}, "qas: record 1: answers: every answer must have a text"),
        ({"note": qas(answers="x")}, "answers: must be a JSON array, found 'x'"),
        ({"note": {"note_id": "a", "context": ["x"]}}, "must be a JSON object with the key 'qas'"),
        ({"note": {"context": ["x"], "qas": []}}, "note_id: is missing"),
    ]),
    "longhealth": ("benchmark_v5.json:", long_health, [
        ({"texts": {}}, "texts: must not be empty"),
        ({"texts": ["a"]}, "texts: must be an object of texts"),
        ({"birthday": None}, "birthday: must be a text"),
        ({"questions": {}}, "questions: must be a JSON array"),
        ({"questions": [{**CASE, "correct": "Gold"}]}, "questions: record 1: correct: must be the text of one of"),
        ({"questions": [{**CASE, "answer_e": ""}]}, "questions: record 1: answer_e: must be a text"),
        ({"questions": [{**CASE, "answer_location": {"text_9": {}}}]}, "answer_location: its keys must be names of texts"),
    ]),
    "medcalc": ("test_data.csv:4: ", lambda d, **f: test_medcalc.medcalc(d, (test_medcalc.ROW, {**test_medcalc.ROW, **f})), [
        ({"Output Type": "real"}, "Output Type: must be one of decimal, integer, date, found 'real'"),
        ({"Upper Limit": "much"}, "Upper Limit: must be a number, found 'much'"),
        ({"Ground Truth Answer": "nan"}, "Ground Truth Answer: must be a number, found 'nan'"),
        ({"Patient Note": ""}, "Patient Note: must be a text, found ''"),
    ]),
    "ehragent_edition": ("test_preprocessed.json: record 2: ", edition, [
        ({"answer": None}, "answer: must be a text or a list of texts"),
        ({"answer": [1]}, "answer: must be a text or a list of texts"),
        ({"query": "select 1"}, "query: names no table"),
        ({"db_id": "eicu"}, "db_id: must be 'mimic_iii' in this file"),
    ]),
    "cab_ehragent_demo": ("test_preprocessed.json: record 2: ", demo, [
        ({"answer": answer}, "answer: must be a text or a list of texts") for answer in (None, [], [1], 3)
    ]),
    "ehrsql": ("test.json: record 2: ", lambda d, **f: test_ehrsql.ehrsql(d, asked(**f)), [
        ({"db_id": "eicu"}, "db_id: must be 'mimic_iii' in this file, found 'eicu'"),
        ({"is_impossible": "no"}, "is_impossible: must be true or false, found 'no'"),
        ({"query": "nan"}, "query: an answerable question needs its SQL, found 'nan'"),
        ({"id": None}, "id: must be a text, found None"),
        ({"query": "select x from prescriptions"}, "query: the gold SQL fails"),
    ]),
    "cab_ehrsql2022": ("test.json: record 2: ", lambda d, **f: test_ehrsql.cab_ehrsql(d, asked(**f)), [
        ({"query": "select x from prescriptions"}, "query: the gold SQL fails"),
        ({"query": "delete from prescriptions"}, "query: the gold SQL fails"),
    ]),
    "ehrsql2024": ("data.json: data: record 1: id: ", ehrsql2024, [
        ({"sql": test_ehrsql2024.SQL, "answer": "po"}, "the answer must be the text of a list of rows"),
        ({"sql": "SELECT no FROM prescriptions"}, "the gold SQL fails on"),
        ({"sql": "SELECT 1"}, "names no table"),
    ]),
    "treqs": ("test.json:2: ", treqs, [
        ({"key": 3}, "key: must be a text, found 3"),
        ({"format": []}, "format: must be an object, found []"),
        (shaped(table=[5]), "format.table: must be a list of numbers from 0 to 4"),
        (shaped(table=[]), "format.table: must be a list of numbers from 0 to 4"),
        (shaped(sel=5), "format.sel: must be a number from 0 to 4, found 5"),
        (shaped(cond=None), "format.cond: must be a list, found None"),
        (shaped(cond=[[1, 99, 0, "x"]]), "format.cond: must hold [table, column, operator,"),
        (shaped(cond=[[True, 0, 0, "x"]]), "format.cond: must hold [table, column,"),
        ({"sql": 'SELECT "a'}, "sql: has a quote that is not closed"),
        ({"sql": 'SELECT LAB."NO" FROM LAB'}, "sql: the gold SQL fails on"),
    ]),
}  # fmt: skip


@each_row(
    "name, given, complaint",
    [(name, given, message) for name, (_, _, rows) in WRONG.items() for given, message in rows],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_its_place_and_key(tmp_path_factory, name, given, complaint):
    place, make, _ = WRONG[name]
    dataset = make(tmp_path_factory.mktemp(name), **given)
    message = refused(dataset, dataset.split)
    assert place in message and complaint in message.partition(place)[2]


@pytest.mark.parametrize(
    ("name", "file", "complaint"),
    [
        ("medqa", test_medqa.TEST4, ":3: not JSON, perhaps cut off"),
        ("medmcqa", "dev.json", ":2: not JSON, perhaps cut off"),
        ("mirage", "benchmark.json", ": not JSON, perhaps cut off"),
        ("pubmedqa", "data/ori_pqal.json", ": not JSON, perhaps cut off"),
    ],
)
def test_a_file_that_is_cut_off_is_refused(tmp_path, name, file, complaint):
    dataset = cut(LOADERS[name][0](tmp_path), tmp_path / file)
    assert file + complaint in refused(dataset, dataset.split)
