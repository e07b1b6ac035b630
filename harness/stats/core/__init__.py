"""What all statistics share: arrays, rows, counts, resamples."""
