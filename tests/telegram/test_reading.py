"""Presses are read without parsing the whole update, with the same result as the library's parser."""

from typing import Any

import pytest
from telegram import Bot, Update

from adapters.telegram.raw_updates import build_update
from adapters.telegram.reading import is_photo, read_press

BUTTONS = [[{"text": "3D", "callback_data": "1mABCD:1:3D"}, {"text": "Rules", "url": "https://t.me/bot?start=x"}]]
MESSAGE = {
    "message_id": 10,
    "date": 1_700_000_000,
    "chat": {"id": -5, "type": "supergroup", "title": "Bar", "is_forum": True},
    "is_topic_message": True,
    "message_thread_id": 7,
    "text": "Your turn",
    "entities": [{"type": "bold", "offset": 0, "length": 4}],
    "reply_markup": {"inline_keyboard": BUTTONS},
}
PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}]
OLD = {"message_id": 10, "date": 0, "chat": MESSAGE["chat"]}
BOT = Bot("1:test")


def press_update(message: Any, payload: str = "1mABCD:1:3D") -> dict[str, Any]:
    person = {"id": 1, "is_bot": False, "first_name": "Anna", "language_code": "it"}
    query = {"id": "77", "from": person, "chat_instance": "9", "data": payload, "message": message}
    return {"update_id": 5, "callback_query": query}


@pytest.mark.parametrize(
    "update",
    [
        press_update(MESSAGE),
        press_update(MESSAGE, "1mABCD:1:4D"),
        press_update(MESSAGE | {"photo": PHOTO, "ephemeral_message_id": 3}),
        press_update({name: value for name, value in MESSAGE.items() if name != "reply_markup"}),
        press_update(OLD),
    ],
)
def test_press_is_read_as_the_library_reads_it(update: dict[str, Any]) -> None:
    expected, parsed = Update.de_json(update, BOT), build_update(update, BOT)
    assert read_press(expected) is not None
    assert read_press(parsed) == read_press(expected)
    assert expected.callback_query
    assert parsed.callback_query
    assert is_photo(parsed.callback_query) == is_photo(expected.callback_query)


def test_press_on_a_missing_button_is_not_genuine() -> None:
    shown_button, missing_button = (
        read_press(build_update(press_update(MESSAGE, payload), BOT)) for payload in ("1mABCD:1:3D", "1mABCD:1:4D")
    )
    assert shown_button
    assert missing_button
    assert (shown_button.genuine, missing_button.genuine) == (True, False)


@pytest.mark.parametrize(
    "keyboard", [5, [], {}, {"inline_keyboard": 5}, {"inline_keyboard": [5]}, {"inline_keyboard": [[5]]}]
)
def test_press_on_unreadable_keyboard_is_not_genuine(keyboard: Any) -> None:
    press = read_press(build_update(press_update(MESSAGE | {"reply_markup": keyboard}), BOT))
    assert press
    assert (press.payload, press.genuine) == ("1mABCD:1:3D", False)
