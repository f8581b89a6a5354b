from tests.wards import sample, toolset


def state(**changes):
    return toolset(**changes).open(sample()).state


async def test_variables_of_a_kept_state_live_on_in_its_fork_and_apart_from_it():
    kept = state(state="episode")
    await kept.run("n = 1\nanswer = n")
    fork = kept.fork()
    assert (await fork.run("n += 1\nanswer = n")).answer == "2"
    assert (await kept.run("answer = n")).answer == "1"
    fork.close(), kept.close()


async def test_a_fork_of_a_state_without_memory_has_its_table_alone():
    plain = state()
    plain.table = plain.tables.load("patients")
    await plain.run("n = 1\nanswer = n")
    fork = plain.fork()
    assert fork.table is plain.table and (await fork.run("answer = n")).error.type == "NameError"
    fork.close(), plain.close()


async def test_closing_twice_or_before_any_code_has_no_effect():
    plain = state()
    plain.close()
    assert (await plain.run("answer = 1")).answer == "1"
    plain.close(), plain.close()
