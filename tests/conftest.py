"""What goes for every test."""

from hypothesis import settings

# A slow machine is not a fault: nothing here is judged by its time.
settings.register_profile("buongioco", deadline=None)
settings.load_profile("buongioco")
