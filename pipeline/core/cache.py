"""Where things that are slow to make are kept from run to run."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """SAMEPOOL_CACHE, else XDG_CACHE_HOME/samepool, else ~/.cache/samepool."""
    own, shared = os.environ.get("SAMEPOOL_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if own:
        return Path(own).expanduser()
    return (Path(shared) if shared else Path.home() / ".cache") / "samepool"
