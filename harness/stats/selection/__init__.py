"""Choosing among judges and settings, and confirming the choice on labels that did not choose."""
