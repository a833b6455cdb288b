"""What is to be expected of a simulated system."""

from pipeline.kernels.simulate.parameters import World


def expected_recall(world: World, system: str) -> tuple[float, float]:
    """Expected recall at the world's depth, of what a failure was planted on and of the rest.

    Means over relevant items; the two are equal where nothing was planted in retrieval.

    Raises:
        KeyError: there is no such system.
    """
    chance = world.systems[system].retrieval
    for plant in world.plants:
        if plant.system == system and plant.stage == "retrieval":
            return chance * (1 - plant.size), min(1.0, chance + plant.gain)
    return chance, chance
