"""The answer that verdicts give, built once and shown by every page and screen in the same words."""
