"""The command line."""

import sys

# uv installs the bot on newer Pythons despite `requires-python`. Explain that before a dependency fails to import.
if sys.version_info >= (3, 15):
    sys.exit("buongioco: This Python is too new. Buongioco needs Python 3.11 to 3.14.")
