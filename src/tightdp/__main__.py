"""`python -m tightdp`."""

import sys

if __name__ == "__main__":
    try:
        from tightdp.cli import main

        status = main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before anything was known\n")
        status = 130
    sys.exit(status)
