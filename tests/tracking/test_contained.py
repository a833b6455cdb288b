"""Code that a logged model brings along: it may not end the program, nor move it elsewhere."""

import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.run import Origin
from pipeline.tracking import _load


class OddError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raising(error):
    def predict(_table):
        raise error

    return predict


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), MemoryError(), OddError()])
def test_whatever_it_raises_is_one_line(error):
    with pytest.raises(SamepoolError, match=f"models:/m/1 raised {type(error).__name__}: "):
        _load._Call(raising(error), "models:/m/1")(pd.DataFrame())


def test_an_interruption_goes_through():
    with pytest.raises(KeyboardInterrupt):
        _load._Call(raising(KeyboardInterrupt()), "models:/m/1")(pd.DataFrame())


def test_the_working_directory_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _load._Call(lambda _: os.chdir("/"), "models:/m/1")(pd.DataFrame())
    assert Path.cwd() == tmp_path


def test_a_model_that_exits_as_it_is_loaded_is_a_problem(tmp_path, monkeypatch):
    def load_model(_path):
        os.chdir("/")
        raise SystemExit(0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_load, "library", lambda _: SimpleNamespace(load_model=load_model))
    with pytest.raises(SamepoolError, match="models:/m/1 raised SystemExit as it was loaded: 0"):
        _load._loaded(tmp_path, Origin("m", "mlflow", "m", "models:/m/1"))
    assert Path.cwd() == tmp_path
