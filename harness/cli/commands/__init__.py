"""The commands and their flags, in modules that import little, because the help of a command imports its module."""
