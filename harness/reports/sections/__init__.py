"""The sections of a report: what each shows, computed."""
