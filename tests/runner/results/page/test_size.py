"""The page is at most 1 MB per 50 episodes."""

import random

from runner.results.render.formats import page
from runner.results.sections import episodes
from tests.runner.results.page.episode_runs import data, episode, written
from tests.slow import slow


def long_runs(home, count, characters):
    """A run of episodes that reply with words of their own, each a tool's page and an answer of half these lengths."""
    rng, pairs = random.Random(0), []
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(4_000)]
    for n in range(count):
        text = "\n".join(" ".join(rng.choices(words, k=40)) for _ in range(characters // 260))
        pairs.append((f"s{n}", episode(f"s{n}", "Books", text=text), 1.0))
    return [written(home / "long", pairs)]


@slow
def test_fifty_episodes_of_long_texts_are_at_most_a_megabyte(tmp_path):
    runs = long_runs(tmp_path, 50, 200_000)
    assert len(page("t", "", [], [episodes.section(runs)])) <= 1_000_000


@slow
def test_a_text_that_is_cut_says_how_to_read_the_whole(tmp_path):
    runs = long_runs(tmp_path, 50, 60_000)
    section = episodes.section(runs)
    index = data(section, "index")
    texts = [one for n, _ in enumerate(index["texts"]) for one in data(section, f"texts-{n}")]
    note, *_ = (one for one in texts if "characters are left out" in one and "episode s7 " in one)
    assert note.endswith(f"whole: python -m runner.report episode s7 {runs[0].folder} --prompts ...]")
    short = episodes.section(long_runs(tmp_path / "few", 2, 60_000))
    texts = [one for n, _ in enumerate(data(short, "index")["texts"]) for one in data(short, f"texts-{n}")]
    assert not any("left out" in one for one in texts), "few episodes are whole"
