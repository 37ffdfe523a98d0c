"""Methods of other papers as surrogates of a recipe, built from public names of hetbo alone.

Where spaces differ they are adapted in the plainest way: a source's model uses the parameters that
the source tuned, and a parameter that the target lacks stands at its centre. Values are
standardised per experiment. A source of more trials than an exact Gaussian process can take is
thinned at random.
"""

__all__ = ["ablr", "base", "gps", "hierarchical", "rgpe", "scaml", "tst"]
