"""The playground: our own chat platform on a web page, to try the bot without a token."""
