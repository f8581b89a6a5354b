from components.stages.prompt_history import page


def test_the_last_line_says_how_to_choose_the_set():
    notes = {"base": "b", "model_kind": "live", "rounds": [], "status": "complete", "digest": "d"}
    assert page(notes, "mine")[-1].endswith("agent.prompts=mine")
    assert "(simulated model)" in page(notes | {"model_kind": "simulated"}, "mine")[0]
