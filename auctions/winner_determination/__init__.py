"""Winner determination: who gets what, so that it is worth the most."""
