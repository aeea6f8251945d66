"""Backups: a whole store in a file, taken beside a running bot, and a store from such a file."""
