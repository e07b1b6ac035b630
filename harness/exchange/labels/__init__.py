"""Labels: files of other tools become a data folder, and a data folder becomes sheets and tables."""
