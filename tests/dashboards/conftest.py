"""Makes the generator importable."""

import sys

from model import FOLDER

sys.path.insert(0, str(FOLDER))
