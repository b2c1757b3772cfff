"""Rounds a checkpoint as export.py does, in one file, so that what is measured is what ships.

Usage: python training/quantize.py CHECKPOINT OUT
"""
import sys

from export import whole, write
from model import load

if __name__ == "__main__":
    write(sys.argv[2], whole(load(sys.argv[1])))
