"""Tools for authors of content: `check` finds faults, `scaffold` writes skeletons, `lock` records versions and hashes."""
