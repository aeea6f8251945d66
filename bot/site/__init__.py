"""What the pages of the site and its API show of tables and finished games."""
