"""Conditions over columns: parsed by Python's own parser, evaluated here, never run as code."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pipeline.core.arrays import Bool
from pipeline.core.problems import SamepoolError, fault
from pipeline.slices._columns import WORDS, Column, constant, literal, mismatch

_LONGEST: Final = 2_000
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
}
_EQUALITY: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ORDER: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ALLOWED: Final = "comparisons, + - * / // %, and, or, not, in [...] and is None over columns"


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates one condition for all rows at once.

    Attributes:
        column: reads a column by name.
        rows: N, rows of the table.
        where: where the condition stands in the config.
    """

    column: Callable[[str], Column]
    rows: int
    where: str

    def mask(self, text: str) -> Bool:
        """(N,) rows for which the condition holds.

        Raises:
            SamepoolError: it does not parse, uses anything but what is allowed, names an unknown
                column, or mixes types.
        """
        if len(text) > _LONGEST:
            raise fault("bad_expression", f"{self.where} is longer than {_LONGEST:,} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval")
            found = self._truth(tree.body)
        except (SyntaxError, ValueError, OverflowError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            message = f"{self.where}: {text!r} cannot be read: {reason}"
            raise fault("bad_expression", message, f"write {_ALLOWED}") from error
        except (RecursionError, MemoryError) as error:
            raise fault("bad_expression", f"{self.where} is nested too deeply") from error
        return np.array(np.broadcast_to(found, self.rows))

    def _refuse(self, node: ast.AST) -> SamepoolError:
        text = f"{self.where}: {ast.unparse(node)!r} is not allowed in a condition"
        return fault("bad_expression", text, f"allowed: {_ALLOWED}")

    def _truth(self, node: ast.expr) -> Any:
        match node:
            case ast.BoolOp(op=op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                truths = [self._truth(value) for value in values]
                return join.reduce(np.broadcast_arrays(*truths))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return np.logical_not(self._truth(operand))
            case ast.Compare():
                return self._compare(node)
        value = self._value(node)
        if value.type != "bool":
            text = f"{self.where}: {ast.unparse(node)!r} is {WORDS[value.type]}, not a condition"
            raise fault("bad_expression", text, "compare it with something")
        return np.logical_and(value.data, np.logical_not(value.null))

    def _compare(self, node: ast.Compare) -> Any:
        found: Any = np.True_
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            found = np.logical_and(found, self._pair(left, op, right))
            left = right
        return found

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise self._refuse(ast.Compare(left, [op], [right]))
            null = self._value(left).null
            return null if isinstance(op, ast.Is) else np.logical_not(null)
        if isinstance(op, ast.In | ast.NotIn):
            return self._member(self._value(left), right, negate=isinstance(op, ast.NotIn))
        return self._ordered(self._value(left), op, self._value(right))

    def _member(self, value: Column, right: ast.expr, *, negate: bool) -> Any:
        if not isinstance(right, ast.List | ast.Tuple | ast.Set):
            text = f"{self.where}: {ast.unparse(right)!r} after in is not a list of values"
            raise fault("bad_expression", text, 'write in ["F", "M"]')
        found: Any = np.False_
        for element in right.elts:
            other = literal(self._element(element), value, self.where)
            found = np.logical_or(found, value.data == other.data)
        found = np.logical_not(found) if negate else found
        return np.logical_and(found, np.logical_not(value.null))

    def _element(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | int() | float() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                if not isinstance(value, bool):
                    return -value
        raise self._refuse(node)

    def _ordered(self, left: Column, op: ast.cmpop, right: Column) -> Any:
        left, right = self._aligned(left, right), self._aligned(right, left)
        if left.type != right.type:
            raise mismatch(left, right, self.where)
        if type(op) in _ORDER and left.type not in {"number", "time"}:
            text = f"{self.where}: {left.name} is {WORDS[left.type]}, which has no order"
            raise fault("type_mismatch", text, "use == or in [...]")
        compare = _EQUALITY.get(type(op)) or _ORDER[type(op)]
        known = np.logical_not(np.logical_or(left.null, right.null))
        return np.logical_and(compare(left.data, right.data), known)

    def _aligned(self, value: Column, other: Column) -> Column:
        """Text constants beside a time are dates."""
        if other.type == "time" and value.type == "text" and isinstance(value.data, str):
            return literal(value.data, other, self.where)
        return value

    def _value(self, node: ast.expr) -> Column:
        match node:
            case ast.Name(id=name):
                return self.column(name)
            case ast.Constant(value=str() | int() | float() as value):
                return constant(value)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                number = self._number(operand)
                sign = -1.0 if isinstance(op, ast.USub) else 1.0
                return Column(ast.unparse(node), "number", sign * number.data, number.null)
            case ast.BinOp(left=left, op=operation, right=right):
                return self._calculate(node, self._number(left), operation, self._number(right))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return Column(ast.unparse(node), "bool", self._truth(node), np.False_)
        raise self._refuse(node)

    def _number(self, node: ast.expr) -> Column:
        value = self._value(node)
        if value.type != "number":
            text = f"{self.where}: {value.name} is {WORDS[value.type]}; arithmetic needs numbers"
            raise fault("type_mismatch", text)
        return value

    def _calculate(
        self, node: ast.BinOp, left: Column, operation: ast.operator, right: Column
    ) -> Column:
        calculate = _ARITHMETIC.get(type(operation))
        if calculate is None:
            raise self._refuse(node)
        with np.errstate(all="ignore"):
            data = calculate(np.asarray(left.data, np.float64), np.asarray(right.data, np.float64))
        # A division by zero has no value, as a missing column has none.
        null = np.logical_or(np.logical_or(left.null, right.null), ~np.isfinite(data))
        return Column(ast.unparse(node), "number", data, null)
