"""PromQL as a tree, by the parser that is also in use elsewhere (the crate promql-parser)."""

from collections.abc import Iterator

import promql_parser
from promql_parser import Call, Expr, MatrixSelector, VectorSelector

__all__ = ["Call", "Expr", "MatrixSelector", "VectorSelector", "find", "matchers", "parents", "parse"]

_OPERATORS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


def parse(text: str) -> Expr:
    """The tree; a ValueError when it is no PromQL."""
    return promql_parser.parse(text)


def parents(expr: Expr) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """Every node, each with the nodes that it is in, the nearest last."""
    found, path = [], []

    def enter(node: Expr) -> None:
        found.append((node, tuple(path)))
        path.append(node)

    promql_parser.walk(expr, enter, lambda _: path.pop() and None)
    yield from found


def find(expr: Expr, kind: type) -> list:
    """Every node of a kind."""
    return [node for node, _ in parents(expr) if isinstance(node, kind)]


def matchers(found: VectorSelector) -> list[str]:
    """The matchers of a selector, as one writes them."""
    return [
        f'{matcher.name}{_OPERATORS[str(matcher.op).partition(".")[2]]}"{matcher.value}"'
        for matcher in found.matchers.matchers
    ]
