"""Entry of `make bench`: the measurements that exist, and in words those that do not yet."""

import sys


def main() -> int:
    """Say what can be measured; nothing yet, so this refuses instead of printing a number."""
    print(
        "There is no benchmark yet. Planned: steps per second of the walker, sends per second of\n"
        "the delivery, pages per second of the console, each beside a peer on the same machine."
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
