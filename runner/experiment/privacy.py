"""Who may receive data of a class: models, tools that ask services, and programs of agents."""

from collections.abc import Mapping

from components.core.errors import ConfigError
from components.core.protocols import Model
from components.core.traits import Requirements, ToolsetTraits, ToolTraits, agents_in, declared
from runner.episode.shared import Parts


class PrivacyRefused(ConfigError):
    """The data may not go to the model. ``decision`` is for the manifest."""

    def __init__(self, decision: Mapping[str, str]) -> None:
        super().__init__(decision["reason"])
        self.decision = decision


def permit(privacy: str, models: Mapping[str, Model], parts: Parts, what: str = "dataset") -> dict[str, str]:
    """Whether models, tools and agents may see data of a class, for the manifest. Raises PrivacyRefused."""
    names, traits = ", ".join(sorted({model.name for model in models.values()})), declared(parts.toolset, ToolsetTraits)
    decision = {"dataset": privacy, "model": names, "decision": "permitted"}
    if privacy == "open":
        return decision | {"reason": "the data are open"}
    receivers = [  # who, what it may get, who else, its key
        (f"tool {name} asks a service, which", traits.permits, "it", "toolset")
        for name, tool in traits.tools.items()
        if tool.effect == "external" or declared(tool, ToolTraits).sends_data_out
    ]
    for agent in agents_in(parts.agent):
        if (permits := declared(agent, Requirements).permits) is not None:
            receivers.append((f"program of {type(agent).__name__}", permits, "it", "agent"))
    outside = {role: model for role, model in models.items() if not model.in_process}
    for role, model in outside.items():
        key = "model" if role == "main" else f"models.{role}"
        receivers.append((f"model {model.name!r}", model.permits, "its endpoint", key))
    for who, permits, receiver, key in receivers:
        if privacy not in permits:
            reason = (
                f"the {what} is {privacy} and the {who} may only get data that are {', '.join(['open', *permits])};"
                f" if {receiver} may receive such data: {key}.permits=[{privacy}]"
            )
            raise PrivacyRefused(decision | {"decision": "refused", "reason": reason})
    kept = "the model runs in this process: nothing leaves it"
    return decision | {"reason": f"every model's permits hold {privacy}" if outside else kept}
