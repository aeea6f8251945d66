"""The tests."""

import os

# Bots are started hundreds of times. Where Python is told to keep no bytecode, each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
