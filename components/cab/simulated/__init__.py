"""The simulated model on tasks of ClinicalAgent Bench: plain answers, steps with tools, and what tools ask it."""

import re

from components.cab.simulated import answers
from components.cab.simulated.answers import BUILD, FACTS_READ, ClinicalKnowledge, code
from components.cab.tasks import TASKS
from components.core.messages import Message
from components.core.types import Sample
from components.prompts.recognition import rendered_from
from components.simulation.asked import Asked, Responder
from components.simulation.grammar import Style, called, finished, said
from components.simulation.history import Done, call_in, guided, review

REPAIRS = 0.85  # a failed statement is corrected when the error is shown
_TABLE = re.compile(r"^(\w+)\(", re.MULTILINE)


class Clinical(Responder):
    """Tasks of the benchmark, the models behind its tools, and the builder of its calculator."""

    def knowledge(self, sample: Sample) -> ClinicalKnowledge | None:
        """What is known of a task of the benchmark."""
        return ClinicalKnowledge(sample) if str(sample.metadata.get("task")) in TASKS else None

    def reply(self, asked: Asked) -> Message | None:
        """What a tool or the builder is asked; the next step or the answer of a task."""
        if rendered_from(asked.messages[0].text, "building/builder"):
            return said(code(asked.messages, asked.rates, asked.draws))
        text = _as_tool(asked) if len(asked.messages) == 1 else None
        if text is not None:
            return said(text)
        if not isinstance(asked.knowledge, ClinicalKnowledge):
            return None
        return asked.garbled() or _on_task(asked, asked.knowledge)


def _as_tool(asked: Asked) -> str | None:
    """The reply to a model-driven tool's question; None for any other prompt."""
    if asked.rendered_from("sql_coder/convert"):
        return _statement(asked)
    if asked.rendered_from("vision/caption"):
        return "A single grey image of one body part; its findings are told when a question is asked."
    if asked.rendered_from("vision/answer"):
        if asked.knowledge is None:
            return "The image alone does not tell."
        return asked.knowledge.opinion(asked.draws.happens("competence", asked.rates.competence), asked.draws)
    if asked.rendered_from("long_doc_rag/answer"):
        held = "\n[1]" in asked.last
        return "The passages hold what is asked for [1]." if held else "The passages do not hold the answer."
    return "Use the tables listed first, joined as the manual says." if asked.rendered_from("db_manual/hints") else None


def _statement(asked: Asked) -> str:
    """A fenced statement; ``null`` where the tables cannot answer."""
    gold = None if asked.sample is None else asked.sample.metadata.get("sql")
    table = _TABLE.search(asked.last)
    counts = f"```sql\nselect count(*) from {table[1] if table else 'sqlite_master'}\n```"
    competent = asked.draws.happens("competence", asked.rates.competence)
    if not isinstance(gold, str) or not gold.strip():
        return "null" if asked.draws.happens("sees the gap", asked.rates.competence) else counts
    if competent or ("SQLite said:" in asked.last and asked.draws.happens("mends", REPAIRS)):
        return f"```sql\n{gold}\n```"
    if asked.draws.happens("slip kind", 0.5):
        return counts
    slipped = re.sub(r"(?i)\bfrom\b", "from the", gold, count=1)
    return f"```sql\n{slipped}\n```"


def _on_task(asked: Asked, knowledge: ClinicalKnowledge) -> Message:
    """A verifier's choice, the next step, the answer after the last one, or an answer from the prompt alone."""
    history, style = asked.history, asked.style
    if asked.reviewed:
        return _review(asked, knowledge, style or "native")
    if style == "xml" and asked.concludes:
        style = None
    if style is not None:
        return _step(answers.next_step(knowledge, history, asked.rates, asked.draws), style, asked, knowledge)
    if history.done or asked.voice.opines:
        answer = answers.finish(knowledge, history, asked.rates, asked.draws).arguments["response"]
        return said(asked.voice.worded(answer, asked.draws) if asked.voice.opines else f"Answer: {answer}")
    reasons = any("step by step" in one.text for one in asked.messages if one.role != "assistant")
    if knowledge.choices or "decisions" in knowledge.sample.metadata:
        return said(knowledge.marked(asked.rates, reasons, asked.draws))
    lead = "What the task gives speaks for this answer.\n" if reasons else ""
    right = asked.draws.happens("competence", knowledge.by_heart(asked.rates))
    return said(f"{lead}Answer: {knowledge.opinion(right, asked.draws)}")


def _review(asked: Asked, knowledge: ClinicalKnowledge, style: Style) -> Message:
    history, current = asked.history, asked.history.current or ""

    def good(text: str) -> bool:
        """Whether an action serves: a fitting tool asked in full, or the right answer."""
        call = call_in(text)
        if call is None:
            return False
        if call.name == "Finish":
            return asked.voice.serves(knowledge, str(call.arguments.get("response", "")))
        if call.name == BUILD:
            return answers.misses_calculator(knowledge, history)
        return call.name == answers.fitting(knowledge, history) and answers.is_full(knowledge, call)

    def better() -> Message:
        """The same kind of action with more of what it lacks, all of it where lessons say so or on the second time; a
        good one, rewritten once too often, loses something."""
        call = call_in(current)
        if call is None:
            step = answers.next_step(knowledge, history, asked.rates, asked.draws)
        elif call.name in history.offered and call.name not in answers.INNER:
            whole = history.earlier > 0 or guided(history, [current])
            extent: answers.Extent = "few" if good(current) else "all" if whole else "half"
            step = answers.call(knowledge, history, call.name, extent)
        else:  # a second thought on the answer
            right = asked.draws.happens("competence", asked.rates.competence**FACTS_READ)
            step = Done("Finish", {"response": knowledge.opinion(right, asked.draws)})
        return _step(step, style, asked, knowledge)

    return review(history, good, better, style, asked.draws)


def _step(step: Done, style: Style, asked: Asked, knowledge: ClinicalKnowledge) -> Message:
    """A step in the grammar that the prompt asks for; in tags, which know no answer, the last call ends the work."""
    if style == "xml":
        if step.name == "Finish" and "Think" in asked.history.offered:
            return called(style, "Think", {"response": "The answer is known."}, last=True)
        if step.name != "Finish":
            return called(style, step.name, step.arguments, last=answers.is_full(knowledge, step))
        return finished(style, step.arguments["response"])
    if step.name == "Finish":
        return finished(style, asked.voice.worded(step.arguments["response"], asked.draws))
    return called(style, step.name, step.arguments)
