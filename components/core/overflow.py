"""A request that was longer than the model takes, as the failure of its caller.

It ends the episode, unless the method continues without the part that failed: self-consistency counts the other
samples, Reflexion reflects on the trial (its authors' code halts a trial of a prompt that is too long), an expert of a
panel who acts has given no analysis.
"""

from components.core.errors import OVERFLOW, ModelError
from components.core.types import CONTEXT_LENGTH, Failure


def as_failure(error: ModelError) -> Failure:
    """The failure that an overflow of the context window is. Raises the error where it is another one."""
    if error.kind != OVERFLOW:
        raise error
    return Failure(CONTEXT_LENGTH, str(error))
