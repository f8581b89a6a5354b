from components.stages.prompt_history import number, page, round_said

GAIN = {"metric": "m", "gain": 0.25, "pairs": 40, "test": "permutation", "p": 0.03}


def test_a_decision_is_said_with_its_numbers():
    assert round_said(GAIN, 0.05, True) == "gain in m 0.25 over 40 pairs, permutation p 0.03 <= 0.05"
    assert round_said(GAIN, 0.01, False).endswith("p 0.03: not below 0.01")
    assert round_said(GAIN | {"gain": -1.0}, 0.05, False).endswith(": no gain")
    assert round_said(GAIN | {"gain": None, "p": None}, 0.05, False).endswith("p -: no gain") and number(None) == "-"


def test_the_last_line_says_how_to_choose_the_set():
    notes = {"base": "b", "model_kind": "live", "rounds": [], "status": "complete", "digest": "d"}
    assert page(notes, "mine", "outputs/.prompts/mine")[-1].endswith("agent.prompts=mine")
    assert page(notes, "mine", "/elsewhere")[-1].endswith("agent.prompts=/elsewhere")
    assert "(simulated model)" in page(notes | {"model_kind": "simulated"}, "mine", "x")[0]
