"""The simulated model on radiology: planning, calling tools, concluding, and the prompts of stages."""

import re
from dataclasses import replace

from components.core.messages import Message
from components.radiology.simulated import stages
from components.radiology.simulated.moves import Move, concluded, decide, missing_tool, planned, validated
from components.radiology.simulated.reading import AS_OBJECT, HANDED, REFLECTS, Reader, Situation
from components.simulation.asked import CONCLUDES, MALFORMED, Asked, Responder
from components.simulation.draws import Rates
from components.simulation.grammar import CALLS, STYLE_MARKS, Style, called, finished, refused, said
from components.simulation.history import repeated, review

HEEDS = 0.9  # of findings are heeded
SHOWN_FORM = 0.25  # of the malformed replies are left where replies are shown in the form that is asked for
TAUGHT_SLIPS = 0.3  # of the calls of a wrong tool are left where a solved task is shown
HANDED_SLIPS = 0.4  # of them are left where the plan is handed over in the instructions, with the tools
_TAUGHT = re.compile(r"\[Example\].*^Action: TOOL", re.DOTALL | re.MULTILINE)
_SETS = ("radagent", "radagent_refined")
_CONCLUDES = (*(f"{one}/{part}" for one in _SETS for part in ("conclude", "conclusion")), *CONCLUDES)
_REFLECTION = """<Reflection>
<Candidates>{}</Candidates>
<Reasoning>{}</Reasoning>
<Constraints>{}</Constraints>
</Reflection>"""
_PROPOSAL, _FINDING = "[Proposal]\n", "[Finding]\n"
_PLANS = ("Tool Chain:", AS_OBJECT)  # marks of prompts that ask for a plan
_NEVER = re.compile(r"(?!)")
_SHOWN = {
    "xml": re.compile(r"^<(?:Call|EndCall|NoCall)>", re.MULTILINE),
    "bracket": re.compile(r"^Action: \w+\[", re.MULTILINE),
    "native": re.compile(r"^\w+\(\{", re.MULTILINE),
}


class Radiology(Responder):
    """Questions of RadABench, and of unknown ones those whose prompt shows its tools, memory or plan."""

    def __init__(self) -> None:
        self._reader = Reader()

    def reply(self, asked: Asked) -> Message | None:
        """A plan, a call, a refusal, an answer; a stage's critique, template or record."""
        if len(asked.messages) == 1 and (text := stages.replied(asked)) is not None:
            return said(text)
        target = None if asked.sample is None else asked.sample.target
        if asked.sample is not None and not (isinstance(target, dict) and "chain" in target):
            return None
        situation = self._reader.read(asked.messages, asked.tools)
        plans = situation.plan or not situation.marks.isdisjoint(_PLANS)
        if asked.sample is None and not (situation.cards or situation.memory or plans):
            return None
        if asked.sample is not None and asked.rendered_from("building/request"):
            return said(missing_tool(asked.last, situation, asked.sample, asked.rates, asked.draws))
        return _Turn(asked, situation).reply()


