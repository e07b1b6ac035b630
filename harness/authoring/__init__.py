"""Tools for authors of content: `check` finds what is wrong, `scaffold` writes skeletons, `lock` records versions and hashes."""
