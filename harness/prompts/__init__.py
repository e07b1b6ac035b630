"""Prompts: authored in guidance, rendered once to frames, filled with items."""

from harness.prompts.frames import Frame, Frames
from harness.prompts.question import Question, present_texts

__all__ = ["Frame", "Frames", "Question", "present_texts"]
