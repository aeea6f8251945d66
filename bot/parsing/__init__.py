"""Parsing of what people write: codes, links, games and mentions."""
