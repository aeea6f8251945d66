"""Panels as Discord's components."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import components
from adapters.discord.interactions import CUSTOM_ID
from bot.panel import Button, Panel, Span, utf16_length
from bot.panel_picture import DECKS, Picture
from bot.pictures.scene import Scene, Side
from tests.discord.players import buttons_of, iter_components
from tests.discord.validation import validate_body, validate_media, validate_message

# With their rows, the text and the container these are forty components, the limit of a message.
MAX_BUTTONS = 31

PLACES = ("discord:1/2", "discord:@3", "discord:guest4")  # server channel, private chat, channel without the bot


def draw_message(panel: Panel, place: str = PLACES[0]) -> dict[str, object]:
    return {**components.message_body(panel, place), "nonce": "x", "enforce_nonce": True}


@given(
    st.lists(st.tuples(st.text(max_size=300), st.sampled_from(["", "bold", "italic", "code"])), max_size=20),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=13), max_size=7),
    st.sampled_from(PLACES),
)
def test_discord_accepts_any_panel(spans: list[tuple[str, str]], rows: list[list[int]], place: str) -> None:
    buttons = tuple(tuple(Button(f"{number} 🪙", f"1pleaderboard chat all {number}") for number in row) for row in rows)
    while sum(map(len, buttons)) > MAX_BUTTONS:
        buttons = buttons[1:]
    panel = Panel(tuple(Span(text, style) for text, style in spans), buttons)  # type: ignore[arg-type]
    body = draw_message(panel, place)
    validate_body("send", body)
    validate_message(body, is_new=True)
    matches = [CUSTOM_ID.fullmatch(button["custom_id"]) for button in buttons_of({"components": body["components"]})]
    assert [match["payload"] for match in matches if match] == [button.payload for row in buttons for button in row]


def test_long_text_is_cut_after_escaping() -> None:
    body = draw_message(Panel((Span("*" * 5000),), ((Button("x" * 200, "1pa"),),)))
    validate_message(body, is_new=True)
    [text] = [component["content"] for component in iter_components(body["components"]) if component["type"] == 10]  # type: ignore[arg-type]
    assert utf16_length(text) > 3700
    assert text.endswith("…")


def test_only_group_panels_use_a_container() -> None:
    panel = Panel((Span("x"),))
    kinds = [components.message_body(panel, place)["components"][0]["type"] for place in PLACES]
    assert kinds == [17, 10, 17]


def test_page_button_is_a_link() -> None:
    link = Button("Replay", "https://cards.example.org/g/K7QF2M-1f0e9a", "", "link")
    body = draw_message(Panel((Span("x"),), ((link, Button("b", "1tAB:b")),)))
    validate_body("send", body)
    validate_message(body, is_new=True)
    [replay, _other] = buttons_of({"components": body["components"]})
    assert (replay["style"], replay["url"]) == (5, link.payload)
    assert "custom_id" not in replay


def test_private_chat_button_is_left_out() -> None:
    row = Button("a", "AB", "", "private"), Button("j", "AB", "", "join"), Button("b", "1tAB:aside", "", "aside")
    panel = Panel((Span("x"),), (row,))
    assert [button["label"] for button in buttons_of(components.message_body(panel, PLACES[0]))] == ["b"]


SCENE = Scene(deck=DECKS[0], sides=(Side("Anna", "0"), Side("Bruno", "0")), target="21")


@given(
    st.text(min_size=1, max_size=3000),
    st.text(min_size=1, max_size=2000),
    st.lists(st.integers(1, 13), max_size=7).filter(lambda rows: sum(rows) <= components.MAX_WITH_PICTURE),
    st.sampled_from(PLACES),
)
def test_discord_accepts_any_picture(text: str, alt: str, rows: list[int], place: str) -> None:
    buttons = tuple(tuple(Button("x" * 80, "1pa") for _ in range(row)) for row in rows)
    panel = Panel((Span(text),), buttons, Picture(SCENE, alt))
    assert components.has_room_for_picture(panel)
    body = components.message_body(panel, place, {"id": "0", "filename": f"{SCENE.digest}.png"})
    validate_body("send", body)
    validate_message(body, is_new=True)
    validate_media(body["components"], [f"{SCENE.digest}.png"])
    body_without_picture = components.message_body(panel, place)
    assert body_without_picture["attachments"] == []
    validate_media(body_without_picture["components"], [])


def test_too_many_buttons_leave_no_room_for_a_picture() -> None:
    row = tuple(Button("a", "1pa") for _ in range(components.MAX_WITH_PICTURE + 1))
    assert not components.has_room_for_picture(Panel((Span("x"),), (row,), Picture(SCENE, "x")))
