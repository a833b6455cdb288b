"""junit.xml: a suite a candidate, a test case a verdict, for continuous integration."""

from dataclasses import dataclass
from typing import ClassVar
from xml.etree import ElementTree as ET

from pipeline.report._verdicts import DecisionView, RuleRow
from pipeline.report._view import View

_TAGS = {"fail": "failure", "invalid": "error", "inconclusive": "skipped"}


@dataclass(frozen=True, slots=True)
class JUnit:
    """fail is a failure, invalid an error, inconclusive (or no rules at all) skipped."""

    name: ClassVar[str] = "junit.xml"

    def render(self, view: View) -> str:
        """The document."""
        root = ET.Element("testsuites", name="samepool")
        for decision in view.decisions:
            root.append(_suite(decision, view))
        ET.indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(decision: DecisionView, view: View) -> ET.Element:
    statuses = [rule.status for rule in decision.rules] or ["inconclusive"]
    suite = ET.Element(
        "testsuite",
        name=f"{decision.model} against {view.baseline}",
        tests=str(len(statuses)),
        failures=str(statuses.count("fail")),
        errors=str(statuses.count("invalid")),
        skipped=str(statuses.count("inconclusive")),
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("pool", f"{view.pool.name}@{view.pool.digest}"),
        ("status", decision.status),
        ("p", decision.p),
        ("p_holm", decision.p_holm),
        ("rules_digest", decision.rules_digest),
        ("evidence_digest", decision.evidence_digest),
    ):
        ET.SubElement(properties, "property", name=name, value=value)
    for rule in decision.rules:
        suite.append(_case(rule, decision.model))
    if not decision.rules:
        case = ET.SubElement(suite, "testcase", classname=f"gate.{decision.model}", name="rules")
        ET.SubElement(case, "skipped", message="there are no rules: nothing was decided")
    return suite


def _case(rule: RuleRow, model: str) -> ET.Element:
    name = f"{rule.rule}: {rule.metric} on {rule.slice}"
    case = ET.Element("testcase", classname=f"gate.{model}", name=name)
    if rule.status in _TAGS:
        numbers = f"value {rule.value}, interval {rule.ci}, limit {rule.limit}, n={rule.n}"
        found = ET.SubElement(case, _TAGS[rule.status], message=f"{rule.reason} ({numbers})")
        if rule.status != "inconclusive":
            found.set("type", rule.status)
        found.text = "\n".join(part for part in (rule.claim, rule.level) if part) or None
    return case


PLUGIN = JUnit
