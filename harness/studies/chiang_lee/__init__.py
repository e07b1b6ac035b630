"""Chiang & Lee (2023), Can large language models be an alternative to human evaluation? (arXiv 2305.01937)."""
