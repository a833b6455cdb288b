"""From raw tables to a checked pool."""

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.pool._assemble import assemble
from pipeline.pool._clean import clean
from pipeline.pool._encode import encode
from pipeline.pool._relations import check
from pipeline.pool._tables import Tables


def pool_of(tables: Tables, problems: list[Problem]) -> Pool:
    """The pool of some tables.

    Checks come in two steps, each of which collects all that it finds: what each table is in
    itself, then, once all of them are sound, how they fit together.

    Raises:
        SamepoolError: everything that is wrong with the tables; a pool other than the recorded one.
    """
    cleaned = clean(tables, problems)
    raise_errors(problems)
    encoded = encode(cleaned, problems)
    raise_errors(problems)
    check(encoded, problems)
    raise_errors(problems)
    pool = assemble(encoded, problems)
    if tables.digest not in {None, pool.digest}:
        text = f"pool {pool.name} has the digest {pool.digest[:12]}, recorded is {tables.digest}"
        fix = "pool.json was edited, or another version of samepool wrote it: freeze again"
        raise fault("pool_edited", text, fix)
    return pool
