"""Rankings of judges by agreement with people, and the size of the differences."""
