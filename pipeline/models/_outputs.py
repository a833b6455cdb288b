"""Whether a model's answer holds the score that is asked for, as far as its signature tells."""

from collections.abc import Iterator

from pipeline.core.problems import Problem
from pipeline.core.signature import Signature
from pipeline.core.suggest import did_you_mean
from pipeline.models._answers import Output

LOG = (
    "log the score itself: mlflow.pyfunc.log_model("
    "python_model=lambda rows: model.predict_proba(rows)[:, 1], input_example=...)"
)


def wrong_output(
    signature: Signature, output: Output, env: str, who: str, *, allow_ties: bool
) -> Iterator[Problem]:
    """What is known to fail before anything is scored; one problem at most.

    Args:
        signature: of the model.
        output: the option.
        env: the option; classes are known of a model in this process alone.
        who: the model's name in messages.
        allow_ties: whether labels may be scores.
    """
    if env == "inprocess":
        text = f"{who} is a classifier, and {signature.returns} are no scores"
        fix = "output: CLASS scores by the probability of that class"
        if signature.returns and output is None and not allow_ties:
            yield Problem("which_output", "error", text, f"{fix}; allow_ties: true takes labels")
    elif signature.outputs:
        yield from _named(signature.outputs, output, who)
    elif output is not None and (signature.outputs is not None or not isinstance(output, str)):
        text = f"{who}: over env: {env} there is no output {output!r}: its answer names no columns"
        yield Problem("no_output", "error", f"{text}, and classes are not known there", LOG)
    elif signature.returns == "probabilities" or (signature.returns and not allow_ties):
        text = f"{who} is a classifier: over env: {env} it returns {signature.returns}, not a score"
        yield Problem("which_output", "error", text, LOG)


def _named(names: tuple[str, ...], output: Output, who: str) -> Iterator[Problem]:
    if output is None and len(names) > 1:
        text = f"{who} returns {len(names)} outputs: {', '.join(names)}"
        yield Problem("which_output", "error", text, f"say which is the score: output: {names[-1]}")
    elif output is not None and str(output) not in names:
        text = f"{who} has no output {str(output)!r}"
        yield Problem("no_output", "error", text, did_you_mean(str(output), names))
