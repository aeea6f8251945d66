"""The tests."""

import os

# Bots are started hundreds of times. Without cached bytecode each would compile all of its imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
