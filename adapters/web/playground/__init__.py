"""The playground: a chat platform of our own, on one web page, to try the bot without a token, alone or in company."""

from adapters.web.playground.adapter import Playground

__all__ = ["Playground"]
