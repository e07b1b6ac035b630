"""The sections of a report, computed."""
