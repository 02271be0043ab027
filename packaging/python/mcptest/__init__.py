"""A test tool for Model Context Protocol servers: where its program is."""

import os
import sys
import sysconfig

__all__ = ["binary"]


def binary() -> str:
    """Return the path of the mcptest program: MCPTEST_BINARY, or the one that this package installed."""
    if path := os.environ.get("MCPTEST_BINARY"):
        return path
    name = "mcptest" + (sysconfig.get_config_var("EXE") or "")
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
        # pip install --target
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),
        os.path.dirname(sys.executable),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"the program {name} is in none of {', '.join(folders)}")
