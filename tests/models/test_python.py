"""A function of one's own: found in the working directory, called, and its failures told."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models import Tools, rank
from pipeline.models._imports import files_of


@pytest.fixture
def pool(make_pool):
    return make_pool(
        {"q1": {"user_id": "u1"}, "q2": {}},
        {"a": {"year": 1990}, "b": {"year": 2000}, "0012": {"year": 1980}},
        logs=[{"user_id": "u1", "item_id": "a"}],
        qrels={"q1": {"a": 1.0}},
    )


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """Writes a module of a name of its own into the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = "own_" + "".join(c if c.isalnum() else "_" for c in request.node.name)

    def write(text):
        (tmp_path / f"{name}.py").write_text(dedent(text))
        sys.modules.pop(name, None)
        return name

    yield write
    sys.modules.pop(name, None)


NEWEST = """
    import pandas as pd

    def newest(pool, factor=1.0):
        pairs = pool.queries[["query_id"]].merge(pool.items, how="cross")
        return pairs.assign(score=factor * pairs["year"])[["query_id", "item_id", "score"]]
"""


def ask(pool, call, args=None):
    model = build("models", {"kind": "python", "call": call, "args": args}, "models.own")
    return rank(model, model.origin("own", call), pool, Tools())


def test_a_function_of_the_working_directory_is_called(pool, module, as_dict):
    run = ask(pool, f"{module(NEWEST)}:newest", {"factor": 0.5})
    scores = {"0012": 990.0, "a": 995.0, "b": 1000.0}
    assert as_dict(run.final, pool) == {"q1": scores, "q2": scores}
    assert sys.path[-1] == str(Path.cwd())


def test_a_function_sees_the_pool_but_no_judgments(pool, module):
    name = module("""
        import pandas as pd

        def look(pool):
            assert sorted(dir(pool))[-6:] == [
                "candidates", "items", "keep_depth", "logs", "queries", "seed"
            ]
            assert pool.candidates is None
            assert pool.logs["item_id"].tolist() == ["a"]
            assert pool.items["item_id"].tolist() == ["0012", "a", "b"]
            return pd.DataFrame({"query_id": ["q1"], "item_id": ["new"], "score": [1]})
    """)
    run = ask(pool, f"{name}:look")
    assert run.foreign.to_pylist() == ["new"]
    assert run.final.score.tolist() == [1.0]


def test_a_rank_column_is_kept_and_other_queries_are_counted(pool, module):
    name = module("""
        import pandas as pd

        def ranked(pool):
            rows = [("q2", "b", 2.0, 1), ("zz", "b", 2.0, 1), ("q1", "a", 1.0, 1)]
            return pd.DataFrame(rows, columns=["query_id", "item_id", "score", "rank"])
    """)
    run = ask(pool, f"{name}:ranked")
    assert run.final.given_rank.tolist() == [1, 1]
    assert run.outside == 1


def test_an_exception_is_one_problem_with_its_line(pool, module):
    name = module("""
        def outer(pool):
            return inner(pool)

        def inner(pool):
            return pool.items["price"]
    """)
    with pytest.raises(SamepoolError) as caught:
        ask(pool, f"{name}:outer")
    (problem,) = caught.value.problems
    assert problem.text == f"{name}:outer raised KeyError: 'price'"
    assert problem.where == "line 6"
    assert problem.file.endswith(f"{name}.py")


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("x = 1\nraise RuntimeError('no GPU')\n", "raised RuntimeError: no GPU", "line 2"),
        ("x = 1\n\ndef f(:\n    pass\n", "raised SyntaxError", "line 3"),
        ("import not_there_at_all\n", "raised ModuleNotFoundError: No module named", "line 1"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_problem(pool, module, text, words, line):
    with pytest.raises(SamepoolError) as caught:
        ask(pool, f"{module(text)}:f")
    (problem,) = caught.value.problems
    assert words in problem.text
    assert problem.where == line


def test_a_missing_module_or_function_names_the_nearest(pool, module):
    name = module(NEWEST)
    with pytest.raises(SamepoolError, match=f"no module {name}s -> did you mean {name}\\?"):
        ask(pool, f"{name}s:newest")
    with pytest.raises(SamepoolError, match=r"has no function 'newst' -> did you mean newest\?"):
        ask(pool, f"{name}:newst")
    with pytest.raises(SamepoolError, match=r"there is no module no_parent.child -> looked on"):
        ask(pool, "no_parent.child:f")


@pytest.mark.parametrize("call", ["module", "module:", ":f", "a b:f", "a:b:c", "a..b:f"])
def test_a_call_has_a_form(call):
    with pytest.raises(SamepoolError, match="call must be module:function, not"):
        build("models", {"kind": "python", "call": call}, "models.own")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("None", "returned NoneType, not a pandas DataFrame"),
        ("pd.DataFrame({'query_id': ['q1'], 'doc': ['a']})", "no column item_id, score"),
        ("frame(query_id=[1])", "column query_id of int64, not text"),
        ("frame(item_id=[None])", "returned 1 rows without item_id"),
        ("frame(item_id=[''])", "returned 1 rows without item_id"),
        ("frame(score=['high'])", "column score of str, not numbers"),
        ("frame(score=[float('nan')])", "1 scores of its list are NaN or infinite"),
        ("frame(score=pd.array([None], 'Float64'))", "are NaN or infinite"),
        ("frame(rank=[float('nan')])", "column rank of float64, not integers"),
        ("frame(query_id=['q7'])", "returned 1 rows, none for a query of the pool"),
        ("pd.concat([frame(), frame()])", "query `q1` lists `a` more than once"),
    ],
)
def test_what_is_returned_is_checked(pool, module, returned, words):
    name = module(f"""
        import pandas as pd

        def frame(**other):
            return pd.DataFrame({{"query_id": ["q1"], "item_id": ["a"], "score": [1.0], **other}})

        def f(pool):
            return {returned}
    """)
    with pytest.raises(SamepoolError) as caught:
        ask(pool, f"{name}:f")
    assert words in str(caught.value)


