"""Reports, comparisons, boards and the atlas as self-contained pages: no network, and no markup from elsewhere."""
