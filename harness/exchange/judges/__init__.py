"""Our judges inside other programs."""
