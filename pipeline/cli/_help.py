"""What --help prints. No import of Hydra or MLflow: help comes at once."""

COMMANDS = {
    "compare": "score the models on one pool, measure, test, decide, report, log",
    "check": "everything that can be checked before a model runs",
    "gate": "decide again from logged evidence, under the same or other rules",
    "freeze": "make a pool from raw tables: cut, merge, sample, record weights and lineage",
    "stamp": "say which registered version made a run, so that the run can stand for it",
    "ui": "the MLflow UI on the embedded store",
    "upload": "send results kept on disk to MLflow",
}

EXAMPLES = {
    "compare": """\
  samepool compare experiment=movielens
  samepool compare pool.qrels=qrels.trec baseline=bm25.trec 'candidates=[ce.trec,splade.trec]'
  samepool compare experiment=movielens 'models=[popular,itemknn,svd]' baseline=itemknn
  samepool compare "metrics.names=['nDCG(gain=exp)@10',R@100,RR@10]" ...
  samepool compare "slices.defs.long={where: 'length >= 6'}" ...
  samepool compare -m pool=shop,web experiment=nightly

Overrides:
  pool=NAME           an option of conf/pool/, or of pool/ in your --config-dir
  pool.qrels=FILE     judgments: TREC, CSV/TSV, JSONL or Parquet, also .gz
  pool.queries=FILE   query table with attributes for slices (optional); pool.items= likewise
  models=[A,B]        options of conf/models/
  baseline=X          a key of models, a registry URI, a run file, or module:function
  candidates=[X,Y]    the same; unset: every selected model but the baseline
  metrics.names=[..]  what to measure: nDCG@10, RR@10, R(stage=retrieval)@100 ...
  gate=NAME           rules; gate.enforce=true makes the exit code theirs
  tracking=none       log nowhere; tracking.uri=URI logs to a server
  out=FOLDER          output folder (default outputs/DATE/TIME)
  seed=N              of every resampling""",
    "check": """\
  samepool check experiment=movielens
  samepool check pool.qrels=qrels.trec baseline=bm25.trec candidates=ce.trec

Takes what compare takes. Lists every problem, not only the first. Exit code 0 or 2.""",
    "gate": """\
  samepool gate run=latest
  samepool gate run=outputs/2026-06-01/12-00-00-000000 gate=strict
  samepool gate run=4c1e0f... gate.rules.no_loss.max_drop=0.02

Overrides:
  run=X       an output folder, an MLflow run id, or latest: the newest below outputs/
  gate=NAME   other rules (default: those fixed before scoring)
  out=FOLDER  where gate.json, junit.xml and summary.md go (default: gate/ in the run's folder;
              for a run of a server gate/ here)

Exit code 0 if a candidate passes, 3 if none does, 4 if none does and one is inconclusive.""",
    "freeze": """\
  samepool freeze source.queries=queries.parquet source.items=items.parquet \\
      source.qrels=qrels.parquet source.logs='logs/*.parquet' as_of=2026-06-01 n=5000 out=pools/june
  samepool freeze source.queries=log.csv.gz source.qrels=qrels.csv as_of=2026-06-01T12:00:00Z \\
      'columns.queries={query_id: qid}' 'allocation={head: 1000, torso: 2000, tail: 2000}' \\
      out=pools/june

Writes a folder of Parquet tables with pool.json: use it as pool=frozen pool.path=pools/june. The
same tables and seed give the same Parquet files to the byte, whatever the order of rows, the format
or the threads.

Overrides:
  source.TABLE=PATH   queries, items, qrels, logs: Parquet, CSV or TSV (.gz); a file, a glob or a
                      folder; source.train=PATH instead of logs: refused if it holds later rows
  columns.TABLE={..}  our name of a column: the name that it has there
  as_of=TIME          everything later is cut, and counted
  train_until=TIME    last moment of the logs; evaluate_from=TIME first moment of the queries
  repeats.by=loose    texts that differ in case and white space are one query; exact, none
  n=N                 queries to sample; allocation=equal, proportional or {head: 1000, ...}
  strata={..}         shares of traffic: {head: .5, torso: .4, tail: .1}
  min_judged=1        judgments that a query needs; min_relevant=0
  negatives.per_query=N  candidates: judged items and N others
  memory=4GB          of the engine; the rest spills to temp=FOLDER""",
    "stamp": """\
  samepool stamp run=ce.trec version=models:/ranker/13 pool=shop
  samepool stamp run=ce.trec retrieval=bm25.trec version=models:/ranker@challenger pool=shop

Writes ce.trec.manifest.json: digests of the run's bytes, of the pool and of the version. They are
verified when the run is compared: candidates='{path: ce.trec, version: models:/ranker/13}'

Overrides:
  run=FILE       the run that was scored elsewhere
  version=URI    the registered version that scored it; an alias is followed once, now
  pool=NAME      the pool that was scored; pool.qrels=FILE and so on, as in compare
  retrieval=FILE the run that it re-ranked
  manifest=FILE  where to write (default: the run's name with .manifest.json behind it)
  by=TEXT        the job that scored it; notes=TEXT anything else
  tracking.uri=  the store whose registry has the version""",
    "ui": """\
  samepool ui
  samepool ui port=5001

Serves the embedded store of this folder on the loopback address only.""",
    "upload": """\
  samepool upload
  samepool upload run=outputs/2026-06-01/12-00-00-000000 tracking.uri=http://127.0.0.1:5000

Sends every comparison below outputs/ that waits for a server, each once, to where it was meant to
go and into its own experiment; tracking.uri= sends it elsewhere.""",
}

FLAGS = """\
Flags:
  -m, --multirun     run once for every combination of comma-separated values
  --config-dir DIR   add a folder of your own configs (pool/, models/, experiment/ ...)
  --cfg job          print the composed config and stop
  --help             this text"""


def overview() -> str:
    """Text of ``samepool --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "Compare retrieval and ranking models on one fixed evaluation pool,",
            "and decide with evidence whether one may be promoted.",
            "",
            "Usage: samepool COMMAND [flags] [overrides]",
            "",
            "Commands:",
            *lines,
            "",
            "Start with: samepool compare experiment=movielens",
            "More on a command: samepool COMMAND --help",
        ]
    )


def command_help(command: str) -> str:
    """Text of ``samepool COMMAND --help``."""
    return "\n".join(
        [
            f"samepool {command}: {COMMANDS[command]}",
            "",
            "Examples:" if command in EXAMPLES else "",
            EXAMPLES.get(command, ""),
            "",
            FLAGS,
        ]
    )
