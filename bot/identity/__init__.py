"""Identities of people and programs: names, pseudonyms, tokens and adapters' data about them."""
