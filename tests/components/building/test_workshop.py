from dataclasses import replace

from components.building.specification import read
from tests.components.building.formulas import CLEARANCE, RIGHT, WRONG, Shop, fenced
from tests.table import each_row

SPEC = read(CLEARANCE)


async def test_right_code_passes_at_once(building):
    shop = Shop(fenced(RIGHT))
    built = await building.build(SPEC, shop)
    assert built.passed and built.attempts == 1 and built.code == RIGHT.strip()
    assert built.facts(SPEC.name)["code"] == built.code and built.facts(SPEC.name)["specified"]


async def test_the_builder_is_asked_in_its_own_role_and_given_the_error(building):
    shop = Shop(fenced(WRONG), "I am thinking.", fenced(RIGHT))
    built = await building.build(SPEC, shop)
    assert built.passed and built.attempts == 3
    assert {(purpose, role) for _, purpose, role in shop.asked} == {("build", "builder")}
    system, asked = shop.asked[0][0]
    assert system.role == "system" and "Name: CockcroftGault" in asked.text
    assert "gave" not in asked.text and '"output"' not in asked.text and " gives 80.0" in asked.text
    assert "expected was 68.0" in shop.asked[1][0][-1].text
    assert "the reply holds no code" in shop.asked[2][0][-1].text and len(shop.asked[2][0]) == 6


async def test_one_example_is_withheld_while_at_least_two_remain(building):
    shop = Shop(fenced(RIGHT), fenced(RIGHT))
    await building.build(SPEC, shop)
    assert "55.56" not in shop.asked[0][0][1].text
    two = read({**CLEARANCE, "examples": CLEARANCE["examples"][:2]})
    await building.build(two, shop)
    assert "80.0" in shop.asked[1][0][1].text and "68.0" in shop.asked[1][0][1].text


async def test_no_more_repairs_than_allowed(building):
    shop = Shop(*[fenced(WRONG)] * 9)
    built = await building.build(SPEC, shop)
    assert not built.passed and built.attempts == len(shop.asked) == building.repairs + 1


def test_a_call_has_less_time_than_a_question(building):
    assert building.limited_sandbox.limits.wall_seconds == 1.0 == building.limited_sandbox.limits.cpu_seconds
    assert building.sandbox.limits.wall_seconds == 30.0 and building.limited_sandbox is building.limited_sandbox


CODE = {
    "the last of two": ("```\ndef f(): pass\n```\n```py\ndef g(): pass\n```", "def g(): pass"),
    "plain": ("def f(): pass", "def f(): pass"),
    "none": ("I cannot.", ""),
    "half surrogates": ("def f(): '\ud800'", "def f(): '?'"),
}


@each_row("text, code", CODE.values())
async def test_code_is_found_in_a_reply(building, text, code):
    assert (await replace(building, repairs=0).build(SPEC, Shop(text))).code == code
