"""Pictures of what is on the table."""
