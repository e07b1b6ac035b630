"""The answer: a report of a run or of a comparison, put together from its sections."""
