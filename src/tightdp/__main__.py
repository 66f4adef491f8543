"""`python -m tightdp`."""

import sys

from tightdp.cli import main

if __name__ == "__main__":
    sys.exit(main())
