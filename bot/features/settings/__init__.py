"""Settings of people and groups, their browsers and their programs."""
