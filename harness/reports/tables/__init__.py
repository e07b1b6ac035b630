"""Tables of results: columns and their formats, the registry of columns, and tables of text that every format sets."""
