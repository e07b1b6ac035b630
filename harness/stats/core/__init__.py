"""Common parts of all statistics: arrays, rows, counts, resamples."""
