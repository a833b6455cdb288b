"""What a user can set, one dataclass a group of conf/.

Groups whose options depend on a kind are mappings here; each kind's own dataclass validates them.
Plain dataclasses on purpose: the command line hands them to Hydra, nobody else knows Hydra.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class MetricSettings:
    """conf/metrics: names in ir_measures' notation, and the conventions they are read under."""

    names: list[str] = field(default_factory=list)
    primary: str | None = None  # first of names where unset
    profile: str = "samepool"
    ties: str = "id_desc"
    precision: str = "float64"
    relevant_from: float = 1.0
    no_relevant: str = "default"


@dataclass
class SliceSettings:
    """conf/slices: name -> kind and its options."""

    defs: dict[str, Any] = field(default_factory=dict)


@dataclass
class SignificanceSettings:
    """conf/significance: how differences are tested."""

    kind: str = "cluster_signflip"
    confidence: float = 0.95  # of the intervals shown
    flips: int = 9_999  # Monte Carlo flips for what is only reported
    gate_flips: int = 99_999  # for claims of the gate
    exact_up_to: int = 16  # clusters enumerated exactly
    min_nonzero: int = 30  # evidence minimum: clusters with a non-zero delta


@dataclass
class GateSettings:
    """conf/gate: rules by name, and what a verdict does."""

    alpha: float | None = 0.025  # one-sided; samepool gate: null is the comparison's own
    enforce: bool = False  # compare exits as gate does
    informational: bool = False  # record, but always exit 0
    rules: dict[str, Any] = field(default_factory=dict)


@dataclass
class ReportSettings:
    """conf/report: what people are shown."""

    top: int = 20  # places of each list kept in top.parquet
    title: str | None = None


@dataclass
class TrackingSettings:
    """conf/tracking: where results are logged."""

    kind: str = "mlflow"  # or none
    uri: str | None = None  # else MLFLOW_TRACKING_URI, else the embedded store
    registry_uri: str | None = None
    experiment: str = "samepool"


@dataclass
class EngineSettings:
    """conf/engine: how the work is run; determines no number."""

    kind: str = "local"
    cache: str = "outputs/.runs"  # scored lists, by digest of model and inputs
    reuse: bool = True  # take a list from the cache where its digests match
    keep_depth: int = 1_000  # items a query kept of models that score everything
    progress: bool = True


@dataclass
class CompareSettings:
    """conf/compare.yaml and conf/check.yaml."""

    pool: dict[str, Any] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)
    baseline: Any = None
    candidates: Any = None
    candidate: str | None = None  # whose decision the exit code is, where the gate is enforced
    metrics: MetricSettings = field(default_factory=MetricSettings)
    slices: SliceSettings = field(default_factory=SliceSettings)
    significance: SignificanceSettings = field(default_factory=SignificanceSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    seed: int = 20_240_229
    out: str = "outputs"


@dataclass
class GateCommand:
    """conf/gate.yaml: decide again from logged evidence."""

    candidate: str | None = None  # whose decision the exit code is
    gate: GateSettings = field(default_factory=GateSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    out: str | None = None


@dataclass
class StampCommand:
    """conf/stamp.yaml: say which registered version made a run, for others to verify."""

    pool: dict[str, Any] = field(default_factory=dict)
    version: str | None = None  # URI of the registered version
    retrieval: str | None = None  # run of the stage before
    format: str | None = None  # of the runs; recognised where unset
    manifest: str | None = None  # where to write; RUN.manifest.json where unset
    by: str | None = None  # the job that scored
    notes: str | None = None
    tracking: TrackingSettings = field(default_factory=TrackingSettings)


@dataclass
class FreezeSource:
    """Raw tables: a file, a glob, or a folder of parts, in Parquet, CSV or TSV, also .gz."""

    queries: str | None = None
    items: str | None = None
    qrels: str | None = None
    logs: str | None = None
    train: str | None = None  # logs that are declared to be cut already


@dataclass
class FreezeColumns:
    """Our name of a column -> that in the raw table, a table each."""

    queries: Any = None
    items: Any = None
    qrels: Any = None
    logs: Any = None


@dataclass
class FreezeRepeats:
    """Which raw rows are one query."""

    by: str = "loose"
    per_user: bool = False
    conflicts: str = "error"


@dataclass
class FreezeNegatives:
    """Unjudged items drawn into a candidates table."""

    per_query: int = 0
    how: str = "uniform"
    seed: int | None = None


@dataclass
class FreezeCommand:
    """conf/freeze.yaml: make a pool from raw tables."""

    source: FreezeSource = field(default_factory=FreezeSource)
    columns: FreezeColumns = field(default_factory=FreezeColumns)
    as_of: str | None = None  # everything later is cut
    train_until: str | None = None  # last moment of the logs; as_of where unset
    evaluate_from: str | None = None  # first moment of the queries
    judgments_until_as_of: bool = False  # cut judgments whose judged_at is later
    repeats: FreezeRepeats = field(default_factory=FreezeRepeats)
    min_judged: int = 1
    min_relevant: int = 0
    relevant_from: float = 1.0
    n: int | None = None  # queries to sample; all where unset
    strata: Any = None  # stratum -> share of traffic
    allocation: Any = "equal"
    seed: int = 20_240_229
    negatives: FreezeNegatives = field(default_factory=FreezeNegatives)
    items: str = "all"  # or needed
    logs: str = "all"  # or sampled, or none
    labels: str = "unknown"
    labels_reason: str | None = None
    grades: Any = None
    memory: str = "4GB"
    threads: int | None = None
    temp: str | None = None
    name: str | None = None
    out: str | None = None


@dataclass
class UploadCommand:
    """conf/upload.yaml: send results kept on disk."""

    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    root: str = "outputs"


@dataclass
class UiCommand:
    """conf/ui.yaml: the MLflow UI on the embedded store."""

    host: str = "127.0.0.1"
    port: int = 5000
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
