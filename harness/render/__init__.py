"""Screens, pages and files for people."""
