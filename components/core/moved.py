"""Names of classes that configs had before, and what they are now."""

from collections.abc import Mapping
from typing import Any

# Old module, new module (both below ``components``), and the classes that moved.
_MOVES = """\
agents.chameleon agents.planned Chameleon
agents.cot agents.direct Cot
agents.cot_plan agents.planned CotPlan
agents.cot_steps agents.reflectool CotSteps
agents.ehragent ehr.agent EhrAgent
agents.matched agents.self_consistency Matched
agents.medagents panel.agent MedAgents
agents.radagent radiology.agent Radagent
conditions.baseline radiology.conditions Baseline
conditions.both conditions.offered Both
conditions.contradictory conditions.wrong_results Contradictory
conditions.denied conditions.failing Denied
conditions.differentiated radiology.conditions Differentiated
conditions.imperfect radiology.imperfect Imperfect
conditions.insufficient radiology.conditions InsufficientConfig1 InsufficientConfig2 InsufficientConfig3
conditions.intact core.plain Intact
conditions.noisy conditions.wrong_results Noisy
conditions.redundant radiology.conditions RedundantHigh RedundantMedium RedundantRegular
conditions.renamed conditions.cards Renamed
conditions.slow conditions.failing Slow
conditions.stale conditions.wrong_results Stale
conditions.unavailable conditions.failing Unavailable
conditions.undocumented conditions.cards Undocumented
conditions.withhold conditions.offered Withhold
datasets.bioasq cab.datasets.bioasq BioAsq
datasets.cab cab.datasets.cab Cab
datasets.cab_pubmedqa datasets.pubmedqa CabPubMedQA
datasets.cab_ehragent_demo ehr.datasets.ehragent_edition CabEhrAgentDemo
datasets.cab_ehrsql ehr.datasets.ehrsql2024 CabEhrsql
datasets.cab_ehrsql2022 ehr.datasets.ehrsql CabEhrsql2022
datasets.ehr_halt ehr.datasets.ehr_halt EhrHalt
datasets.ehragent_edition ehr.datasets.ehragent_edition EhrAgentEdition
datasets.ehrsql ehr.datasets.ehrsql Ehrsql
datasets.ehrsql2024 ehr.datasets.ehrsql2024 Ehrsql2024
datasets.emrqa cab.datasets.emrqa EmrQa
datasets.halt_medvqa cab.datasets.halt_medvqa HaltMedVqa
datasets.longhalt cab.datasets.longhealth LongHalt
datasets.longhealthqa cab.datasets.longhealth LongHealthQa
datasets.medcalc_bench medcalc.dataset MedCalcBench
datasets.medhalt cab.datasets.medhalt MedHalt
datasets.medmentions cab.datasets.medmentions MedMentions
datasets.mmlu_med cab.datasets.mmlu_med MmluMed
datasets.omnimedvqa cab.datasets.omnimedvqa OmniMedVqa
datasets.radabench radiology.dataset RadABench
datasets.slake cab.datasets.slake Slake
datasets.treqs ehr.datasets.treqs Treqs
datasets.vqa_rad cab.datasets.vqa_rad VqaRad
embedding radiology.embedding SentenceEmbedding
python_cell acting.python_cell PythonCell
scorers.cab cab.scorers Cab
scorers.chain radiology.scorers.planning Chain
scorers.completion radiology.scorers.execution Completion
scorers.ehr ehr.scorer Ehr
scorers.io radiology.scorers.execution InputOutput
scorers.orchestration radiology.scorers.execution BestTools Orchestration
scorers.panel panel.scorer Panel
scorers.ratescore radiology.scorers.response RaTEScore
scorers.refusal radiology.scorers.refusal Refusals
scorers.response radiology.scorers.response Response
scorers.tool_use cab.tool_use ToolUse
stages.embed_records radiology.embedding EmbedRecords
stages.solve stages.collect Solve
stages.synthesize radiology.synthesis.synthesize Synthesize
tools.calculator medcalc.tool Calculator
tools.ehr_actions ehr.actions Calculate Calendar FilterDB GetValue LoadDB SQLInterpreter
toolsets.clinical cab.toolset Clinical
toolsets.ehr ehr.toolset Ehr
toolsets.none core.plain NoTools
toolsets.radiology radiology.toolset Radiology
verifiers.accept core.plain Accept
"""
_PARTS = [line.split() for line in _MOVES.splitlines()]
NEW = {f"components.{old}.{name}": f"components.{new}.{name}" for old, new, *names in _PARTS for name in names}
_OLD = {new: old for old, new in NEW.items()}


def renewed(node: Any) -> Any:
    """A stored config with the present names of the classes in it."""
    return _renamed(node, NEW)


def as_first_named(node: Any) -> Any:
    """A config with the names that its classes had first: what is told apart by a digest stays what it was."""
    return _renamed(node, _OLD)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, Mapping):
        return {
            key: names.get(value, value) if key == "_target_" and isinstance(value, str) else _renamed(value, names)
            for key, value in node.items()
        }
    return [_renamed(value, names) for value in node] if isinstance(node, list | tuple) else node
