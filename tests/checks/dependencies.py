"""Checks every dependency of the project: reads `cargo metadata --format-version 1` on standard input.

Allowed are the licences below, packages from crates.io only, and one version of each package, except
those named here with a reason.
"""

import collections
import json
import re
import sys

# Permissive, and compatible with a project under MIT or Apache-2.0.
LICENCES = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}

# The second part is for CLDR's table of time zones.
OWN_LICENCE = "(MIT OR Apache-2.0) AND Unicode-3.0"

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"

# Packages in more than one version, and why that cannot be avoided.
DUPLICATES = {
    "foldhash": "prost-build, which makes the protobuf messages of prometheus-client, is behind; build time only",
    "getrandom": "ring, of the TLS stack, is behind; tempfile and proptest are not",
    "hashbrown": "as foldhash; build time only",
    "syn": "tiberius and tracing still derive with 2; build time only",
    "unicode-width": "protox, which reads the protobuf definitions of prometheus-client, is behind; build time only",
    "windows-sys": "ring is behind; never built on Linux",
}


def is_allowed(expression):
    """Whether an SPDX expression can be satisfied with the allowed licences."""
    # Before SPDX expressions, a slash meant OR.
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    allowed, rest = alternatives(tokens)
    if rest:
        raise ValueError(f"not an SPDX expression: {expression}")
    return allowed


def alternatives(tokens):
    allowed, tokens = conjunction(tokens)
    while tokens and tokens[0] == "OR":
        other, tokens = conjunction(tokens[1:])
        allowed = allowed or other
    return allowed, tokens


def conjunction(tokens):
    allowed, tokens = term(tokens)
    while tokens and tokens[0] == "AND":
        other, tokens = term(tokens[1:])
        allowed = allowed and other
    return allowed, tokens


def term(tokens):
    if not tokens:
        raise ValueError("an SPDX expression ends early")
    if tokens[0] == "(":
        allowed, tokens = alternatives(tokens[1:])
        if tokens[:1] != [")"]:
            raise ValueError("an SPDX expression lacks its )")
        return allowed, tokens[1:]
    if tokens[1:2] == ["WITH"]:
        return " ".join(tokens[:3]) in LICENCES, tokens[3:]
    return tokens[0] in LICENCES, tokens[1:]


def self_test():
    """Tests the check itself, which is worth nothing if it never refuses."""
    good = ["MIT", "MIT/Apache-2.0", "MIT AND (ISC OR GPL-3.0-only)", "Apache-2.0 WITH LLVM-exception"]
    bad = ["GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR ISC) AND LGPL-2.1-or-later", "MIT WITH x"]
    assert all(is_allowed(expression) for expression in good)
    assert not any(is_allowed(expression) for expression in bad)


def problems(metadata):
    own = set(metadata["workspace_members"])
    versions = collections.defaultdict(set)
    for package in metadata["packages"]:
        name = f"{package['name']} {package['version']}"
        versions[package["name"]].add(package["version"])
        if not is_allowed(package["license"] or "none"):
            yield f"{name}: licence {package['license'] or 'not given'}"
        if package["id"] in own:
            if package["license"] != OWN_LICENCE:
                yield f"{name}: its own licence is {OWN_LICENCE}"
        elif package["source"] != REGISTRY:
            yield f"{name}: comes from {package['source'] or package['manifest_path']}"
    for name, found in sorted(versions.items()):
        if len(found) > 1 and name not in DUPLICATES:
            yield f"{name}: {len(found)} versions, {', '.join(sorted(found))}"
    for name in DUPLICATES:
        if len(versions[name]) < 2:
            yield f"{name}: is no duplicate any more; take it out of the list"


def main():
    self_test()
    metadata = json.load(sys.stdin)
    found = list(problems(metadata))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(metadata['packages'])} packages, {len(found)} problems")
    sys.exit(1 if found else 0)


main()