def test_an_origin_is_the_module_and_the_arguments(module):
    def digest(call, args=None):
        model = build("models", {"kind": "python", "call": call, "args": args}, "m")
        return model.origin("m", "m").source_digest

    name = module(NEWEST)
    one, two = digest(f"{name}:newest"), digest(f"{name}:newest", {"factor": 2})
    assert one == digest(f"{name}:newest") != two
    module(NEWEST + "\n    # changed\n")
    assert digest(f"{name}:newest") != one


def test_the_working_directory_comes_last(pool, module, tmp_path):
    """A file json.py of the user's hides nothing."""
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('mine')\n")
    with pytest.raises(SamepoolError, match="module colorsys has no function 'f'"):
        ask(pool, "colorsys:f")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A module ``own_top`` with a helper package around it; each import in a way of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    files = {
        "own_top.py": """
            import json
            import numpy
            import own_plain
            from own_kit import shapes
            from own_kit.deep.sizes import size as renamed

            def f(pool):
                import own_late
                module = __import__("own_named")
        """,
        "own_plain.py": "import own_second\n",
        "own_second.py": "import own_plain  # a circle\n",
        "own_late.py": "def broken(:\n",
        "own_named.py": "",
        "own_kit/__init__.py": "from . import first\n",
        "own_kit/first.py": "",
        "own_kit/shapes.py": "from .deep import lower\n",
        "own_kit/unused.py": "",
        "own_kit/deep/__init__.py": "",
        "own_kit/deep/lower.py": "from ..first import *\n",
        "own_kit/deep/sizes.py": "size = 1\n",
        "own_other.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


IMPORTED = [
    "own_kit", "own_kit.deep", "own_kit.deep.lower", "own_kit.deep.sizes", "own_kit.first",
    "own_kit.shapes", "own_late", "own_named", "own_plain", "own_second", "own_top",
]  # fmt: skip


def test_the_code_is_all_that_is_imported_of_ones_own(package):
    origin = build("models", {"kind": "python", "call": "own_top:f"}, "m").origin("m", "m")
    assert list(files_of("own_top")) == IMPORTED
    for name in IMPORTED:
        path = files_of("own_top")[name]
        before = path.read_bytes()
        path.write_bytes(before + b"# changed\n")
        changed = build("models", {"kind": "python", "call": "own_top:f"}, "m").origin("m", "m")
        assert changed.source_digest != origin.source_digest, name
        path.write_bytes(before)
    for name in ("own_other.py", "own_kit/unused.py"):
        (package / name).write_text("changed = 1\n")
    again = build("models", {"kind": "python", "call": "own_top:f"}, "m").origin("m", "m")
    assert again.source_digest == origin.source_digest


def test_looking_for_imports_runs_nothing(package):
    (package / "own_kit/__init__.py").write_text("raise RuntimeError('was run')\n")
    files_of("own_top")
    assert not [name for name in sys.modules if name.startswith("own_")]


def test_an_installed_package_is_its_own_modules_only():
    found = files_of("json.decoder")
    assert {"json", "json.decoder", "json.scanner"} <= set(found)
    assert {name.partition(".")[0] for name in found} == {"json"}


def test_ids_that_became_numbers_are_errors(pool, module):
    name = module("""
        import pandas as pd

        def f(pool):
            return pd.DataFrame({"query_id": ["q1"], "item_id": ["12"], "score": [1.0]})
    """)
    with pytest.raises(SamepoolError, match="`12` is `0012` in the pool") as caught:
        ask(pool, f"{name}:f")
    assert caught.value.problems[0].code == "ids_as_numbers"


def test_items_that_are_all_unknown_are_a_warning(pool, module):
    name = module("""
        import pandas as pd

        def f(pool):
            return pd.DataFrame({"query_id": ["q1"], "item_id": ["zz"], "score": [1.0]})
    """)
    (problem,) = ask(pool, f"{name}:f").problems
    assert problem.code == "no_item_matches"
    assert f"{name}:f has `zz`, pool has `0012`" in problem.text
