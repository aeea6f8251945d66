"""Delivery: until chat and table agree, send and edit. Messages are projections of tables, never events."""
