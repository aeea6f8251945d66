"""HTTP servers and clients: connections, addresses and proxies."""
