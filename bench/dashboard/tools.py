"""The npm programs that judge pages, installed once into target/, at versions whose results can be compared."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("QUIRE_TOOLS", ROOT / "target" / "page-tools"))
VERSIONS = {"lighthouse": "12.8.2", "html-validate": "10.17.0"}


def program(name):
    """The path of a program, which is installed where it is missing."""
    path = FOLDER / "node_modules" / ".bin" / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", FOLDER, "--no-fund", "--no-audit", "--silent", f"{name}@{VERSIONS[name]}"], check=True)
    return path
