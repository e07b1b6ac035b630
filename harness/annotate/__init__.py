"""Labelling by people in a browser: pages, results and checks."""
