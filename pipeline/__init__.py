"""samepool: compare retrieval and ranking models on one fixed evaluation pool.

Import package of the ``samepool`` command. The Python API is :mod:`pipeline.workflow`.
"""

__version__ = "0.1.0"
