"""The verifier that checks nothing."""

from components.core.messages import Message
from components.core.types import Action
from components.verifiers.accept import Accept


async def test_the_first_proposal_is_taken_as_it_is():
    proposals = [Action(Message("assistant", "?"), error="unreadable"), Action(Message("assistant", "b"), answer="b")]
    left = list(proposals)

    async def propose():
        return left.pop(0)

    assert await Accept().choose([], propose, None) is proposals[0] and len(left) == 1
