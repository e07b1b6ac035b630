"""Does a certificate still hold? Anchors that the judge is asked again, production scores, and tests that may be looked at every day."""
