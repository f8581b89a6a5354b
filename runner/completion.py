"""Tab completion of ``wardround`` and ``python -m runner``: one command installs it for a shell.

Hydra answers what can follow (``-sc query=bash``); it knows no ``python -m`` and nothing after a comma, so the
functions here turn both into a line that it knows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runner.flaws import nearest

_BASH = r"""# Tab completion of wardround and python -m runner; written by: python -m runner --install-completion
_wardround_complete() {
    local line="${COMP_LINE:0:COMP_POINT}" word rest done="" choices
    local -a run=("${COMP_WORDS[0]}")
    if [[ "${COMP_WORDS[0]##*/}" == python* ]]; then
        [[ "$line" =~ ^[^\ ]+\ +-m\ +runner\ (.*)$ ]] || return
        rest="${BASH_REMATCH[1]}"
        run+=(-m runner)
    else
        rest="${line#* }"
    fi
    word="${rest##* }"
    rest="${rest%"$word"}"
    if [[ "$word" == *=*,* ]]; then
        done="${word#*=}"
        done="${done%,*},"
        word="${word%%=*}=${word##*,}"
    fi
    choices="$(COMP_LINE="runner $rest$word" "${run[@]}" -sc query=bash 2>/dev/null)"
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
    if [[ -n "$done" ]]; then
        COMPREPLY=("${COMPREPLY[@]/#"${word%%=*}="/"${word%%=*}=$done"}")
    fi
    if [[ "$COMP_WORDBREAKS" == *=* && "$word" == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#*=}")
    fi
}
complete -o nospace -o default -F _wardround_complete wardround python python3
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
_FISH = r"""# Tab completion of wardround and python -m runner; written by: python -m runner --install-completion fish
function __wardround_complete
    set -l line (commandline -cp)
    set -l rest (string replace -r '^\\S+(\\s+-m\\s+runner)?' '' -- $line)
    set -l run (string match -r '^\\S+(?:\\s+-m\\s+runner)?' -- $line)
    COMP_LINE="runner$rest" eval $run -sc query=fish 2>/dev/null
end
function __wardround_asked
    string match -rq '^\\S+\\s+-m\\s+runner\\s' -- (commandline -cp)
end
complete -c wardround -x -a '(__wardround_complete)'
for name in python python3
    complete -c $name -x -a '(__wardround_complete)' -n __wardround_asked
end
"""


def install(shell: str = "") -> int:
    """Write the completion of a shell, by default the one in use, and have it loaded. Returns the exit code."""
    name = shell or Path(os.environ.get("SHELL", "bash")).name
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if name not in writers:
        print(f"no completion for {name!r}: {nearest(name, writers)}", file=sys.stderr)  # noqa: T201
        return 2
    print(f"{name} completes wardround and python -m runner in new shells: {writers[name]()}")  # noqa: T201
    return 0


def _bash() -> Path:
    return _sourced(".bashrc", "completion.bash", _BASH)


def _zsh() -> Path:
    return _sourced(".zshrc", "completion.zsh", _ZSH + _BASH)


def _fish() -> Path:
    path = _settings() / "fish" / "conf.d" / "wardround.fish"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_FISH, encoding="utf-8")
    return path


def _sourced(start: str, name: str, script: str) -> Path:
    """Write a script and one line that loads it into a shell's start file; once."""
    path = _settings() / "wardround" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    line = f'[ -f "{path}" ] && . "{path}"  # wardround\n'
    start_file = Path.home() / start
    old = start_file.read_text(encoding="utf-8") if start_file.exists() else ""
    if line not in old:
        gap = "" if not old or old.endswith("\n") else "\n"
        with start_file.open("a", encoding="utf-8") as file:
            file.write(gap + line)
    return path


def _settings() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
