"""Backups of a whole store, taken while the bot runs, and their restoration."""
