"""Attacks on hetbo, for as long as one likes: `script/soak`."""
