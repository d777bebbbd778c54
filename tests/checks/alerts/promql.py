"""PromQL as a tree, from the parser of the crate promql-parser."""

from collections.abc import Iterator
from datetime import timedelta

import promql_parser
from promql_parser import BinaryExpr, Expr, MatrixSelector, NumberLiteral, SubqueryExpr, VectorSelector

_COMPARISONS = {"==", "!=", ">", "<", ">=", "<="}


def parse(text: str) -> Expr:
    """The tree; a ValueError for anything that is not PromQL."""
    return promql_parser.parse(text)


def nodes(expr: Expr) -> list[Expr]:
    """Every node, parents first; the selector of a range is a node of its own."""
    found: list[Expr] = []
    promql_parser.walk(expr, found.append)
    return found


def selectors(expr: Expr) -> list[VectorSelector]:
    """Every selector, including those of ranges."""
    return [node for node in nodes(expr) if isinstance(node, VectorSelector)]


def names(expr: Expr) -> set[str]:
    """The metrics that an expression names."""
    return {selector.name for selector in selectors(expr)}


def durations(expr: Expr) -> list[timedelta]:
    """Every range, resolution and offset, in the order of the tree."""
    found = []
    for node in nodes(expr):
        if isinstance(node, MatrixSelector):
            found.append(node.range)
        elif isinstance(node, SubqueryExpr):
            found += [node.range, node.step, node.offset]
        elif isinstance(node, VectorSelector):
            found.append(node.offset)
    return [duration for duration in found if duration]


def thresholds(expr: Expr) -> Iterator[float]:
    """The numbers that an expression compares with."""
    for node in nodes(expr):
        if isinstance(node, BinaryExpr) and str(node.op) in _COMPARISONS:
            for side in (node.lhs, node.rhs):
                if isinstance(side, NumberLiteral):
                    yield side.val
