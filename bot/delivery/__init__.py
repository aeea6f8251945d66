"""Delivery: messages are sent and edited until they show their tables. They are projections of tables, never events."""
