"""Choosing a better judge or setting on some labels, and confirming the choice on others, once."""
