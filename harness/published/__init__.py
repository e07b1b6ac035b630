"""Published label sets: fetched at a pinned commit, checked, and converted to data folders by pure functions."""
