"""Whether the models and tools of an experiment may see its data."""

from collections.abc import Mapping

from components.core.errors import ConfigError
from components.core.protocols import Model, Toolset
from components.core.traits import toolset_traits


class PrivacyRefused(ConfigError):
    """The data may not go to the model. ``decision`` is for the manifest."""

    def __init__(self, decision: Mapping[str, str]) -> None:
        super().__init__(decision["reason"])
        self.decision = decision


def permit(privacy: str, models: Mapping[str, Model], toolset: Toolset, what: str = "dataset") -> dict[str, str]:
    """Whether these models and tools may see data of a class, for the manifest. Raises PrivacyRefused."""
    names = ", ".join(sorted({model.name for model in models.values()}))
    decision = {"dataset": privacy, "model": names, "decision": "permitted"}
    outside = {role: model for role, model in models.items() if not model.in_process}
    if privacy == "open":
        return decision | {"reason": "the data are open"}
    _permit_tools(privacy, toolset, decision, what)
    if not outside:
        return decision | {"reason": "the model runs in this process: nothing leaves it"}
    for role, model in outside.items():
        if privacy not in model.permits:
            key = "model" if role == "main" else f"models.{role}"
            allowed = ", ".join(["open", *model.permits])
            reason = (
                f"the {what} is {privacy} and the model {model.name!r} may only get data that are {allowed};"
                f" if its endpoint may receive such data: {key}.permits=[{privacy}]"
            )
            raise PrivacyRefused(decision | {"decision": "refused", "reason": reason})
    return decision | {"reason": f"every model's permits hold {privacy}"}


def _permit_tools(privacy: str, toolset: Toolset, decision: Mapping[str, str], what: str) -> None:
    """Raises PrivacyRefused when a tool could carry what it is asked to a service that may not get it."""
    traits = toolset_traits(toolset)
    outside = [name for name, tool in traits.tools.items() if tool.effect == "external"]
    if outside and privacy not in traits.permits:
        allowed = ", ".join(["open", *traits.permits])
        reason = (
            f"the {what} is {privacy} and the tool {outside[0]} asks a service, which may only get data that"
            f" are {allowed}; if it may receive such data: toolset.permits=[{privacy}]"
        )
        raise PrivacyRefused(dict(decision) | {"decision": "refused", "reason": reason})
