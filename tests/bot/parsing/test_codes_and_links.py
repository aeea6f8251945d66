"""Codes are found in pasted text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing.codes_and_links import Pasted, pasted_code, read_pasted
from bot.store import Store
from bot.tables.codes import CODE_LENGTH, CODE_LETTERS, WATCH_LENGTH
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker

TABLE = Pasted("table", "K7QF2M")
JOINING = Pasted("table", "K7QF2M", joins=True)
WATCH = Pasted("watch", "K7QF2M-ABCDEFGHJKMN")
GAME = Pasted("game", "K7QF2M-0a1b2c3d")

CASES = {
    "K7QF2M": TABLE,
    "K7QF2M.": TABLE,
    "(K7QF2M)": TABLE,
    "#K7QF2M": TABLE,
    "k7qf2m": TABLE,
    " \n k7qf2m \t": TABLE,
    "K7Q F2M": TABLE,
    "K7Q\nF2M": TABLE,
    "K7QF\u200b2M": TABLE,
    "Ｋ７ＱＦ２Ｍ": TABLE,
    "`K7QF2M`": TABLE,
    "**K7QF2M**": TABLE,
    "“K7QF2M”,": TABLE,
    "<K7QF2M>": TABLE,
    "ABCD": Pasted("table", "ABCD"),
    # Commands, in each language
    "/join K7QF2M": TABLE,
    "/join@buongioco_bot k7qf2m": TABLE,
    "/entra (K7QF2M)": TABLE,
    "join K7QF2M please": TABLE,
    "/join ABCD please": Pasted("table", "ABCD"),
    "/join code: K7QF2M": TABLE,
    "/start join-K7QF2M": JOINING,
    "join-K7QF2M.": JOINING,
    "/join /join k7qf2m": TABLE,
    "/join /entra@buongioco_bot abcdef": Pasted("table", "ABCDEF"),
    "/join": None,
    "/join …": None,
    # Links to the bot's pages
    "https://cards.example.org/t/K7QF2M": TABLE,
    "https://cards.example.org/t/k7qf2m?fbclid=1": TABLE,
    "https://cards.example.org/t/K7QF2M/": TABLE,
    "<https://cards.example.org/t/K7QF2M>": TABLE,
    "[Sit down](https://cards.example.org/t/K7QF2M).": TABLE,
    "cards.example.org/t/K7QF2M#now": TABLE,
    "https://l.facebook.com/l.php?u=https%3A%2F%2Fcards.example.org%2Ft%2FK7QF2M%3Ffbclid%3D1": TABLE,
    "http://127.0.0.1:8931/chat#join=K7QF2M": JOINING,
    "https://cards.example.org/t/K7QF2M-ABCDEFGHJKMN)": WATCH,
    "k7qf2m-abcdefghjkmn": WATCH,
    "https://cards.example.org/g/K7QF2M-0a1b2c3d?utm_source=x#3": GAME,
    "K7QF2M-0A1B2C3D": GAME,
    # Links to the bot
    "https://t.me/buongioco_bot?start=join-K7QF2M": JOINING,
    "t.me/buongioco_bot?startgroup=join-K7QF2M": JOINING,
    "tg://resolve?domain=buongioco_bot&start=join-k7qf2m": JOINING,
    "https://t.me/buongioco_bot?start=K7QF2M": TABLE,
    # Whole messages
    "Anna invites you to play Metà Mazzo.\nWrite me /join K7QF2M to sit down": TABLE,
    "Anna ti invita a giocare a Metà Mazzo.\nPer sederti scrivimi /entra K7QF2M": TABLE,
    "my code is k7qf2m": TABLE,
    "Come to K7QF2M, many thanks": TABLE,
    # Texts without a code
    "": None,
    "…": None,
    "hello world": None,
    "https://example.org/some/page": None,
    "https://t.me/buongioco_bot?start=page": None,
    "see you at the bar": None,
}


@pytest.mark.parametrize("text", CASES)
def test_pasted_text_is_parsed(text: str) -> None:
    assert read_pasted(text) == CASES[text]


CODES = st.text(CODE_LETTERS, min_size=CODE_LENGTH, max_size=CODE_LENGTH)
WATCH_LETTERS = st.text(CODE_LETTERS, min_size=WATCH_LENGTH, max_size=WATCH_LENGTH)
PUNCTUATION = st.text(st.sampled_from(" \n\t.,;:!?()[]<>{}«»“”\"'`*_#…•\u200b\u2060\ufeff"), max_size=6)


@given(code=CODES, before=PUNCTUATION, after=PUNCTUATION, is_lower_case=st.booleans())
def test_punctuation_around_a_code_is_ignored(code: str, before: str, after: str, is_lower_case: bool) -> None:
    text = f"{before}{code.lower() if is_lower_case else code}{after}"
    assert pasted_code(text) == code
    assert pasted_code(f"/join {text}") == code


@given(
    code=CODES,
    letters=WATCH_LETTERS,
    after=st.sampled_from(["", "?fbclid=1", "#x", ")", ">", ".", "/", "?a=b&c=d#e", " !"]),
)
def test_text_after_a_link_is_ignored(code: str, letters: str, after: str) -> None:
    host = "https://cards.example.org"
    assert read_pasted(f"{host}/t/{code}{after}") == Pasted("table", code)
    assert read_pasted(f"{host}/t/{code}-{letters}{after}") == Pasted("watch", f"{code}-{letters}")
    assert read_pasted(f"{host}/g/{code}-0a1b{after}") == Pasted("game", f"{code}-0a1b")
    assert read_pasted(f"t.me/bot?start=join-{code}{after}") == Pasted("table", code, joins=True)


@given(st.text(max_size=300))
def test_any_text_can_be_parsed(text: str) -> None:
    pasted = read_pasted(text)
    if pasted:
        assert read_pasted(pasted.id) == pasted._replace(joins=False)


@pytest.mark.parametrize(
    "template",
    ["{code}.", "({code})", "#{code}", "<https://cards.example.org/t/{code}>", "https://t.me/b?start=join-{code}"],
)
async def test_commands_accept_pasted_codes(store: Store, template: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
        await anna.say("/challenge testa")
        code = await code_of(worker, anna)
        pasted = template.format(code=code.lower())
        assert (await anna.say(f"/invite {pasted}")).panel
        assert (await bruno.say(f"/join {pasted}", bruno.private)).toast == f"You’re at table {code}."
        fake.messages[bruno.private].clear()
        await bruno.say(f"/hand {pasted}", bruno.private)
        assert bruno.moves() or fake.messages[bruno.private]
        await bruno.say(f"/resign {pasted}", bruno.private)
        await bruno.press("Yes, I resign")
        assert not await worker.room.lists.tables_of(bruno.person.id)


async def test_start_with_a_pasted_link_seats_the_person(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = (Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1))
        await anna.say("/challenge testa", GROUP)
        code = await code_of(worker, anna)
        await bruno.say(f"/start (join-{code})", bruno.private)
        assert await code_of(worker, bruno) == code
