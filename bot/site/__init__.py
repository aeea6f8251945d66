"""Tables and finished games for the site's pages and its API."""
