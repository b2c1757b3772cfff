"""What the Python clients share: where to ask, and how a check is told."""

import json
import os
import sys

QUESTION = "How long does the warranty of the machine last?"
ANSWER = "two years"


class Place:
    def __init__(self, place):
        self.base, self.key, self.box = place["base"], place["key"], place.get("box")


class Places:
    def __init__(self):
        places = json.loads(os.environ["QUIRE_PLACES"])
        for name in ("plain", "manager", "wrong_key", "exhausted", "limited", "breaking"):
            setattr(self, name, Place(places[name]))
        self.box, self.unknown_box = places["plain"]["box"], places["unknown_box"]


def check(what, held):
    print(f"  {'ok' if held else 'FAILED'}  {what}", flush=True)
    if not held:
        sys.exit(1)


def raises(work, kind, also=lambda error: True):
    """Whether this raises such an exception, and no other."""
    try:
        work()
    except kind as error:
        return also(error)
    return False
