"""Running the bot: logging, the worker with its adapters, and their monitoring."""
