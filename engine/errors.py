"""Errors of the engine. Each has an English sentence for the player."""

from typing import ClassVar


def quote(value: object, longest: int = 60) -> str:
    """Return text for quotation in an error: shortened, and without characters that control a terminal or chat."""
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(value)[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


class EngineError(Exception):
    """Base of the engine's errors. ``sentence`` is the English template that ``values`` fill in."""

    sentence: ClassVar[str] = "Something is wrong."

    def __init__(self, **values: object) -> None:
        self.values = values
        super().__init__(self.sentence.format(**values))


class UnknownGame(EngineError):
    sentence = "There is no game called {game!r}; there are: {games}."


class BadRules(EngineError):
    """An unknown option, or a value that this game does not allow."""

    sentence = "{problem}"


class BadDeal(EngineError):
    """A secret or pack that cannot be dealt, or a deal at the wrong time."""

    sentence = "{problem}"


class BadRecord(EngineError):
    """Text that is not a well-formed record; ``path`` is the path of the faulty key."""

    sentence = "{path}: {problem}"


class FaultyRecord(EngineError):
    """A well-formed record of an impossible game. ``deal`` and ``move`` count from 1; 0 means none."""

    sentence = "{where}: {problem}"

    def __init__(self, problem: str, deal: int = 0, move: int = 0) -> None:
        self.problem, self.deal, self.move = problem, deal, move
        where = [f"deal {deal}"] * (deal > 0) + [f"move {move}"] * (move > 0)
        super().__init__(where=", ".join(where) or "the game", problem=problem)


class IllegalMove(EngineError):
    """A move that the rules refuse. The game has not changed."""


class UnknownSeat(IllegalMove):
    sentence = "This table has no seat {seat}."


class UnknownMove(IllegalMove):
    sentence = "{move!r} isn’t a move in this game."


class GameIsOver(IllegalMove):
    sentence = "This game is over: start a new one."


class NoDeal(IllegalMove):
    sentence = "The cards haven’t been dealt yet: wait a moment."


class NotYourTurn(IllegalMove):
    sentence = "It’s not your turn yet."


class NotNow(IllegalMove):
    """The move belongs to another phase of the deal."""

    sentence = "You can’t do that now: choose another move."


class NotInHand(IllegalMove):
    """``suits`` has the letters of the pack's suits, as in every error that names a card."""

    sentence = "You don’t have the {card}: choose another card."


class MustFollow(IllegalMove):
    sentence = "You must follow suit: play {suit}."


class SpadesNotBroken(IllegalMove):
    sentence = "No spade has been played yet: lead another suit."


class NoSignals(IllegalMove):
    sentence = "There’s no busso or volo at this table: just play your card."


class SignalsAreForLeaders(IllegalMove):
    sentence = "Only the player who leads can say busso or volo: just play your card."


class NotYourPacket(IllegalMove):
    sentence = "Packet {packet} isn’t yours: choose one of your own."


class PacketEmpty(IllegalMove):
    sentence = "Packet {packet} is empty: choose another."


class NotAnHonour(IllegalMove):
    sentence = "You can pick up only a 3, a 2 or an ace, and packet {packet} shows the {card}."


class NoDeclarations(IllegalMove):
    sentence = "There are no declarations at this table: just play your card."


class NoCombination(IllegalMove):
    sentence = "You don’t have that combination: check your cards."


class DeclareTheFour(IllegalMove):
    sentence = "You have all four: declare the four."


class AlreadyDeclared(IllegalMove):
    sentence = "You’ve already scored that rank or suit in this deal: play on."


class WindowPassed(IllegalMove):
    sentence = "It’s too late to declare that: play on."


class WindowNotOpen(IllegalMove):
    sentence = "It’s too early to declare: wait until the first trick is over."


class NoClaims(IllegalMove):
    sentence = "You can’t claim the game at this table: play on."


class ClaimRefused(IllegalMove):
    """A wrong claim. It costs nothing, and only the claiming player sees this error."""

    sentence = "Your side hasn’t reached the target yet: play on (only you see this)."


class ClaimNeedsLead(ClaimRefused):
    """A claim in a tie-break deal by a side that is not ahead."""

    sentence = "This deal breaks a tie: claim once your side is ahead (only you see this)."


class NotForChanceToGive(IllegalMove):
    sentence = "{owed} different cards must come from the discards."


class AlreadyBlind(IllegalMove):
    sentence = "You’ve already declared double nil: play on."


class TooLateForBlind(IllegalMove):
    sentence = "It’s too late for double nil: you can declare it only before your first draw."


class AlreadyBid(IllegalMove):
    sentence = "You’ve already made your bid: play on."
