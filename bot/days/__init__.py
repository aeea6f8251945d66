"""Things that happen once a day: draws, messages at chosen hours, and marks of used turns."""
