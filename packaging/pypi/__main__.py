"""`python -m quire_server …` runs `quire …`."""

import os
import sys

from . import program

path = program()
os.execv(path, [path, *sys.argv[1:]])
