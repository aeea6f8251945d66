"""The modes of a bot that its host can turn on and off, as ``getMe`` reports them.

BotFather changes all of them; its commands are those of core.telegram.org/bots/features#botfather. Newer
servers change them by ``setMySettings`` too, under the same names.
"""

from collections.abc import Iterator
from typing import NamedTuple

SETTINGS = "@BotFather, Open, Bot Settings"


class Mode(NamedTuple):
    """A mode. Hosts read ``advice`` if it is wrong. ``is_needed``: without the right mode the bot does not work."""

    name: str
    should_be_on: bool
    advice: str
    is_needed: bool = False


MODES = (
    Mode("can_join_groups", True, "the bot cannot be added to groups: tell @BotFather /setjoingroups, Enable", True),
    Mode(
        "supports_inline_queries",
        True,
        "inline mode is off, so no table can be sent into other chats: @BotFather, /setinline",
    ),
    Mode(
        "supports_guest_queries",
        True,
        f"guest mode is off, so writing the bot's name in other chats does nothing: {SETTINGS}, Guest Mode",
    ),
    Mode(
        "can_read_all_group_messages",
        False,
        "privacy mode is off; the bot does not need that: @BotFather, /setprivacy, Enable",
    ),
    Mode(
        "needs_inline_query_location",
        False,
        "inline mode asks people where they are; the bot does not need that: @BotFather, /setinlinegeo, Disable",
    ),
    Mode(
        "supports_join_request_queries",
        False,
        f"the bot is asked about people who want to join groups, and does not answer: {SETTINGS}",
    ),
    Mode("can_connect_to_business", False, f"business mode is on; the bot does not need that: {SETTINGS}"),
    Mode("can_manage_bots", False, f"the bot can manage other bots, and does not need that: {SETTINGS}"),
    Mode("can_communicate_with_bots", False, f"other bots can write to the bot, and get no answer: {SETTINGS}"),
)


TOPICS = "has_topics_enabled"
NO_TOPICS_NEEDED = Mode(
    TOPICS,
    False,
    "topics in private chats are on: set BUONGIOCO_TELEGRAM_TABLE_TOPICS=true to give each table one, or turn them "
    f"off: {SETTINGS}, Threaded Mode",
)
TOPICS_NEEDED = Mode(
    TOPICS,
    True,
    "BUONGIOCO_TELEGRAM_TABLE_TOPICS is set, but topics in private chats are off, so all tables share the chat: "
    f"{SETTINGS}, Threaded Mode",
)


def check_modes(reported: dict[str, object], *, table_topics: bool) -> Iterator[tuple[bool, str]]:
    """Yield whether all is well and what to do, for each mode that is not as wanted.

    ``reported`` is the answer to ``getMe``. A server that does not know a mode does not report it. ``table_topics`` is
    whether the host wants topics for tables.
    """
    if table_topics and reported.get(TOPICS):
        yield True, "telegram: each table has a topic in the private chat"
    for mode in (*MODES, TOPICS_NEEDED if table_topics else NO_TOPICS_NEEDED):
        if reported.get(mode.name, mode.should_be_on) != mode.should_be_on:
            yield not mode.is_needed, f"telegram: {mode.advice}"
