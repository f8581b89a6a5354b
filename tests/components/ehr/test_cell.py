import subprocess
import sys
from pathlib import Path

import pytest

from components.ehr.cell import functions, names
from components.ehr.columns import prepare
from components.ehr.errors import EhrError
from components.ehr.metadata import Metadata
from tests.components.ehr.ward import CLOCK, ward, ward_file
from tests.slow import slow

NAMES = ["LoadDB", "FilterDB", "GetValue", "SQLInterpreter", "Calendar", "Calculate"]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def places(tmp_path):
    file = ward_file(tmp_path / "ward.db")
    return {"file": str(file), "tables": str(prepare(file, Metadata("w", "", (), {}, None), tmp_path / "columns"))}


def test_six_functions_work_on_one_database(places):
    bound = names(**places, database="mimic_iii")
    assert list(bound) == NAMES
    load, narrow, value, sql, date, number = bound.values()
    since = date("-10 months")
    rooms = value(narrow(load("beds"), f"SINCE>={since}"), "ROOM, list")
    assert (since, rooms) == ("2105-03-03 23:59:00", [])
    assert sql("select count(*) from beds where since < current_time") == [(5,)] and number("2^5") == 32
    assert value(narrow(load("beds"), "count(ROOM)>=2"), "ROOM") == "7, 8"


def test_groups_and_the_clock_are_the_configurations(places):
    published = names(**places, database="mimic_iii", groups=False)
    with pytest.raises(EhrError, match="cannot be read"):
        published["FilterDB"](published["LoadDB"]("beds"), "count(ROOM)>=2")
    assert names(**places, database="mimic_iv")["Calendar"]("0 year") == "2100-12-31 23:59:00"
    with pytest.raises(EhrError, match="no present time"):
        names(**places, database="treqs")["Calendar"]("0 year")


def test_functions_over_tables_in_memory(tmp_path):
    bound = functions(ward(), tmp_path / "none.db", CLOCK)
    assert bound["GetValue"](bound["FilterDB"](bound["LoadDB"]("codes"), "CODE=0389"), "TITLE") == "sepsis"


WITHOUT_SOURCE = """
import builtins, os, sys
from components.ehr.cell import names
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
bound = names(file=sys.argv[1], tables=sys.argv[2], database="mimic_iii")
beds = bound["FilterDB"](bound["LoadDB"]("beds"), "ROOM in [7, 8]||NOTE=window||count(ROOM)>=1||max(SINCE)")
bound["GetValue"](beds, "ID, mean"), bound["GetValue"](beds, "ID, list"), bound["Calendar"]("-1 year"), bound["Calculate"]("mean(1, 2)")
bound["SQLInterpreter"]("select strftime('%Y', current_time)")
try:
    bound["FilterDB"](beds, "NOTE=windows")
except Exception as error:
    assert error.kind == "no_such_value"
assert not [path for path in opened if "/components/" in path], opened
assert not threads or len(os.listdir("/proc/self/task")) == threads
assert not {"yaml", "hydra", "mlflow", "litellm"} & set(sys.modules)
"""


@slow
def test_a_process_needs_no_source_and_no_thread_after_the_module_is_loaded(places):
    line = [sys.executable, "-c", WITHOUT_SOURCE, places["file"], places["tables"]]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
