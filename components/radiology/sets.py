"""The tool sets of RadABench's conditions, as cards in the reference's construction order.

Source: Zheng et al. 2024, arXiv 2412.09529; builders, and what insufficient conditions take away per task
(``tasks.yaml``), as in its code (MAGIC-AI4Med/RadABench, January 2025), with draws from ``rng``. Variants ``paper_*``
are our reconstructions of what the article says beyond the code. Departure: where it accepts one diagnosis category
although both are removed or restricted, both are accepted.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from random import Random
from typing import Any

from components.radiology.cards import BINDABLE, VARIANTS, Card, card
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, MC, OS, PAIRS, RG, TABLES, TR, Pair

REMOVED: Mapping[str, tuple[Sequence[str], str | None]] = {
    name: (row["categories"], row["type"]) for name, row in TABLES["removed"].items()
}
REPLACED: Mapping[str, str] = TABLES["replaced"]
RESTRICTED: Mapping[str, Sequence[str]] = TABLES["restricted"]


def config1_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config1: the removed category, whatever the pair."""
    argument = study.task.removed
    return _facts(argument, REMOVED[argument][0], ("Universal", "Universal"), "CategoryMissing")


def config2_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config2: the replaced category for the record's pair."""
    return _facts(study.task.replaced, (REPLACED[study.task.replaced],), study.pair, "SpecificToolMissing")


