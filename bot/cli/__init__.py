"""The command line."""

import sys

# uv installs on newer Pythons in spite of `requires-python`. Say so before a dependency fails to import.
if sys.version_info >= (3, 15):
    sys.exit("buongioco: This Python is too new. Buongioco needs Python 3.11 to 3.14.")
