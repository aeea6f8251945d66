"""Times of tables' clocks, in seconds."""

from math import inf

CLOCKS = (0, 60, 300, 1800, 86400)  # the times for a move that a table can choose; 0 is no clock
DEFAULT_CLOCK = 300
LATES_TO_FORFEIT = 3  # late moves in a row with which a strict clock ends the game
NEVER = inf  # the time of a stopped clock

TIME_TO_ACCEPT = 24 * 3600  # the time until an open challenge expires
TIME_TO_BE_READY = 60  # the time for matched people to confirm that they are ready
TIME_FOR_GUESTS = 24 * 3600  # the playing time until a game ends that only web guests could continue
TIME_TO_COME_BACK = 30 * 24 * 3600  # the time without a move after which a practice table ends
