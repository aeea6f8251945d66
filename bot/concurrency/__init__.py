"""Background tasks, pauses between retries, and worker processes."""
