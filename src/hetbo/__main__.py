"""`python -m hetbo`: the command line."""

from hetbo.cli.main import run

if __name__ == "__main__":
    run()
