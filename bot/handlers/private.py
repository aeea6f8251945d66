"""What to say when delivery sends somebody's hand to their private chat: it may turn out to be closed."""

from bot.delivery.message_state import State, decode_state
from bot.delivery.names import Hand, encode_name
from bot.people import Profile
from bot.texts import texts
from bot.worker import Worker


async def hands_toast(worker: Worker, profile: Profile, code: str = "") -> str:
    """Return what to tell somebody whose hands are sent to their private chat, of one table or of all.

    Ask before they are sent: it depends on what became of the last message there.
    """
    _ = texts(profile.language).gettext
    if await _is_closed(worker, profile.id, code):
        return _("I cannot write to you: open our private chat and write /hand there.")
    return _("Your cards are on their way to our private chat. If they do not come, open it and write /hand there.")


async def _is_closed(worker: Worker, person: str, code: str) -> bool:
    """Return whether the last hand that was sent to a person could not reach their private chat."""
    for table in await worker.tables_of(person):
        seat = table.seat_of(person)
        if seat is None or table.phase != "playing" or code not in ("", table.code):
            continue
        state = (await worker.store.shown(table.code)).get(encode_name(Hand(seat)))
        if state and decode_state(state).state is State.UNREACHABLE:
            return True
    return False
