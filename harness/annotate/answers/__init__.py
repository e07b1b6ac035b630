"""Results of labelling pages become labels."""
