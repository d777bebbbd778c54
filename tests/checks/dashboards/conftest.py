"""Makes the generator importable, and what the tests of the alerts know of PromQL, rules and metrics."""

import sys

from model import FOLDER, ROOT

sys.path[:0] = [str(FOLDER), str(ROOT / "tests/checks/alerts")]
