"""Orders of judges: who agrees with people more, and by how much."""
