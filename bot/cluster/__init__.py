"""How the workers on one store share its tables, and which one leads."""