class _Turn:
    """One reply in a dialogue. Its draws depend on the turn; where a verifier repeats a question they are others."""

    def __init__(self, asked: Asked, situation: Situation) -> None:
        self.asked, self.situation, self.sample = asked, situation, asked.sample
        asks = (style for mark, style in STYLE_MARKS.items() if mark in situation.marks)
        self.asks_for: Style | None = "native" if asked.tools else next(asks, None)
        self.style: Style = self.asks_for or "native"
        self.reviewed = asked.reviewed
        self.proposal = asked.last.rpartition(_PROPOSAL)[2].partition("\n\n")[0] if _PROPOSAL in asked.last else None
        n = [message.role for message in asked.messages].count("assistant")
        self.draws = asked.draws if self.reviewed or self.proposal is not None else asked.draws.in_turn(n)
        self.rates = stages.eased(asked.rates, situation.marks)

    def reply(self) -> Message:
        """By the form that the prompt asks for."""
        asked, marks = self.asked, self.situation.marks
        if "<VALID>" in asked.last:
            return said(validated(self.situation, self.sample))
        if asked.rendered_from(*_CONCLUDES):
            return said(self._answer())
        if self.asks_for is None and not marks.isdisjoint(_PLANS):
            return said(planned(self.sample, asked.rates, self.draws, marks))
        if self.draws.happens("malformed", rate := self.rates.malformed):
            examples = [one.text.partition(CALLS)[2] for one in asked.messages if self.asks_for is not None]
            shown = any(map(_SHOWN.get(self.style, _NEVER).search, examples))
            if not shown or self.draws.happens("malformed", rate * SHOWN_FORM):
                return said(MALFORMED)
        if self.reviewed:
            return self._review()
        return finished("native", self._answer()) if self.asks_for is None else self._step()

    def _answer(self) -> str:
        """The final answer in words; of an expert without a question of the key an analysis."""
        return self.asked.voice.worded(concluded(self.situation, self.sample, self.asked.rates, self.draws), self.draws)

    def _step(self) -> Message:
        """The next move; asked about its own proposal, that one again or the move without a slip."""
        if self.proposal is None:
            first = self.asked.messages[0]
            taught = TAUGHT_SLIPS if first.role == "system" and _TAUGHT.search(first.text) else 1.0
            handed = HANDED_SLIPS if HANDED in self.situation.marks else 1.0
            return self._act(self._with(self.rates, taught * handed), self.asked.rates.malformed)
        if _FINDING in self.asked.last and self.draws.happens("heeds", HEEDS):
            return self._act(self._with(self.rates, 0.0))
        native = self.style == "native" and "[{" in self.proposal
        return repeated(self.proposal, "native") if native else said(self.proposal)

    def _move(self, rates: Rates) -> Move:
        """What would be done; a refusal only where the prompt says how to refuse."""
        marks, tools = self.situation.marks, self.asked.tools
        may_refuse = not marks.isdisjoint(("<NoCall>", "Refuse[")) or any(tool.name == "refuse" for tool in tools)
        return decide(self.situation, self.sample, may_refuse, rates, self.draws)

    def _act(self, rates: Rates, forgets: float = 0.0) -> Message:
        """A move; ``forgets``: how often a reflection that is asked for is left out."""
        move = self._move(rates)
        if move.grounds is not None:
            message = refused(self.style, move.grounds, move.grounds["purpose"])
            texts = ("none", "No tool here can do the next step.", "Without it the task cannot be done.")
        elif move.card is not None:
            name, category = move.card.name, move.card.category
            purpose, listed = f"Run the {category.lower()}.", f"[{', '.join(move.inputs)}]"
            arguments = {"purpose": purpose, "input": list(move.inputs)}
            message = called(self.style, name, arguments, purpose, move.last, listed)
            texts = (name, f"The next step needs a {category}.", "Its inputs were looked at.")
        else:
            return finished(self.style, self._answer(), "The task is done.")
        if REFLECTS not in self.situation.marks or self.draws.happens("forgets", forgets):
            return message
        block = _REFLECTION.format(*texts)
        if self.style == "native":
            return replace(message, content=block)
        if self.style == "bracket":
            return said(f"Thought: {block}\nAction:{message.text.partition('Action:')[2]}")
        return said(f"{block}\n{message.text}")

    def _review(self) -> Message:
        """A verifier's question: what would be done without a slip is good."""
        careful = self._with(self.asked.rates, 0.0)
        move = self._move(careful)
        wanted = "Refuse" if move.grounds is not None else "Finish" if move.card is None else move.card.name
        history, style, draws = self.asked.history, self.style, self.draws
        return review(history, lambda text: text.startswith(f"{wanted}["), lambda: self._act(careful), style, draws)

    def _with(self, rates: Rates, wrong_tool: float) -> Rates:
        """The rates with so much of the wrong tools left."""
        return rates if wrong_tool == 1.0 else replace(rates, wrong_tool=rates.wrong_tool * wrong_tool)
