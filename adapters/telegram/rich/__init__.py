"""Rich messages (Bot API 10.2): panels' documents with headings, tables and details."""
