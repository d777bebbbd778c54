"""Grafana's variables in a text, replaced the way Grafana does."""

import re

_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)(?::\w+)?\}")

# An unlikely range, by which $__rate_interval is recognised after parsing.
RATE_INTERVAL = "7654321s"


def substitute(text: str, values: dict[str, str]) -> str:
    """The text with every variable replaced. A variable without a value is a KeyError."""
    return _VARIABLE.sub(lambda found: values[found[1] or found[2]], text)


def parseable(expr: str) -> str:
    """PromQL that parses: variables outside of strings are replaced, strings are unchanged."""
    parts = expr.split('"')
    parts[::2] = [substitute(part, {"__rate_interval": RATE_INTERVAL}) for part in parts[::2]]
    return '"'.join(parts)
