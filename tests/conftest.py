"""What goes for every test."""

import os

from hypothesis import settings

# People in tests press faster than people do.
os.environ["BUONGIOCO_RATE_LIMITS"] = "false"

# A slow machine is not a fault: nothing here is judged by its time. `make test-all` names the thorough profile.
settings.register_profile("quick", deadline=None, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("quick")
