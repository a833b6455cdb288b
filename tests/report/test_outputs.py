import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import kinds
from pipeline.core.settings import ReportSettings
from pipeline.report import render, terminal
from pipeline.report.summary import MARKER, code, prose

VOID = {"meta", "br", "line", "circle", "wbr", "link", "img", "input", "hr"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</style><b>x",
    "\"'><img src=x onerror=alert(1)>",
    "a|b`c*d_e_[f](http://evil.example)",
    "\u05e9\u05dc\u05d5\u05dd \u202eabc\u2066",
    "\U0001f600 astral \U00010348",
    "two\nlines\r\x1b[31mred\x00",
    "[bold red]markup[/] :smile:",
    "{{ 7 * 7 }}{% raw %}",
    "@someone #12 $x$ ]]> <!-- -->",
    "lone \ud800 surrogate",
]


class Balanced(HTMLParser):
    """Fails on a tag that is not closed in order; counts tags and collects addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another tag"


def parsed(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser


def rendered(evidence, decisions, folder) -> dict[str, str]:
    render(evidence, decisions, folder, ReportSettings())
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def printed(evidence, decisions, width: int = 100, **options) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    terminal(evidence, decisions, console, ReportSettings())
    return console.file.getvalue()


def test_every_kind_is_written_and_nothing_else(evidence, decisions, tmp_path) -> None:
    assert set(rendered(evidence, decisions, tmp_path)) == {
        "report.html",
        "summary.md",
        "junit.xml",
    }
    assert set(kinds("report")) == {"html", "summary", "junit"}


def test_two_renders_are_equal_to_the_byte(evidence, decisions, tmp_path) -> None:
    first = rendered(evidence, decisions, tmp_path / "a")
    assert first == rendered(evidence, decisions, tmp_path / "b")
    assert printed(evidence, decisions) == printed(evidence, decisions)


def test_a_failed_write_leaves_the_old_file_and_no_other(
    evidence, decisions, tmp_path, monkeypatch
) -> None:
    before = rendered(evidence, decisions, tmp_path)

    def broken(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", broken)
    with pytest.raises(SamepoolError, match="cannot be written: disk full"):
        render(evidence, decisions[:1], tmp_path, ReportSettings())
    monkeypatch.undo()
    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == before


def test_page_is_balanced_self_contained_and_accessible(evidence, decisions, tmp_path) -> None:
    page = rendered(evidence, decisions, tmp_path)["report.html"]
    found = parsed(page)
    assert len(found.ids) == len(set(found.ids))
    links = [value for name, value in found.attributes if name in {"href", "src"}]
    assert links
    assert all(link[0] == "#" and link[1:] in found.ids for link in links)
    assert "url(" not in page
    assert "@import" not in page
    assert "localStorage" not in page
    assert found.tags.count("table") == found.tags.count("caption")
    heads = re.findall(r"<th(?=[ >])[^>]*>", page)
    assert all("scope=" in head for head in heads)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_never_markup(named, evidence, decisions, tmp_path, name) -> None:
    plain = rendered(evidence, decisions, tmp_path / "plain")
    hostile, decided = named(name)
    files = rendered(hostile, decided, tmp_path / "hostile")
    page = parsed(files["report.html"])
    usual = parsed(plain["report.html"])
    for tag in ("script", "style", "b", "img", "table", "section", "svg"):
        assert page.tags.count(tag) == usual.tags.count(tag), tag
    assert not [attribute for attribute, _ in page.attributes if attribute.startswith("on")]
    ET.fromstring(files["junit.xml"])
    for line in files["summary.md"].splitlines():
        tags = set(re.findall(r"<[^>]*>", line))
        allowed = r"<(/?(code|sub|details|summary)|!-- samepool:summary --)>"
        assert all(re.fullmatch(allowed, tag) for tag in tags), tags
        assert "\x1b" not in line
    if "{{" in name:
        assert "{{ 7 * 7 }}" in files["report.html"]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_tables_keep_their_columns(named, tmp_path, name) -> None:
    summary = rendered(*named(name), tmp_path)["summary.md"]
    assert summary.startswith(MARKER + "\n### ")
    width = None
    for line in summary.splitlines():
        if not line.startswith("|"):
            width = None
            continue
        width = width or line.count("|")
        assert line.count("|") == width


@pytest.mark.parametrize("name", HOSTILE)
def test_terminal_takes_no_orders_from_names(named, name) -> None:
    text = printed(*named(name))
    assert not set(text) & set("\x1b\x00\u202e\u2066\ud800")
    if "markup" in name:
        assert "[bold red]markup[/] :smile:" in text


@pytest.mark.parametrize("width", [40, *range(76, 130, 3), 160])
def test_terminal_prints_every_number_and_word_whole(evidence, decisions, width) -> None:
    text = printed(evidence, decisions, width)
    assert {"inconclusive", "unclear"} <= set(text.split())
    for number in ("+0.0064", "[+0.0012, +0.0116]", "24/54/38", "0.5057", "24.5171 c4", "+2e-05"):
        assert number in text
    assert "\u2026" not in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_terminal_lines_fit(evidence, decisions, width) -> None:
    assert max(map(len, printed(evidence, decisions, width).splitlines())) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_long_names_push_no_number_out(named, width) -> None:
    text = printed(*named("long_name_" * 12), width)
    for number in ("+0.0064", "[+0.0012, +0.0116]", "24/54/38", "24.5171 c4", "constant scores"):
        assert number in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_large_counts_push_no_number_out(evidence, decisions, width) -> None:
    large = {"n": 8_956_000, "wins": 312_000, "ties": 331_000, "losses": 252_600}
    compared = tuple(
        replace(c, n_constant=12_345, **large) if c.n else c for c in evidence.comparisons
    )
    text = printed(replace(evidence, comparisons=compared), decisions, width)
    for number in ("8,956,000", "312000/331000/252600", "c12,345", "[+0.0012, +0.0116]"):
        assert number in text
    assert "inconclusive" in text.split()
    assert max(map(len, text.splitlines())) <= width


def test_terminal_ends_with_the_decision(evidence, decisions) -> None:
    assert printed(evidence, decisions).endswith("0 of 2 candidates pass.\n")
    assert "ce fails: of 4 checks" in printed(evidence, decisions[:1]).splitlines()[-1]


def test_checks_of_what_did_not_pass_are_open_however_many_there_are(
    evidence, decisions, tmp_path
) -> None:
    full, decided = _many(evidence, decisions)
    passed = replace(decided[0], status="pass")
    page = rendered(full, (passed, *decided[1:]), tmp_path)["report.html"]
    assert page.count("<details><summary>20 checks") == 1
    assert page.count("<details open><summary>20 checks") == len(decided) - 1


def test_colours_only_on_terminals(evidence, decisions) -> None:
    assert "\x1b[" in printed(evidence, decisions, force_terminal=True, color_system="standard")
    assert "\x1b" not in printed(evidence, decisions)


def test_one_model_alone(alone, tmp_path) -> None:
    files = rendered(alone, (), tmp_path)
    parsed(files["report.html"])
    assert "nothing was compared" in files["report.html"]
    assert list(ET.fromstring(files["junit.xml"])) == []
    text = printed(alone, ())
    assert "delta" not in text
    assert text.endswith("1 model was measured; without a baseline nothing was compared.\n")


def test_summary_folds_what_passed_and_the_slices_of_many(several, evidence, decisions, tmp_path):
    full, decided = several
    passed = replace(decided[0], status="pass")
    many = rendered(full, (passed, *decided[1:]), tmp_path / "many")["summary.md"]
    assert "<details><summary>Rules: ce</summary>\n\n| verdict |" in many
    assert "**Rules: splade**\n\n| verdict |" in many
    assert many.count("by slice: <code>") == many.count("by slice: <code>ce</code>") + 3
    assert many.count("<details>") == many.count("</details>") == 6
    two = rendered(evidence, decisions, tmp_path / "two")["summary.md"]
    assert two.count("<details>") == 1


def test_junit_says_each_status_in_its_own_way(evidence, decisions, decided, tmp_path) -> None:
    root = ET.fromstring(rendered(evidence, decisions, tmp_path / "a")["junit.xml"])
    ce, splade = root.findall("testsuite")
    assert (ce.get("tests"), ce.get("failures"), ce.get("errors")) == ("4", "1", "0")
    assert [child.tag for case in splade.iter("testcase") for child in case] == ["error", "skipped"]
    none = ET.fromstring(rendered(evidence, decided("no_criteria"), tmp_path / "b")["junit.xml"])
    assert none.find("testsuite").get("skipped") == "1"
    assert none.find(".//skipped") is not None


def test_markdown_words_that_would_be_mentions_become_code() -> None:
    assert prose("ask @someone.") == "ask <code>@someone</code>."
    assert prose("a|b") == "a&#124;b"
    assert code("x_y") == "<code>x_y</code>"
    assert code("_x_") == "<code>&#95;x&#95;</code>"
    assert "://" not in code("http://a.example")
    assert len(code("x" * 9_999)) < 130


def _many(evidence, decisions):
    """Ten models, twenty slices, twelve metrics, with the comparisons repeated for all of them."""
    queries = evidence.scores[0].values.shape[0]
    names = ("all", *(f"slice_number_{place}" for place in range(19)))
    masks = replace(
        evidence.slices,
        query_names=names,
        query=np.ones((queries, 20), bool),
        item_names=("all",),
        crossings={},
        definitions=dict.fromkeys(names, "frequency < 5 and market in ('NO', 'SE')"),
        undated={},
    )
    infos = tuple(replace(evidence.metrics[0], label=f"nDCG(gain=exp)@{k}") for k in range(10, 22))
    models = [evidence.models[0]]
    models += [replace(evidence.models[2], name=f"candidate-{place}") for place in range(9)]
    column = evidence.scores[1].values[:, :1]
    scores = tuple(
        replace(
            evidence.scores[1],
            model=model.name,
            columns=tuple((info.label, "all") for info in infos),
            values=np.repeat(column, 12, axis=1),
            reason=np.repeat(evidence.scores[1].reason[:, :1], 12, axis=1),
            lists={},
        )
        for model in models
    )
    one = evidence.comparisons[0]
    compared = tuple(
        replace(
            one,
            claim=replace(
                one.claim,
                id=f"{model.name}/{info.label}/{name}",
                model=model.name,
                metric=info.label,
                slice=name,
            ),
        )
        for model, info, name in product(models[1:], infos, names)
    )
    rules = tuple(
        replace(decisions[0].verdicts[2], slice=name, reason="too far below " * 9) for name in names
    )
    full = replace(
        evidence,
        models=tuple(models),
        metrics=infos,
        slices=masks,
        scores=scores,
        comparisons=compared,
    )
    decided = tuple(replace(decisions[0], model=m.name, verdicts=rules) for m in models[1:])
    return full, decided


def test_size_is_bounded(evidence, decisions, tmp_path) -> None:
    files = rendered(*_many(evidence, decisions), tmp_path)
    assert len(files["report.html"].encode()) < 2_000_000
    assert len(files["summary.md"]) < 65_536
    assert "See report.html." in files["summary.md"]
    parsed(files["report.html"])


def test_many_models_fit_a_terminal(evidence, decisions) -> None:
    text = printed(*_many(evidence, decisions), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("candidate-8") > 3
