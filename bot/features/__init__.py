"""The features of the bot, one folder each. None of them imports another."""
