"""What is printed: whatever a message quotes, it stays one line that any terminal can show."""

import io
import sys

from pipeline.core.problems import Problem
from pipeline.workflow.voice import report, say


def test_a_problem_is_one_line_without_words_to_the_terminal(capsys):
    report([Problem("x", "error", "id 'a\x1b[31m\nb\ud800\u202e' of d😀", "mend\tit")])
    assert capsys.readouterr().err == "samepool: error: id 'a [31m b  ' of d😀 -> mend it\n"


def test_a_problem_quotes_no_megabytes(capsys):
    report([Problem("x", "error", "x" * 2_000_000)])
    shown = capsys.readouterr().err
    assert len(shown) < 5_100
    assert "... (2,000,000 characters)" in shown


def test_a_terminal_of_few_characters_is_given_others_as_codes(monkeypatch):
    for encoding in ("ascii", "latin-1", "utf-8"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        say("ü 😀 \ud800")
        shown = stream.buffer.getvalue().decode(encoding)
        wanted = {"ascii": r"\xfc \U0001f600 \ud800", "latin-1": r"ü \U0001f600 \ud800"}
        assert shown == wanted.get(encoding, "ü 😀 \\ud800") + "\n"
