"""The atlas: verdicts on judges by language and quality, from recorded judgments beside people's labels; built once, read without data."""
