"""The API for programs at `/api/v1`: its operations, its server and its description."""
