"""Functions to optimise, with past experiments in other spaces."""
