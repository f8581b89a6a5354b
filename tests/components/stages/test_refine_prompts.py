"""Rounds of refinement: kept where the paired test says better, written as an ordinary set, resumed."""

import json
from pathlib import Path

import pytest

from components.agents.direct import Direct
from components.core.errors import ConfigError
from components.core.types import Answer
from components.prompts import load
from components.stages.refine_prompts import RefinePrompts
from runner.storage.journal import Journal
from tests.slow import slow
from tests.stage_bench import ASK, CAREFUL, Class, Halves, base_set, bench

SMALL = {
    "rounds": 2, "train_records": 2, "validation_records": 2, "trials": 1, "metric": "score/right", "alpha": 1.0,
}  # fmt: skip


@pytest.fixture
def base(tmp_path):
    return base_set(tmp_path / "base")


def stage(tmp_path, **changes):
    return RefinePrompts(**{"folder": str(tmp_path / "made"), **SMALL, **changes})


def notes_of(made):
    return json.loads((made.folder / "manifest.json").read_text())


async def test_a_set_that_is_better_on_validation_records_is_kept_as_an_ordinary_set(tmp_path, base):
    room = Class()
    made = await stage(tmp_path).make(bench(room.say, base))
    notes = notes_of(made)
    first, second = notes["rounds"]
    assert first["kept"] and (first["before"], first["after"], first["gain"]["gain"]) == (0.0, 1.0, 1.0)
    assert first["failed"] == first["played"] == 4 and second["failed"] == 0 and second["why"] == "nothing failed"
    assert load(str(made.folder)).render("ask", question="Why?") == "Be careful. Answer this: Why?"
    assert load(str(made.folder)).digest == notes["digest"] != load(base).digest
    calls = {purpose: usage["calls"] for purpose, usage in notes["usage"].items()}
    assert calls == {"answer": 4 + 4 + 4 + 4, "reflect": 1, "build": 1}
    assert sum(calls.values()) == len(room.asked) - 1, "without a journal the episode that shows the scores is paid"
    assert (made.folder / "branch.jinja").read_text() == "{% if question %}yes{% endif %}", "what is not plain stays"
    assert (made.folder / "history" / "round-1.diff").read_text() == (
        f"--- old/ask.jinja\n+++ new/ask.jinja\n@@ -1 +1 @@\n-{ASK}\n+{CAREFUL}\n"
    )
    page = (made.folder / "history" / "round-1.md").read_text()
    assert "Kept: gain in score/right 1 over 4 pairs" in page and room.critique in page and "It ended: answered" in page


async def test_no_two_parts_share_a_record(tmp_path, base):
    made = await stage(tmp_path, compare_records=2).make(bench(Class().say, base))
    records = notes_of(made)["records"]
    assert [len(one) for one in records.values()] == [2, 2, 2]
    assert len({name for one in records.values() for name in one}) == 6


async def test_a_record_that_is_evaluated_too_is_refused(tmp_path, base):
    desk = bench(Class().say, base, Halves(shared=True))
    with pytest.raises(ConfigError, match=r"record 'p0' is evaluated and in the split 'train'"):
        stage(tmp_path).check(desk)


async def test_a_set_that_is_not_better_is_not_kept_and_the_old_set_stays(tmp_path, base):
    room = Class(rewrites=["<rewritten>Quick now. Answer this: {{ question }}</rewritten>"])
    made = await stage(tmp_path).make(bench(room.say, base))
    assert [one["kept"] for one in notes_of(made)["rounds"]] == [False, False]
    assert notes_of(made)["rounds"][0]["why"].endswith("no gain") and load(str(made.folder)).digest == load(base).digest


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("<rewritten>Be careful.</rewritten>", "{{ question }} is lost"),
        ("<rewritten>{{ question }} {{ cycler.__init__.__globals__ }} careful</rewritten>", "is more than a name"),
        ("<rewritten>{% for x in range(9) %}careful {{ question }}{% endfor %}</rewritten>", "is more than a name"),
        ("Be careful. {{ question }}", "nothing stands between <rewritten> and </rewritten>"),
    ],
)
async def test_a_rewriting_that_is_not_plain_or_loses_a_slot_is_refused_with_the_reason(tmp_path, base, reply, message):
    room = Class(rewrites=[reply])
    made = await stage(tmp_path, rounds=1, draws=2).make(bench(room.say, base))
    (round_,) = notes_of(made)["rounds"]
    assert not round_["kept"] and message in round_["refused"]["ask"] and any(message in line for line in made.lines)
    asked = [one for one in room.asked if "<rewritten>" in one.messages[-1].text]
    assert len(asked) == 2 and "Your last version was refused" in asked[1].messages[-1].text
    assert {one.role for one in asked} == {"main"} and load(str(made.folder)).texts["ask"] == ASK


