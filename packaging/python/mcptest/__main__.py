"""python -m mcptest runs the mcptest program."""

import os
import subprocess
import sys

from mcptest import binary


def main() -> None:
    args = [binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(args[0], args)
    sys.exit(subprocess.run(args).returncode)


if __name__ == "__main__":
    main()
