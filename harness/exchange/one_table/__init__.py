"""One table with people's and judges' scores: what its columns hold, and the data set that it makes."""
