from components.stages.prompt_report import figures, page


def test_the_last_line_says_how_to_choose_the_set():
    notes = {"base": "b", "model_kind": "live", "rounds": [], "status": "complete", "digest": "d", "usage": {}}
    assert page(notes, "mine", "d")[-1].endswith("agent.prompts=mine")
    assert "digest:     e (edited by hand since: it was d); choose" in page(notes, "mine", "e")[-1]
    assert "(simulated model)" in page(notes | {"model_kind": "simulated"}, "mine", "d")[0]


def test_a_round_says_how_many_went_wrong_and_the_end_what_it_took_and_where_to_look():
    one = {
        "round": 1,
        "kept": True,
        "why": "better",
        "edited": True,
        "failed": 3,
        "played": 9,
        "refused": {"plan": "no"},
    }
    act = {"calls": 2, "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.5}
    gain = {"wins": 1, "ties": 0, "losses": 0, "t_p": None}
    comparison = {"metric": "m", "records": [{}], "trials": 5, "gain": gain}
    notes = {"base": "b", "model_kind": "live", "rounds": [one], "status": "waiting", "usage": {"act": act}}
    assert page(notes | {"compared": comparison}, "mine", "d")[1:] == [
        "round 1:    3 of 9 went wrong; kept: better, then edited by hand",
        "            refused: plan: no",
        "compared:   m of 1 evaluated records, 5 trials: 1 won, 0 tied, 0 lost, p -; see history/comparison.md",
        "all calls, now and before:",
        "act:        2 calls, 1 tokens in, 1 out, $0.5000",
        "to resume:  read history/round-1.md, edit the .jinja files there if you like,",
        "            and give the same command again",
    ]


def test_figures_are_reported_by_round():
    first = {"round": 1, "kept": True, "failed": 3, "metric": "m", "train": 0.5, "before": 0.4, "after": 0.6}
    second = {"round": 2, "kept": False, "failed": 0, "metric": "m", "train": 0.9, "after": None}
    records = [{"plain": 1.0, "refined": 0.0}, {"plain": 2.0, "refined": 1.0}]
    assert figures({"rounds": [first, second], "compared": {"records": records}}) == {
        "train/failed": [(1, 3.0), (2, 0.0)], "train/m": [(1, 0.5), (2, 0.9)], "round/kept": [(1, 1.0), (2, 0.0)],
        "validation/before": [(1, 0.4)], "validation/after": [(1, 0.6)],
        "compared/plain": [(0, 1.5)], "compared/refined": [(0, 0.5)],
    }  # fmt: skip
    assert figures({"rounds": []}) == {}
