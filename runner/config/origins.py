"""Where a value of a composed configuration comes from: the file and line, or the word of the command."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from hydra.core.config_loader import ConfigLoader
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from runner.config.catalogue import Catalogue
from runner.config.errors import near

COMMAND = "command line"


@dataclass(frozen=True)
class Origins:
    """The files and overrides of a composed config."""

    loader: ConfigLoader
    config: DictConfig

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are searched for groups, first hit first."""
        sources = self.loader.get_sources()
        return tuple(Path(s.path) for s in sources if s.scheme() == "file" and s.path)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All files of these folders."""
        return Catalogue(self.roots)

    @cached_property
    def overrides(self) -> list[str]:
        """The words of the command line, as they were given."""
        return words_of(self.config, "task")

    def of(self, key: str) -> str:
        """The address of a key, or of the deepest part of it that is written anywhere."""
        for override in reversed(self.overrides):
            name = override.lstrip("+~").partition("=")[0]
            if name == key or ("." in name and key.startswith((f"{name}.", f"{name}["))):
                return f"{COMMAND}: {override}"
        return self._find(key)[1] or COMMAND

    def follows(self, key: str, top: str) -> bool:
        """Whether a file has an interpolation of ``top`` at the key or above it."""
        return self._find(key)[2].startswith(f"${{{top}")

    def _find(self, key: str) -> tuple[int, str, str]:
        """How many steps of a key are written anywhere, the address of the last one, its text where it is a scalar."""
        steps, best = re.findall(r"[^.\[\]]+", key), (-1, "", "")
        for package, path in self._files:
            if steps[: len(package)] != package:
                continue
            node, line, depth = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader), 1, len(package)
            for step in steps[len(package) :]:
                child = None
                if isinstance(node, yaml.MappingNode):
                    child = next(((k, v) for k, v in node.value if k.value == step), None)
                elif isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
                    child = (node.value[int(step)],) * 2
                if child is None:
                    break
                node, line, depth = child[1], child[0].start_mark.line + 1, depth + 1
            if depth > best[0]:
                best = depth, f"{near(path)}:{line}", node.value if isinstance(node, yaml.ScalarNode) else ""
        return best

    @cached_property
    def _files(self) -> list[tuple[list[str], Path]]:
        """(package, file) of everything that was merged, the one that wins first."""
        overrides = [*words_of(self.config, "hydra"), *self.overrides]
        name = self.config.hydra.job.config_name
        # ConfigLoaderImpl's, not in the abstract class
        defaults: Any = self.loader.compute_defaults_list(name, overrides, RunMode.RUN)
        files = []
        for default in reversed(defaults.defaults):
            paths = (root / f"{default.config_path}.yaml" for root in self.roots)
            if (path := next((path for path in paths if path.is_file()), None)) is not None:
                files.append(([p for p in (default.package or "").split(".") if p], path))
        return files


def words_of(config: DictConfig, kind: Literal["hydra", "task"]) -> list[str]:
    """Overrides of one kind; interpolations in them stay unresolved."""
    words = OmegaConf.to_container(config.hydra.overrides[kind], resolve=False)
    return [str(word) for word in words] if isinstance(words, list) else []
