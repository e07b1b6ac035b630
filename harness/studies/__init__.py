"""Studies, a package for each with all that only it needs: sections, preparation of data, figures, fine-tuning files and commands.

Every study comes in by the entry points of `pyproject.toml`, as one of another package would. Nothing else imports this package.
"""
