"""Errors of matches of groups."""

from bot.tables.errors import TableError


class NoSuchMatch(TableError):
    sentence = "No match with this code: open your own with /match."


class BotNotInGroup(TableError):
    sentence = "Add me to this group first: the match’s score stays here."


class GroupPlaysAlready(TableError):
    sentence = "This group has a match already: finish it first."


class OwnMatch(TableError):
    sentence = "This is your own group’s match: hand the code to another group."


class MatchIsTaken(TableError):
    sentence = "Another group was faster: open your own match with /match."


class MatchIsOver(TableError):
    sentence = "This match is over: open a new one with /match."


class MatchHasBegun(TableError):
    sentence = "The match has begun: nobody can sign up or leave any more."


class NotYourMatch(TableError):
    sentence = "This match is between other groups."


class EnteredForOther(TableError):
    sentence = "You’ve signed up for the other group: leave there first."


class GroupIsFull(TableError):
    sentence = "Your group has {most} players: that’s the most."


class NotInMatch(TableError):
    sentence = "You aren’t in this match: only those who were drawn play."


class NotReady(TableError):
    sentence = "Both groups need {least} players who can meet: wait for more."


class OnlyOrganisers(TableError):
    sentence = "Only the two who opened and accepted the match can do this."


class BeingDrawn(TableError):
    sentence = "The pairs are being drawn: try again in a moment."


class TooManyPresses(TableError):
    sentence = "Others are pressing too: try again in a moment."
