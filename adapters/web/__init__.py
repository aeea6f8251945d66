"""The table in the browser, file by file; so far, how a reader's own browser checks a shuffle."""
