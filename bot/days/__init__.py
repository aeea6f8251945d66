"""What happens once a day: draws, messages at chosen hours, and marks of who has had a turn."""
