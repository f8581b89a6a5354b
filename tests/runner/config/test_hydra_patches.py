"""Patched Hydra composes the same configs, and tests that fail once a patch is obsolete."""

import inspect
import subprocess
import sys

import hydra
import omegaconf
import pytest
from hydra import compose, initialize_config_dir
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.hydra import Hydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf, _utils, base, grammar_parser
from yaml.constructor import ConstructorError

from runner.config import hydra_patches
from runner.config.catalogue import CONF
from runner.config.hydra_patches import (
    _COMPOSED_MODE,
    _LIST,
    _MAP_OF_CHOICES,
    _MERGED,
    _NAMES_MODE,
    _PARSE_RULE,
    _PLAIN,
    _YAML_LOADER,
    KNOWN,
    Kept,
    _read,
    _yaml_loader,
    apply_patches,
)
from tests.slow import slow
from tests.table import each_row

WORDS = [["tracking=off"], ["agent=react", "profile=code", "limit=3"], ["experiment=hello", "scorer=choice"],
         ["experiment=ehragent/table1", "agent=self_consistency", "agent@agent.inner=cot"]]  # fmt: skip


def composed():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        configs = [compose("config", words, return_hydra_config=True) for words in [*WORDS, *WORDS]]
        return [OmegaConf.to_yaml(config) for config in configs]


@slow
def test_configs_are_the_same(monkeypatch):
    apply_patches.__wrapped__()
    patched = composed()
    monkeypatch.setattr(config_loader_impl, "ConfigRepository", ConfigRepository)
    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", _MERGED)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", _MAP_OF_CHOICES)
    monkeypatch.setattr(config_loader_impl, "create_defaults_list", _LIST)
    monkeypatch.setattr(OverridesParser, "parse_rule", _PARSE_RULE)
    monkeypatch.setattr(Hydra, "get_mode", _COMPOSED_MODE)
    monkeypatch.setattr(_utils, "get_yaml_loader", _YAML_LOADER)
    monkeypatch.setattr(_utils, "parse", grammar_parser.parse)
    monkeypatch.setattr(base, "parse", grammar_parser.parse)
    assert composed() == patched


@pytest.mark.parametrize("text", ["a: 1e3\nb: 1_000\nc: 08:30\nd: on\ne: 2026-01-01\nf: .inf", "a: &x [1, '2']\nb: *x"])
def test_yaml_is_read_as_omegaconf_reads_it(monkeypatch, text):
    plain = OmegaConf.create(text)
    monkeypatch.setattr(_utils, "get_yaml_loader", _yaml_loader)
    assert OmegaConf.create(text) == plain
    with pytest.raises(ConstructorError, match="found duplicate key a"):
        OmegaConf.create("a: 1\na: 2")


@slow
@pytest.mark.parametrize(("text", "expected"), [("limit: 3", "1 of 1"), ("hydra: {mode: MULTIRUN}", "sweep of 1 jobs")])
def test_experiment_sets_the_mode_through_its_base_too(home, text, expected):
    home.write("experiment/inner", f"# @package _global_\ndefaults: [own]\n{text}")
    home.write("experiment/outer", "# @package _global_\ndefaults: [inner]")
    done = home.run("--config-dir", "conf", "experiment=outer", "limit=1", plain=True)
    assert done.code == 0 and expected in done.out + done.err, done


def test_no_shipped_experiment_requires_composing_twice():
    found = [path for path in (CONF / "experiment").rglob("*.yaml") if _NAMES_MODE.search(path.read_text())]
    assert found == []


@each_row(
    "original, does",
    [
        (_COMPOSED_MODE, "compose_config("),  # _mode: the whole config is composed to read one value
        (_YAML_LOADER, "yaml.SafeLoader"),  # _yaml_loader: YAML is read in Python
        (_MAP_OF_CHOICES, "OmegaConf.create("),  # _choices: a config is made, whether or not anything is interpolated
        (_MERGED, "for default in defaults"),  # _merge: every file is merged for every config
        (_LIST, "Overrides("),  # _create_list: every config walks through the defaults lists of its files
        (_PARSE_RULE, "OverrideParser("),  # _parse_rule: a word is parsed once per job
        (grammar_parser.parse, "parser.reset()"),  # an interpolation is parsed whenever it is resolved
        (
            ConfigLoaderImpl._parse_overrides_and_create_caching_repo,
            "CachingConfigRepository(",
        ),  # Kept
    ],
)
def test_patch_is_still_needed(original, does):
    assert does in inspect.getsource(original), "the patch may be obsolete: measure without it"


def test_the_patches_are_for_the_pinned_versions():
    assert hydra.__version__.startswith(KNOWN[0]) and omegaconf.__version__.startswith(KNOWN[1])


def test_a_config_that_was_kept_is_a_copy_and_so_is_each_parsed_word():
    apply_patches.__wrapped__()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        first = compose("config", ["agent=react", "limit=3"])
        first.name = "changed"
        second = compose("config", ["agent=react", "limit=4"])
    assert (first.limit, second.limit) == (3, 4) and second.name != "changed"
    one, other = (OverridesParser.create().parse_rule("a=[1,2]", "override") for _ in range(2))
    one.config_loader = "of the first"
    assert one.value() == other.value() == [1, 2] and other.config_loader is None


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(hydra_patches, "_MOST_KEPT", 2)
    kept = Kept(ConfigSearchPathImpl())
    for number in (1, 2, 3):
        assert kept.once(number, lambda number=number: [number]) == [number]
    assert kept.once(3, lambda: "made again") == [3] and kept.once(1, lambda: "made again") == "made again"


def test_a_config_is_shown_without_what_runs_it():
    heavy = ["asyncio", "jinja2", "mlflow", "numpy", "pydantic", "runner.sweep.plugins"]
    start = "import sys; sys.argv[1:] = ['--cfg', 'job']; from runner.__main__ import main; main()"
    code = f"{start}; print([one for one in {heavy} if one in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_plain_words_are_read_as_the_grammar_reads_them():
    parser = OverridesParser.create()
    keys = ("seed", "model.name", "hydra/launcher", "a_1.b2", "1a", "a.", "a@b", "a-b", "+a", "~a")
    values = ("0", "12", "007", "1_0", "-3", "1.5", "1e5", "true", "Inf", "Null", "inf", "a", "gpt-4o", "v1.5", "a:b",
              "http://127.0.0.1:9/v1", "a/b.c", "a.", "[a]", "a,b", "'a'", "$" + "{a}", "nan5", "range(1,2)", "")  # fmt: skip
    plain = 0
    for text in (f"{key}={value}" for key in keys for value in values):
        if _PLAIN.fullmatch(text):
            plain += 1
            read, known = _read(parser, text, "override"), _PARSE_RULE(parser, text, "override")
            assert (vars(read), type(read._value)) == (vars(known), type(known._value)), text
    assert plain > 20
