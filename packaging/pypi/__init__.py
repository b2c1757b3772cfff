"""Carries the program `quire`, a self-hosted document retrieval service."""

import os
import sysconfig


def program():
    """Path of the executable that this package installed."""
    # The environment's own scripts, or the user's where it was installed with `pip install --user`.
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    for folder in folders:
        path = os.path.join(folder, "quire")
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"quire is neither in {' nor in '.join(folders)}: install quire-server again")
