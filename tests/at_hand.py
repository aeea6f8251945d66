"""What processes that work for bots need, imported in the one that they are forked from (`tests.forked`)."""

import bot.pictures.painting  # noqa: F401
import engine.robots.analysis
import engine.robots.hints  # noqa: F401
from engine.robots.strong import get_ready

get_ready()
