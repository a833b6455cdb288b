"""report.html: one self-contained page; nothing is fetched, nothing is stored."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.report._format import NA
from pipeline.report._view import View

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    environment.globals.update(
        style=Markup(style),  # noqa: S704 - our own file, not input
        NA=NA,
    )
    return environment


@dataclass(frozen=True, slots=True)
class Html:
    """A page for reading, printing and MLflow's sandboxed frame; works without scripts."""

    name: ClassVar[str] = "report.html"

    def render(self, view: View) -> str:
        """The page."""
        return _environment().get_template("report.html.j2").render(view=view)


PLUGIN = Html
