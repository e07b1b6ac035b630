"""Sealed labels: the labels of a board, encrypted beside it, so that nobody without a key can read them or train on them.

Encryption needs the extra `sealed` (the package `pyrage`). The rest of the program imports only what stands here.
"""

from harness.boards.sealed.opening import add_sealed_labels, unseal
from harness.boards.sealed.sealing import SealingReport, files_without_canary, open_labels, rotate, seal

__all__ = ["SealingReport", "add_sealed_labels", "files_without_canary", "open_labels", "rotate", "seal", "unseal"]
