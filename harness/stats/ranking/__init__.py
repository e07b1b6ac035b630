"""Orders of judges and of systems."""