async def test_a_refused_rewriting_is_asked_for_again(tmp_path, base):
    room = Class(rewrites=["no", f"<rewritten>{CAREFUL}</rewritten>"])
    made = await stage(tmp_path, rounds=1).make(bench(room.say, base))
    assert notes_of(made)["rounds"][0]["kept"] and not notes_of(made)["rounds"][0]["refused"]


async def test_a_pause_waits_for_manual_edits_and_resumes_with_them(tmp_path, base):
    room = Class(rewrites=["<rewritten>Quick now. {{ question }}</rewritten>"])
    paused = stage(tmp_path, pause=True, alpha=None, validation_records=0, compare_records=1, compare_trials=2)
    made = await paused.make(bench(room.say, base))
    assert notes_of(made)["status"] == "waiting" and any("give the same command again" in line for line in made.lines)
    (made.folder / "ask.jinja").write_text("By hand: be careful. {{ question }}\n")
    made = await paused.make(bench(room.say, base))
    notes = notes_of(made)
    assert notes["rounds"][0]["edited"] and notes["rounds"][1]["failed"] == 0 and notes["status"] == "waiting"
    assert "+By hand: be careful." in (made.folder / "history" / "edited-after-round-1.diff").read_text()
    made = await paused.make(bench(room.say, base))
    notes = notes_of(made)
    assert notes["status"] == "complete" and notes["compared"]["records"][0] | {"record": ""} == {
        "record": "", "plain": 0.0, "refined": 1.0, "n": 4,
    }  # fmt: skip
    assert (made.folder / "history" / "comparison.svg").read_text().count("<circle") == 1
    n = len(room.asked)
    assert (await paused.make(bench(room.say, base))).lines == made.lines and len(room.asked) == n, "it was there"


async def test_an_edit_by_hand_that_a_prompt_may_not_have_is_refused(tmp_path, base):
    paused = stage(tmp_path, pause=True)
    made = await paused.make(bench(Class().say, base))
    (made.folder / "ask.jinja").write_text("{{ question }} {% include 'x' %}")
    with pytest.raises(ConfigError, match=r"made/ask\.jinja: line 1: .* is more than a name in braces"):
        await paused.make(bench(Class().say, base))
    (made.folder / "ask.jinja").write_text("{{ question }}\n")
    (made.folder / "branch.jinja").write_text("{{ question }}\n{% if %}")
    with pytest.raises(ConfigError, match=r"made/branch\.jinja, line 2: "):
        await paused.make(bench(Class().say, base))
    (made.folder / "branch.jinja").write_text("{{ question }}\n")
    again = await paused.make(bench(Class().say, base))
    assert notes_of(again)["rounds"][0]["edited"] and len(notes_of(again)["rounds"]) == 2, "repaired, it resumes"


class Killed(BaseException):
    """The process was killed; nothing more is written."""


def kills(monkeypatch, when):
    """The process ends when it is about to replace a file that ``when`` holds for."""
    replace = Path.replace

    def replacing(path, target):
        if when(target):
            raise Killed
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replacing)


