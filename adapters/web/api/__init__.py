"""The interface for programs, `/api/v1`: what may be asked (`operations`), and its description (`openapi`)."""
