"""Panickssery, Bowman & Feng (2024), LLM evaluators recognize and favor their own generations (arXiv 2404.13076)."""
