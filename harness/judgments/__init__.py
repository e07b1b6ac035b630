"""What replies say, as judgments: read from the store (`derive`), kept as a file, read back as columns (`file`)."""

from harness.judgments.derive import derive, failures, look_at, read
from harness.judgments.file import JudgmentWriter, read_columns_at, read_judgments

__all__ = ["JudgmentWriter", "derive", "failures", "look_at", "read", "read_columns_at", "read_judgments"]
