"""A simulated world: who asks what, what is relevant, what systems of known quality answer.

Everything is drawn by hashing a seed, a name and counters (of queries, items, sessions), so that
any block of queries can be made alone, by whoever needs it, with the same bits.
"""

from pipeline.kernels.simulate.clicks import Clicks, Sessions
from pipeline.kernels.simulate.effects import expected_recall
from pipeline.kernels.simulate.parameters import AS_OF, DEVICES, GRADES, Plant, System, World
from pipeline.kernels.simulate.systems import Answers, answers
from pipeline.kernels.simulate.truth import Asks, Simulation, Truth

__all__ = [
    "AS_OF",
    "DEVICES",
    "GRADES",
    "Answers",
    "Asks",
    "Clicks",
    "Plant",
    "Sessions",
    "Simulation",
    "System",
    "Truth",
    "World",
    "answers",
    "expected_recall",
]
