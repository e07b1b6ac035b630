"""Pages to label on, and a small local server for them."""
