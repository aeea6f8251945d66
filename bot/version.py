"""The version of the installed package. `pyproject.toml` is the only place that sets it."""

from importlib.metadata import version

VERSION = version("buongioco")