def config3_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config3: the restricted category; scorers leave the pair free."""
    return _facts(study.task.restricted, RESTRICTED[study.task.restricted], study.pair, "InsufficientCapability")


def _facts(argument: str, accepted: Sequence[str], place: Pair, ability: str) -> dict[str, Any]:
    facts = {"argument": argument, "accepted": [*accepted], "anatomy": place[0], "modality": place[1]}
    return {**facts, "ability": ability, "ground_truth_code": accepted[0]}


FULL = "Text and Mask"
_IMAGE = (OS, AD, DD)


def _measuring(switches: Switches) -> list[Card]:
    return [card(category, kind, switches=switches) for category in (BQ, IE) for kind in ("Organ", "Anomaly")]


@lru_cache
def baseline(switches: Switches) -> tuple[Card, ...]:
    """One tool per category and type, none bound: 12."""
    make = partial(card, switches=switches)
    return (*(make(c) for c in (AC, MC, OS, AD, DD, DI)), *_measuring(switches), make(RG, FULL), make(TR))


def regular(study: Study, rng: Random, switches: Switches) -> Sequence[Card]:
    """Little redundancy: 12, or 12 to 15 with switch ``regular_variant``."""
    cards = baseline(switches)
    if switches.regular_variant == "code_basic_15":
        reports = [card(RG, variant, switches=switches) for variant in VARIANTS]
        return [*cards[:-2], *reports, cards[-1]]
    if switches.regular_variant == "code_12":
        return cards
    others = [other for other in PAIRS if other != study.pair]
    found: list[Card] = []
    for one in cards:
        found.append(one)
        if one.category in _IMAGE and rng.random() < 0.5:
            found.append(card(one.category, pair=rng.choice(others), switches=switches))
    return found


def _near(pair: Pair, most: int, least: int, rng: Random) -> list[Pair]:
    """Up to ``most`` pairs of the same modality, up to ``most`` of the same anatomy, others up to ``least``."""
    pools = [[p for p in PAIRS if p[part] == pair[part] and p != pair] for part in (1, 0)]
    near = [p for pool in pools for p in rng.sample(pool, min(most, len(pool)))]
    if len(near) < least:
        near += rng.sample([p for p in PAIRS if p != pair and p not in near], least - len(near))
    return near


def medium(study: Study, rng: Random, switches: Switches) -> list[Card]:
    """Bound tools only, for the pair and for near ones: 34 to 23, or 33 to 34 with ``paper_backfill``."""
    pair = study.pair
    make = partial(card, switches=switches)
    backfill = switches.medium_variant == "paper_backfill"
    cards = [make(AC), make(MC)]
    for category in _IMAGE:
        others = _near(pair, 2, 4 if backfill else 0, rng)
        cards += [make(category, pair=place) for place in (pair, *others)]
    cards += [make(DI), *_measuring(switches), *(make(RG, variant, pair) for variant in VARIANTS)]
    others = _near(pair, 4, 6 if backfill else 0, rng)
    return [*cards, *(make(RG, rng.choice(VARIANTS), place) for place in others), make(TR)]


@lru_cache
def high(switches: Switches) -> tuple[Card, ...]:
    """Every tool there is, unbound and for each of the 22 pairs: 169."""
    make, places = partial(card, switches=switches), (None, *PAIRS)
    reports = [make(RG, variant, place) for place in places for variant in VARIANTS]
    image = [make(category, pair=place) for category in _IMAGE for place in places]
    return (make(AC), make(MC), *image, make(DI), *_measuring(switches), *reports, make(TR))


def _layout(pair: Pair, switches: Switches, reports: Sequence[Card] = ()) -> list[Card]:
    """The layout of the insufficient conditions: an unbound and a bound tool for what can be bound. Without ``reports``
    four report generators: simplest and fullest, unbound and bound."""
    make = partial(card, switches=switches)
    reports = reports or [make(RG, variant, place) for place in (None, pair) for variant in ("Basic", FULL)]
    image = [make(category, pair=place) for category in _IMAGE for place in (None, pair)]
    return [make(AC), make(MC), *image, make(DI), *_measuring(switches), *reports, make(TR)]


def config1(study: Study, rng: Random, switches: Switches) -> list[Card]:
    """18 tools without the category that the task needs: 14 to 17."""
    variants = [(place, variant) for place in (None, study.pair) for variant in rng.sample(VARIANTS, 2)]
    reports = [card(RG, variant, place, switches=switches) for place, variant in variants]
    categories, kind = REMOVED[study.task.removed]
    cards = _layout(study.pair, switches, reports)
    return [c for c in cards if c.category not in categories or (kind is not None and c.variant != kind)]


def config2(study: Study, rng: Random, switches: Switches) -> list[Card]:
    """The tools of one category are for other anatomies only: 17, or 15 to 17 with ``paper_15_17``."""
    category = REPLACED[study.task.replaced]
    foreign = [place for place in PAIRS if place[0] != study.pair[0]]
    cards = _layout(study.pair, switches)
    if switches.config2_variant == "code_17":
        pairs, cards = rng.sample(foreign, 2), [c for c in cards if c.category != DI]
        variants: Sequence[str | None] = ("Basic", FULL) if category == RG else (None,)
        placed = [card(category, variant, place, switches=switches) for place in pairs for variant in variants]
    elif category == RG:
        pairs = rng.sample(foreign, rng.randint(1, 3))
        placed = [card(RG, rng.choice(VARIANTS), place, switches=switches) for place in pairs]
    else:
        placed = [card(category, pair=rng.choice(foreign), switches=switches)]
    first = next(i for i, one in enumerate(cards) if one.category == category)
    rest = [one for one in cards if one.category != category]
    return [*rest[:first], *placed, *rest[first:]]


def _restrictable(one: Card, entity: str) -> bool:
    """Whether a list of this entity restricts the tool."""
    kind = entity.removesuffix("Biomarker") if entity.endswith("Biomarker") else one.variant
    return one.category in RESTRICTED[entity] and one.variant == kind


def _restricted(one: Card, listed: Sequence[str], switches: Switches) -> Card:
    pair = None if one.anatomy is None or one.modality is None else (one.anatomy, one.modality)
    return card(one.category, one.variant, pair, listed, switches=switches)


def _sample_entries(study: Study, entity: str, counts: tuple[int, int], rng: Random, switches: Switches) -> list[str]:
    """Entries of the entity's vocabulary other than the record's own; ``counts``: the range of their number."""
    exact = switches.enforce_restriction == "off"
    pool = study.vocabulary.others(entity, study.own(entity), exact)
    return rng.sample(pool, min(rng.randint(*counts), len(pool)))


def config3(study: Study, rng: Random, switches: Switches) -> list[Card]:
    """18 tools, of which those for one entity list 3 to 5 entries that are not the record's."""
    entity = study.task.restricted
    listed = _sample_entries(study, entity, (3, 5), rng, switches)
    cards = _layout(study.pair, switches)
    return [_restricted(c, listed, switches) if _restrictable(c, entity) else c for c in cards]


def differentiated(study: Study, rng: Random, switches: Switches) -> list[Card]:
    """17 or 18 tools, of which restricted ones that list the record's entity are best."""
    entity = study.task.restricted
    listed = [study.own(entity), *_sample_entries(study, entity, (3, 4), rng, switches)]
    reports = [card(RG, FULL, place, switches=switches) for place in (None, study.pair)]
    found: list[Card] = []
    pending: list[Card] = []
    for one in _layout(study.pair, switches, reports):
        found.append(one)
        if _restrictable(one, entity) and (one.anatomy is not None or one.category not in BINDABLE):
            pending.append(_restricted(one, listed, switches))
        if pending and not (entity == "Disease" and one.category == DD):
            found += pending
            pending.clear()
    return found
