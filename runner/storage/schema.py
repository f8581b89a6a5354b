"""The JSON of a run folder's files: records, the manifest, and the steps in a record."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

from components.core.messages import Purpose, Role
from components.core.types import ScoreKind, Stop
from components.core.usage import EpisodeUsage

FORK_STEP = "fork step"  # the stratum of a fork's sample
FORK_FACTS = "fork"  # of a fork's record
StoredCall: TypeAlias = list[str]
"""A tool call: id, name, arguments."""


@final
class TextRef(TypedDict):
    """A long text by its hash in the folder's texts."""

    ref: str


StoredText: TypeAlias = str | TextRef


class StoredPart(TypedDict, total=False):
    """A part of a message: a text or the URL of an image."""

    text: StoredText
    image: StoredText


class StoredMessage(TypedDict):
    """A message, with its ``text`` or its ``parts``."""

    role: Role
    text: NotRequired[StoredText]
    parts: NotRequired[list[StoredPart]]
    source: NotRequired[str]
    tool_calls: NotRequired[list[StoredCall]]
    tool_call_id: NotRequired[str]
    reasoning: NotRequired[StoredText]


class StoredAction(TypedDict, total=False):
    """What the grammar read from a reply."""

    calls: list[StoredCall]
    answer: str
    refusal: dict[str, str]
    last: bool
    purpose: str
    error: str
    error_text: str


@final
class StoredVerdict(TypedDict):
    """A verdict; the keys of its picks are numbers as text."""

    verifier: str
    kind: Literal["candidate", "version"]
    chosen: int
    of: int
    why: str
    picks: dict[str, int]


class StoredObserved(TypedDict):
    """An observation; ``call`` is a number where it is one of the action's."""

    call: int | StoredCall
    text: StoredText
    seconds: float
    data: NotRequired[Mapping[str, Any]]
    images: NotRequired[list[StoredText]]
    error: NotRequired[str]
    control: NotRequired[bool]


class StoredStep(TypedDict):
    """A model call and what came of it. ``usage``: input and output tokens, US dollars, and where they are known the
    cached and reasoning tokens."""

    purpose: Purpose
    role: str
    branch: str
    n: int
    kept: int
    asked: list[StoredMessage]
    reply: StoredMessage
    usage: list[Any]
    started: float
    seconds: float
    finish: NotRequired[str]
    committed: NotRequired[bool]
    verdict: NotRequired[StoredText | StoredVerdict]
    remarks: NotRequired[dict[str, Any]]
    action: NotRequired[StoredAction]
    observed: NotRequired[list[StoredObserved]]
    tried: NotRequired[list[StoredObserved]]


class Record(TypedDict):
    """A line of ``records.jsonl``. A slim record (see ``slim``) has no steps, offer, facts and explanations; records of
    earlier versions have no ``inputs``, ``card`` and ``ceilings``."""

    sample_id: str
    epoch: int
    cluster: str | None
    strata: dict[str, str]
    card: NotRequired[dict[str, str | float]]
    inputs: NotRequired[list[str]]
    stop: Stop
    answer: str | None
    refusal: dict[str, str] | None
    failure: str | None
    error: str | None
    scores: dict[str, float | None]
    ceilings: NotRequired[dict[str, float]]
    explanations: NotRequired[dict[str, str]]
    usage: EpisodeUsage
    seconds: float
    facts: NotRequired[Mapping[str, Any]]
    offered: NotRequired[str | None]
    steps: NotRequired[list[StoredStep]]


class Git(TypedDict):
    """The checkout that the code ran from; None outside of one."""

    commit: str | None
    dirty: bool | None


class DatasetFacts(TypedDict, total=False):
    """Which data a run evaluates; ``ids`` is the digest of the ids of its samples."""

    name: str
    split: str
    fingerprint: str
    base: str
    samples: int
    ids: str
    privacy: str


class Spent(TypedDict):
    """US dollars and tokens; None if unknown."""

    usd: float | None
    input_tokens: int | None
    output_tokens: int | None


class Session(Spent):
    """What one process sent and spent; a resumed run has several. ``answered_by``: role -> names of the models.
    ``journal_written``: when what the journal answered from was last written, in seconds since 1970."""

    sent: int
    from_journal: int
    separate: int
    journal_written: float | None
    answered_by: dict[str, list[str]]


class Calls(TypedDict):
    """Calls of all sessions; ``models``: role -> the counters of its client."""

    sent: int
    from_journal: int
    separate: int
    models: dict[str, dict[str, Any]]


class Counts(TypedDict):
    """Records of a run."""

    finished: int
    wanted: int
    errored: int


class MlflowEntry(TypedDict, total=False):
    """Where a folder was sent; ``id`` is the folder's own."""

    id: str
    uri: str
    experiment_id: str
    run_id: str
    url: str


class FileDigest(TypedDict):
    """What a run wrote to a file."""

    bytes: int
    sha256: str


class ProtocolFacts(TypedDict):
    """Under which frozen study a run was begun (``frozen``: digest of its frozen form), as which arm and seed of how
    many ``planned`` episodes, how it deviates, and the digest of the last line of the study's ``log`` that it saw."""

    study: str
    frozen: str
    arm: str
    seed: int
    planned: int
    deviations: list[str]
    reason: str | None
    log: NotRequired[str]


class Manifest(TypedDict, total=False):
    """``manifest.json`` of a run: what is known at its start, then how it ended. A refused run has few of the keys."""

    schema: int
    id: str
    status: str
    name: str
    imported: dict[str, str]  # of a log: the tool that wrote it, and its file
    sweep: str | None
    number: int | None
    choices: dict[str, Any]  # names; null for none, a list where there are several
    varied: dict[str, Any]
    swept: list[str]
    model_kind: str
    models: dict[str, str]
    identities: dict[str, str]
    dataset: DatasetFacts
    privacy: dict[str, str]
    prompts: dict[str, str]
    scorers: dict[str, str]
    levels: dict[str, list[str]]
    by: dict[str, list[str]]
    lower: list[str]
    neither: list[str]
    units: dict[str, str]
    count_scores: list[str]  # in earlier versions, the scores whose unit is a number
    kinds: dict[str, ScoreKind]
    decides: str | None
    memory: str | None
    sandbox: Mapping[str, Any] | None
    servers: dict[str, str]  # behind tools -> what identifies them; absent where there are none
    prices: dict[str, Mapping[str, Any]]
    seed: int | None
    epochs: int
    limit: int | None
    shard: str | None
    notes: list[str]
    config: list[str] | None
    git: Git
    versions: dict[str, str]
    command: str
    start: str
    end: str | None
    resumed: list[str]
    sessions: list[Session]
    mlflow: MlflowEntry | None
    stopped: str | None
    counts: Counts
    errors: dict[str, int]
    calls: Calls
    spent: Spent
    files: dict[str, FileDigest]
    protocol: ProtocolFacts


class LearntManifest(TypedDict, total=False):
    """``manifest.json`` of a memory, or of a prompt set that a stage wrote, as far as it is read again. ``texts`` are
    digests of the samples it was learnt from, ``too_long`` the ids of those that the model could not take."""

    digest: str
    recipe: str
    privacy: str
    dataset: Mapping[str, Any]
    texts: list[str]
    too_long: list[str]
