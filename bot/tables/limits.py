"""Limits of tables, challenges and blocks."""

# Tables and chats
MAX_TABLES = 20  # tables where one person can sit at a time
MAX_TABLES_OF_GUEST = 5  # tables where one guest of the web pages can sit at a time
# Unfinished tables that guests can open from one address: two each for a school class. The network around it can have
# `bot.http.addresses.NETWORK_FACTOR` times as many.
MAX_FROM_ADDRESS = 60
# Tables that one update can open in a day, one after the other. The limit is low, because finding the last table reads
# all tables before it.
MAX_OF_UPDATE = 24
MAX_CHALLENGES = 20  # challenges that can wait in one chat
HOURS_TO_ACCEPT = 24  # lifetime of an open challenge or offer
MAX_HOSTS = 8  # chats that can show one table

# Limits of entries in a challenge's log, so that people cannot repeat actions forever
MAX_CHANGES = 300  # number after which the game, options and clock can no longer change
MAX_ENTRIES = 600  # number after which people can give back a chair, but not take one

# People
MAX_BLOCKS = 100  # blocks per person
MAX_REFUSALS = 3  # refusals of partners by the first player of a side (docs/rules.md, tavolo)
PHRASES_PER_DEAL = 3  # phrases that each player can say in a deal
