"""PromQL as a tree: what the rules of dashboard-linter ask beyond what the tests of the alerts do."""

from collections.abc import Iterator

import promql_parser
from promql_parser import Call, Expr, MatrixSelector, VectorSelector

from promql import nodes, parse, selectors

__all__ = ["Call", "Expr", "MatrixSelector", "VectorSelector", "matchers", "nodes", "parents", "parse", "selectors"]

_OPERATORS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


def parents(expr: Expr) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """Every node, each with the nodes that it is in, the nearest last."""
    found, path = [], []

    def enter(node: Expr) -> None:
        found.append((node, tuple(path)))
        path.append(node)

    promql_parser.walk(expr, enter, lambda _: path.pop() and None)
    yield from found


def matchers(found: VectorSelector) -> list[str]:
    """The matchers of a selector, as one writes them."""
    return [
        f'{matcher.name}{_OPERATORS[str(matcher.op).partition(".")[2]]}"{matcher.value}"'
        for matcher in found.matchers.matchers
    ]
