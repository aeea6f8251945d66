"""Choices of a game and its options, as text, as numbers and in button payloads."""

import pytest

from bot.actions import BadPayload, OfferAction, parse_payload
from bot.handlers import offer_terms as offers
from bot.store import Store
from bot.tables import Room
from bot.tables.challenges import Challenges
from bot.tables.game_choice import Choice, possible_values
from engine import GAMES

SECRET = b"s" * 32
LARGEST = 2**63 - 1


def count_choices(game: str) -> int:
    product = 1
    for values in possible_values(game).values():
        product *= len(values)
    return product


@pytest.mark.parametrize("game", GAMES)
def test_each_choice_has_its_own_number_and_text(game: str) -> None:
    choices = [Choice.from_number(game, number) for number in range(count_choices(game))]
    assert [choice.number for choice in choices] == list(range(count_choices(game)))
    assert [Choice.parse(game, choice.text) for choice in choices] == choices
    assert len({choice.text for choice in choices}) == count_choices(game)
    with pytest.raises(ValueError, match="no choice"):
        Choice.from_number(game, count_choices(game))


@pytest.mark.parametrize("game", GAMES)
def test_every_offer_fits_a_button(game: str) -> None:
    for number in range(count_choices(game)):
        choice = Choice.from_number(game, number)
        payload = offers.encode(offers.new_terms(choice, f"telegram:{LARGEST}"), SECRET)
        assert len(payload) <= 64, f"{choice} needs too many bytes: bot/handlers/offer_terms.py"
        action = parse_payload(payload)
        assert isinstance(action, OfferAction)
        terms = offers.decode(action.terms, "telegram", SECRET)
        assert (terms.choice, terms.person, terms.is_valid) == (choice, f"telegram:{LARGEST}", True)


@pytest.mark.parametrize("game", GAMES)
async def test_table_opens_with_its_choice(store: Store, game: str) -> None:
    challenges = Challenges(Room(store))
    for number in (0, count_choices(game) // 2, count_choices(game) - 1):
        choice = Choice.from_number(game, number)
        table = await challenges.open_table(game, f"p:{number}", "Ada", f"u{number}", setup=choice.setup)
        assert Choice.from_table(table) == choice


@pytest.mark.parametrize("text", ["", "7", "300 target=9", "300 chess", "strict 300", "300 strict x=1"])
def test_invalid_choice_text_gives_the_default(text: str) -> None:
    assert Choice.parse("pizzichino", text) == Choice.default("pizzichino")


def test_offer_with_removed_options_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = offers.encode(offers.new_terms(Choice.default("testa"), "telegram:1"), SECRET)
    monkeypatch.setattr(
        "bot.handlers.offer_terms.possible_values", lambda game: {"clock": (0, 60), "strict": (False, True)}
    )
    with pytest.raises(BadPayload):
        offers.decode(payload.removeprefix("1o"), "telegram", SECRET)


def test_offer_needs_a_numeric_person_id() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        offers.encode(offers.new_terms(Choice.default("testa"), "paper:anna"), SECRET)
