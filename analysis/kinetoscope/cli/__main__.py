"""``python -m kinetoscope.cli``."""

import sys

from kinetoscope.cli import main

sys.exit(main())
