"""Pages: panels that belong to no table. A press on a page replaces it with another."""

from bot import actions
from bot.commands import FAIR, listed_commands
from bot.finished.game import FinishedGame
from bot.panel import Button, Panel, Row, Span, Writer
from bot.panels.offer import share_button
from bot.texts import texts
from bot.words.phrases import fixture_line, option_lines
from bot.words.transcript import story
from bot.words.wording import Wording, faces_of


def replay_page(game: FinishedGame, deal: int, language: str, suits: str) -> Panel:
    faces = faces_of(game.record.kind, suits)
    page, words = Writer(), Wording(language, (), faces)
    options = " · ".join(option_lines(words, game.record.kind, game.record.rules))
    if game.fixture_name:
        page.line(fixture_line(words, game.fixture_name))
    for number, (line, _trick_over) in enumerate(story(game.record, deal, language, faces, options)):
        if line:
            page.line(line, "" if number else "bold")
        else:
            page.gap()
    return page.panel(_other_deals(game, deal, "replay"))


def fair_page(game: FinishedGame, deal: int, language: str) -> Panel:
    """Return the proof of a deal's shuffle in a finished game."""
    _ = texts(language).gettext
    page, proof = Writer(), game.record.deals[deal - 1].proof
    page.line(_("Is it fair?"), "bold")
    page.line(_("{game} · {code} · deal {deal}"), game=_(game.record.kind.name), code=game.code, deal=deal)
    page.gap()
    if proof is None:
        page.line(_("These cards were laid out by hand."))
        return page.panel(_other_deals(game, deal, "fair"))
    page.line(_("Seal, shown before the first card:"))
    page.line("{seal}", seal=Span(proof.commitment, "code"))
    page.line(_("Secret, shown after the deal:"))
    page.line("{secret}", secret=Span(proof.secret, "code"))
    page.gap()
    page.line(_("The secret's SHA-256 must be the seal, and the pack follows from the secret alone."))
    return page.panel(_other_deals(game, deal, "fair"), (Button(_("How it works"), actions.page("rules", FAIR)),))


def _other_deals(game: FinishedGame, deal: int, page: str) -> Row:
    """Return buttons for the same page of the deals before and after."""
    deals = len(game.record.deals)
    around = [(f"◀ {deal - 1}", deal - 1), (f"{deal}/{deals}", deal), (f"{deal + 1} ▶", deal + 1)]
    row = tuple(Button(label, actions.page(page, game.id, number)) for label, number in around if 1 <= number <= deals)
    return row if deals > 1 else ()


def help_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Buongioco: Italian cards among friends"), "bold")
    page.line(
        _(
            "Write /challenge in a group: whoever presses Accept plays with you. Your cards come in the private chat "
            "with me: press one to play it. If nobody is there, press a robot on the challenge, or write me /find."
        )
    )
    page.line(_("In pictures the cards that you may not play just now are dimmed."))
    page.gap()
    for spec in listed_commands():
        has_signs = any(argument.in_help for argument in spec.arguments)
        page.line(f"/{spec.name_in(language)}{' ' if has_signs else ': '}{spec.help_line(language)}")
    return page.panel((Button(_("Rules"), actions.page("rules")), share_button(language)))
