"""What goes for every test."""

import os

from hypothesis import settings

# People in tests press faster than people do.
os.environ["BUONGIOCO_RATE_LIMITS"] = "false"

# A slow machine is not a fault: nothing here is judged by its time.
settings.register_profile("buongioco", deadline=None)
settings.load_profile("buongioco")
