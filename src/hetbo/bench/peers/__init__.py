"""Other tools, driven through the same replications as hetbo's methods.

Each module has `tuner(problem, start, seed)`, which makes a `hetbo.bench.running.tuners.Tuner`.
None is imported before it is asked for by name: Ax and BayBE are optional.
"""