@slow
@pytest.mark.parametrize(
    ("pause", "points"),
    [(True, (5,)), pytest.param(True, range(1, 13), marks=slow), pytest.param(False, range(1, 13), marks=slow)],
)
async def test_a_kill_wherever_a_stage_writes_changes_nothing_of_what_comes_of_it(
    tmp_path, base, monkeypatch, pause, points
):
    """Killed before the n-th file it writes, and begun again, it leaves the same set as an uninterrupted stage."""
    rewrites = [f"<rewritten>{'very ' * n}careful {{{{ question }}}}</rewritten>" for n in range(1, 9)]
    setting = {"pause": pause, "alpha": None, "validation_records": 0, "rounds": 2, "metric": "score/right"}
    talk = Class(critique="- In ask: more", rewrites=rewrites)

    async def whole(folder, journal, killed=0):
        made, seen, count, pauses = None, 0, iter(range(1, 999)), 0
        with monkeypatch.context() as patch:
            kills(patch, lambda target: next(count) == killed)
            while made is None or notes_of(made)["status"] != "complete":
                work = stage(tmp_path, folder=str(tmp_path / folder), **setting)
                try:
                    made = await work.make(bench(talk.say, base, journal=journal))
                except Killed:
                    seen += 1
                else:
                    pauses += notes_of(made)["status"] == "waiting"
        texts = {path.name: path.read_text() for path in made.folder.glob("*.jinja")}
        return notes_of(made), (texts, pauses), seen

    with Journal(tmp_path / "journal") as journal:
        left, came, _ = await whole("left", journal)
        n = len(talk.asked)
        for killed in points:
            resumed, same, seen = await whole(f"struck-{killed}", journal, killed)
            assert seen == 1 and len(talk.asked) == n, "and nothing is paid twice"
            assert resumed["rounds"] == left["rounds"] and resumed["digest"] == left["digest"] and came == same
            assert not any(one["edited"] for one in resumed["rounds"]) and resumed["usage"] == left["usage"]


async def test_begun_again_nothing_is_paid_twice_and_other_settings_are_refused(tmp_path, base):
    room = Class()
    with Journal(tmp_path / "journal") as journal:
        first = await stage(tmp_path).make(bench(room.say, base, journal=journal))
        n = len(room.asked)
        (first.folder / "manifest.json").unlink()
        for path in [*first.folder.glob("*.*")]:
            path.unlink()
        for path in sorted(first.folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        again = await stage(tmp_path).make(bench(room.say, base, journal=journal))
    assert len(room.asked) == n and again.lines == first.lines
    with pytest.raises(ConfigError, match=r"choose another stage\.name"):
        stage(tmp_path).check(bench(room.say, base, stage={"rounds": 9}))


def test_unsuitable_settings_are_refused_before_any_model_call(tmp_path, base):
    with pytest.raises(ConfigError, match="3 training and 2 validation records are requested, and the split 'train'"):
        stage(tmp_path, train_records=3).check(bench(Class().say, base))
    with pytest.raises(ConfigError, match=r"'branch' of .* cannot be rewritten; these can: ask"):
        stage(tmp_path, templates=["branch"]).check(bench(Class().say, base))
    with pytest.raises(ConfigError, match=r"stage\.name='react' is the name of a shipped set"):
        stage(tmp_path, folder=None, name="react").check(bench(Class().say, base))
    with pytest.raises(ConfigError, match="nothing to refine"):
        stage(tmp_path, templates=[]).check(bench(Class().say, base))

    class Mute:
        async def solve(self, episode):
            return Answer("")

    with pytest.raises(ConfigError, match="Mute has no prompt set of its own"):
        stage(tmp_path).check(bench(Class().say, base, agent=Mute()))
    with pytest.raises(ConfigError, match="no template of the prompt set 'direct' can be rewritten: each decides"):
        stage(tmp_path).check(bench(Class().say, base, agent=Direct()))
    with pytest.raises(ConfigError, match="leaves nothing to test on"):
        stage(tmp_path, validation_records=0)


async def test_a_metric_that_no_scorer_gives_is_refused(tmp_path, base):
    room = Class()
    with pytest.raises(ConfigError, match=r"stage\.metric: 'x' scores no episode here; these do: score/right"):
        await stage(tmp_path, metric="x").make(bench(room.say, base))
    with pytest.raises(ConfigError, match=r"stage\.solved_by: 'y' scores no episode"):
        await stage(tmp_path, folder=str(tmp_path / "other"), solved_by="y").make(bench(room.say, base))
    assert len(room.asked) == 2, "it is reported after the first episode"
