"""Delivery: sends and edits messages until they show their tables. A message shows a table's state, never an event."""
