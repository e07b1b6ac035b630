"""Prompts: authored in guidance, rendered once to frames, filled with items."""

from harness.prompts.frames import Frame, Frames
from harness.prompts.question import Question, present_texts
from harness.prompts.shots import Example, Shots
from harness.prompts.wording import Wording, english, is_english, own

__all__ = ["Example", "Frame", "Frames", "Question", "Shots", "Wording", "english", "is_english", "own", "present_texts"]
