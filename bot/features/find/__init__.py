"""The search for opponents: queue, matching and ready checks."""
