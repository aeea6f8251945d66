"""`buongioco play`: a game in the terminal against robots."""

import secrets
from random import Random
from typing import Annotated

import typer

from bot.cli.arguments import GameId, Language, MoreRules, Rules, options_of, robots_of
from bot.cli.output import say
from bot.texts import error_text, texts
from bot.words.wording import Wording
from engine import Game, GameKind, View, game_kind
from engine.errors import EngineError
from engine.games import default_game
from engine.options import Value
from engine.robots import ROBOTS, Robot, act, make_robot
from engine.views import DealView, PacketsView, SpadesView, StockView, TressetteView

YOU = 0
FIRST_GAME = default_game("terminal")


def play(
    game: GameId = FIRST_GAME,
    rules: Rules = None,
    more: MoreRules = None,
    robot: Annotated[str, typer.Option(help=" or ".join(ROBOTS))] = "random",
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
) -> None:
    """Play a game here in the terminal against a robot."""
    kind = game_kind(game)
    TerminalTable(kind, options_of(kind, rules, more), robots_of(kind, robot)[0], lang.value).run()


class TerminalTable:
    """A table with the person in seat 0 and robots in the others."""

    def __init__(self, kind: GameKind, rules: dict[str, Value], level: str, language: str) -> None:
        _ = texts(language).gettext
        # Compass names, because sentences are in the third person: "South takes the trick".
        names = [_("South"), _("North")] if kind.seats == 2 else [_("South"), _("East"), _("North"), _("West")]
        self.words = Wording(language, names)
        self.language = language
        self.game = Game(kind.id, rules, names)
        self.robots: dict[int, Robot] = {
            seat: make_robot(level, Random(secrets.randbits(64))) for seat in range(1, kind.seats)
        }
        self.shown_moves = 0
        self.quit = False

    def run(self) -> None:
        """Play until the game is over or the person leaves."""
        _ = self.words.text
        say(_("You are {name}.").format(name=self.words.names[YOU]))
        say(_("Type a move’s number or the move itself; ? shows the table again, q leaves."))
        while not self.game.is_over and not self.quit:
            if self.game.needs_deal:
                self.game.deal(secrets.token_bytes(32))
                self.shown_moves = 0
                view = self.game.view(None)
                say()
                say(_("Deal {number}").format(number=view.deal_number), bold=True)
                say(_("Seal of the shuffle: {commitment}").format(commitment=view.commitment))
            elif not self._move_robot():
                self._ask_move()
            self._say_news()
        if self.game.winner is not None:
            won = YOU in self.game.winner
            say(_("You win!") if won else _("You lose."), bold=True)

    def _move_robot(self) -> bool:
        """Let one robot move, even out of turn. Return False if none moves, because it is the person's turn."""
        for seat, player in self.robots.items():
            out_of_turn = seat != self.game.turn and any(m.startswith("declare") for m in self.game.legal_moves(seat))
            if (seat == self.game.turn or out_of_turn) and act(self.game, seat, player):
                return True
        return False

    def _say_news(self) -> None:
        """Print what happened since the last call."""
        _ = self.words.text
        history = self.game.history(YOU)
        view = self.game.view(YOU)
        for seat, move in history[self.shown_moves :]:
            if seat != YOU:
                say(f"  {self.words.move(seat, move)}")
        has_news = len(history) > self.shown_moves
        self.shown_moves = len(history)
        if has_news and view.deal and view.deal.last_trick and not view.deal.trick:
            self._say_trick(view.deal, view.deal.last_trick.winner)
        if (self.game.needs_deal or self.game.is_over) and view.result:
            for line in self.words.score(view.result.entries, view.totals, view.rules):
                say(f"  {line}")
            say(_("  The secret was {secret}").format(secret=view.result.secret))

    def _say_trick(self, deal: DealView, winner: int) -> None:
        _ = self.words.text
        if self.game.moves[-1][1].startswith("play "):
            say(_("  {name} takes the trick").format(name=self.words.names[winner]))
            for seat, card, _signal in deal.drawn if isinstance(deal, StockView) else ():
                say(_("  {name} draws {card}").format(name=self.words.names[seat], card=card))

    def _show(self, view: View) -> None:
        labels = self.words.labels
        deal = view.deal
        if deal is None:
            return
        say()
        if isinstance(deal, PacketsView):
            for seat in (1, YOU):
                packets = [packet for packet in deal.packets if packet.owner == seat]
                shown = [packet for packet in packets if packet.place in ("table", "taken")]
                line = "  ".join(f"{packet.number}:{packet.top or '??'}({packet.left})" for packet in shown)
                say(f"{self.words.names[seat]:>8}  {line}")
        for seat, known_cards in enumerate(deal.known):
            if known_cards and seat != YOU:
                say(f"{labels['shown']:>8}  {self.words.names[seat]} {' '.join(known_cards)}")
        if isinstance(deal, StockView) and deal.stock:
            say(f"{labels['stock']:>8}  {deal.stock}")
        if isinstance(deal, TressetteView) and any(deal.declared):
            say(f"{labels['declared']:>8}  {self.words.points(deal.declared, view.rules)}")
        if isinstance(deal, SpadesView):
            bids = ["–" if bid is None else str(bid) for bid in deal.bids]
            say(f"{labels['bids']:>8}  {self.words.names[0]} {bids[0]} · {self.words.names[1]} {bids[1]}")
        if deal.trick:
            trick = "  ".join(f"{self.words.names[seat]} {card}" for seat, card, _s in deal.trick)
            say(f"{labels['trick']:>8}  {trick}")
        say(f"{labels['tricks']:>8}  {self.words.sides(deal.tricks)}")
        if isinstance(deal, SpadesView) and deal.drawn:
            say(f"{labels['drawn']:>8}  {deal.drawn}")
        say(f"{labels['hand']:>8}  {' '.join(deal.hand or ())}", bold=True)

    def _ask_move(self) -> None:
        view = self.game.view(YOU)
        self._show(view)
        numbered_moves = self._show_moves(view)
        try:
            answer = input("> ").strip()
        except EOFError:
            self.quit = True
            return
        if answer in ("q", "quit", "?", ""):
            self.quit = answer.startswith("q")
            return
        try:
            self.game.play(YOU, self._parse_answer(answer, numbered_moves, view))
        except EngineError as error:
            say(error_text(error, self.language), fg="red")

    def _show_moves(self, view: View) -> list[str]:
        """Print the legal moves, and return the numbered ones."""
        _ = self.words.text
        phase = view.deal.phase if view.deal else ""
        if phase == "take":
            say(_("Which four of the packets 1 to 8? Such as: 1 3 5 8"))
            return []
        if phase == "exchange":
            say(_("Up to three cards to exchange? Such as: exchange 2H 3D, or just: exchange"))
            return []
        plain = [move for move in view.moves if move != "resign" and not move.endswith((" busso", " volo"))]
        if len(plain) < len(view.moves) - 1:
            say(_("You lead, and can add busso or volo: play 3D busso"))
        say("  ".join(f"{number}) {move.removeprefix('play ')}" for number, move in enumerate(plain, 1)))
        return plain

    def _parse_answer(self, answer: str, numbered_moves: list[str], view: View) -> str:
        """Return the move for an answer: a move's number, a card, numbers of packets, or a move in notation."""
        if view.deal and view.deal.phase == "take" and answer[0].isdecimal():
            return f"take {' '.join(sorted(answer.replace(',', ' ').split()))}"
        if answer.isdecimal() and 0 < int(answer) <= len(numbered_moves):
            return numbered_moves[int(answer) - 1]
        words = answer.split()
        if words[0].upper() in self.game.kind.pack.index:
            words = ["play", words[0].upper(), *words[1:]]
        return " ".join(words)
