"""The command line, as ``python -m onceproof.spark_checks.cli``."""

from onceproof.spark_checks.cli import main

if __name__ == "__main__":
    main()
