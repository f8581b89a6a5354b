"""What a part says of itself in names that are read no more."""

from collections.abc import Mapping

# Protocol -> where a part declares, and what stood on the part itself before -> the field of the declaration.
_DECLARED: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "Agent": ("requirements", "Requirements", {
        "needs_models": "models", "needs_controls": "controls", "needs_memory": "memory", "fits": "accepts",
        "brings_verifier": "verifier", "brings": "tools", "bare": "only_own_tools", "states": "facts",
        "shown_patients": "shown_patients", "runs_code": "sandbox", "export": "export",
    }),
    "Model": ("traits", "ModelTraits", {"vision": "vision", "price_row": "price", "stats": "counters"}),
    "Scorer": ("traits", "ScorerTraits", {
        "levels": "levels", "by": "by", "lower": "lower", "neither": "neither", "units": "units", "kinds": "kinds",
        "decides": "decides", "blocking": "blocking", "consult": "asks", "follow": "follows",
    }),
    "Toolset": ("traits", "ToolsetTraits", {
        "tools": "tools", "permits": "permits", "notes": "notes", "runs_code": "sandbox", "ready": "prepare",
    }),
    "Tool": ("traits", "ToolTraits", {"identity": "identity", "untried": "triable", "wraps": "wrapped"}),
    "Dataset": ("traits", "DatasetTraits", {"base": "base"}),
    "Grammar": ("traits", "GrammarTraits", {"needs_tools": "needs_tools"}),
    "Source": ("traits", "SourceTraits", {"holds": "holds", "grows": "grows"}),
}  # fmt: skip


def undeclared_in(kind: type, protocol: str) -> str | None:
    """What a class has under a name that is read no more, where it declares nothing; None: nothing."""
    name, declaration, fields = _DECLARED.get(protocol, ("", "", {}))
    has = {one for base in kind.__mro__ for one in (*vars(base), *vars(base).get("__annotations__", ()))}
    if not name or name in has or not (found := next((one for one in fields if one in has), None)):
        return None
    return (
        f"{kind.__qualname__}.{found} is not read; declare it as"
        f" {name} = {declaration}({fields[found]}=...) (components/core/traits.py)"
    )
