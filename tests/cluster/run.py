"""Runs every scenario on three nodes, in the small.

    python3 tests/cluster/run.py [SCENARIO…]      needs target/debug/quire (or QUIRE_BINARY) and the models

bench/cluster/run.py does the same at the size that docs/scaling.md reports."""

import sys
import time

import scenarios
from servers import Servers

ALL = ["limits", "clocks_differ", "units", "together", "replicated", "killed", "failed_over", "valkey_restarted", "told"]


def main():
    with Servers() as servers:
        failed = 0
        for name in sys.argv[1:] or ALL:
            started = time.monotonic()
            sizes = {"units": {"searches": 200, "quota": 100}, "replicated": {"files": 10}}.get(name, {})
            try:
                said = getattr(scenarios, name)(servers, **sizes)
                print(f"ok     {name:17} {time.monotonic() - started:5.1f} s  {said}", flush=True)
            except scenarios.Failed as error:
                failed += 1
                print(f"FAILED {name:17} {time.monotonic() - started:5.1f} s  {error}", flush=True)
        sys.exit(failed > 0)


if __name__ == "__main__":
    main()
