"""Makes two things importable: the generator, and the alert tests' knowledge of PromQL, rules and metrics."""

import sys

from model import FOLDER, ROOT

sys.path[:0] = [str(FOLDER), str(ROOT / "tests/checks/alerts")]
