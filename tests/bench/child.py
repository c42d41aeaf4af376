"""`python -m tests.bench.child MODULE ARGUMENT …`: calls `serve` of a module under its own name."""

import sys
from importlib import import_module

if __name__ == "__main__":
    import_module(sys.argv[1]).serve(*sys.argv[2:])
