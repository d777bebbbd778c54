"""PromQL as a tree, with what the rules of dashboard-linter need beyond the tests of the alerts."""

from collections.abc import Iterator

import promql_parser
from promql_parser import Call, Expr, MatrixSelector, VectorSelector

from promql import nodes, parse, selectors

__all__ = ["Call", "Expr", "MatrixSelector", "VectorSelector", "matchers", "nodes", "parents", "parse", "selectors"]

_OPERATORS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


def parents(expr: Expr) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """Every node with its ancestors, the nearest last."""
    found, path = [], []

    def enter(node: Expr) -> None:
        found.append((node, tuple(path)))
        path.append(node)

    promql_parser.walk(expr, enter, lambda _: path.pop() and None)
    yield from found


def matchers(found: VectorSelector) -> list[str]:
    """The matchers of a selector, as written in PromQL."""
    return [
        f'{matcher.name}{_OPERATORS[str(matcher.op).partition(".")[2]]}"{matcher.value}"'
        for matcher in found.matchers.matchers
    ]
