"""Refusals of a table, in words for the person who asked. The engine has its own errors for illegal moves."""

from engine.errors import EngineError


class TableError(EngineError):
    """The table refused an action and has not changed."""


class NoSuchTable(TableError):
    sentence = "There’s no table {code} any more: open another one."


class SetAside(TableError):
    """The rules of this version refuse the table's log. `buongioco tables` shows the host more."""

    sentence = "I can’t open table {code} any more: tell the bot’s host."


class TooManyTables(TableError):
    sentence = "You’re at {most} tables already: finish a game first."


class TooManyFromAddress(TableError):
    sentence = "Guests on your network have too many open tables: finish a game first."


class NoNewTables(TableError):
    """No table can be opened now, because of the host's maintenance or for lack of memory. Running games go on."""

    sentence = "No new tables for now: try again later (running games go on)."


class StoreFull(NoNewTables):
    sentence = "There’s no room for new tables right now: tell the bot’s host (running games go on)."


class NoNewTablesBecause(NoNewTables):
    """The host's maintenance, with the host's text."""

    sentence = "No new tables for now (running games go on): {text}"


class Banned(TableError):
    """The host has banned this person."""

    sentence = "You’re banned from this bot: ask {contact}."


class BannedUntil(Banned):
    sentence = "You’re banned from this bot until {day}: ask {contact}."


class TooManyChallenges(TableError):
    sentence = "This chat already has {most} open challenges: accept one or cancel one."


class TooManyChanges(TableError):
    sentence = "This challenge was changed too often: open another with /challenge."


class OpenedTooOften(TableError):
    sentence = "This was restarted too often today: open a new table."


class NotAtThisTable(TableError):
    sentence = "You have no seat at table {code}: /tables shows your tables."


class OldPanel(TableError):
    """The table has changed since the pressed panel was drawn."""

    sentence = "This button has expired: use the latest message."


class AlreadySeated(TableError):
    sentence = "You already have a seat at this table: wait for the others."


class OpenerIsSeated(AlreadySeated):
    sentence = "You already have a seat here: wait for the others, or add a robot."


class NoChairForYou(TableError):
    """The opener has blocked this person, or at a listed table any player has. The person must not learn it."""

    sentence = "I can’t seat you at this table: open your own with /challenge."


class ChairTaken(TableError):
    sentence = "{name} already has that seat: choose another."


class NoSuchChair(TableError):
    sentence = "This table doesn’t have that seat: choose another."


class TableIsFull(TableError):
    sentence = "All seats at this table are taken: open your own with /challenge."


class OthersAreSeated(TableError):
    sentence = "Others are already seated here: for that game, open another table with /challenge."


class LastSeatAsked(TableError):
    sentence = "Someone has asked for the last seat: wait until they get an answer."


class AlreadyPlaying(TableError):
    sentence = "Too late: the game has already started."


class NotYoursToCut(TableError):
    sentence = "An opponent of the dealer cuts: wait for the cards."


class NotPlaying(TableError):
    sentence = "The game hasn’t started yet: wait for your cards."


class OnlyTheChallenger(TableError):
    sentence = "Only the player who opened the table can change that: ask {name}."


class NotInvited(TableError):
    sentence = "This challenge is for {name}: open your own with /challenge."


class AlreadyAsking(TableError):
    sentence = "You’ve already asked for a seat: wait for the answer."


class NobodyAsks(TableError):
    sentence = "The seat is free again: wait for another player."


class NotYoursToDecide(TableError):
    sentence = "You can’t decide that at this table."


class WaitToLook(TableError):
    sentence = "You left games I found for you: search again in {minutes} min."


class TooManyPhrases(TableError):
    sentence = "You’ve already said {most} things in this deal: play on."


class TimeIsNotUp(TableError):
    sentence = "There’s still time for this move: wait a little."


class NoSuchClock(TableError):
    sentence = "I don’t offer that clock: choose another."


class TooManyChats(TableError):
    sentence = "This table is in too many chats already: play from one of them."


class DidNotPlay(TableError):
    sentence = "You didn’t play this game: start your own with /challenge."


class GameNotKept(TableError):
    sentence = "This game is no longer in the archive: start a new one."


class NotBegun(TableError):
    sentence = "The game at table {code} hasn’t started yet: your cards come when it does."


class NoTables(TableError):
    sentence = "You have no game running: start one with /challenge."
