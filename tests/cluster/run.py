"""Runs scenarios on three nodes, in the small.

    python3 tests/cluster/run.py                  needs target/debug/quire (or QUIRE_BINARY) and the models
    python3 tests/cluster/run.py --full           also those that need a standby of PostgreSQL, which take longest
    python3 tests/cluster/run.py SCENARIO…        only these

bench/cluster/run.py does the same at the size that docs/scaling.md reports."""

import sys
import time

import scenarios
from servers import Servers

USUAL = ["clocks_differ", "units", "together", "killed", "valkey_restarted", "told", "limits"]
WITH_STANDBY = ["replicated", "failed_over"]


def attempt(name, servers):
    started = time.monotonic()
    sizes = {"units": {"searches": 200, "quota": 100}, "replicated": {"files": 10}}.get(name, {})
    try:
        said = getattr(scenarios, name)(servers, **sizes)
        print(f"ok     {name:17} {time.monotonic() - started:5.1f} s  {said}", flush=True)
        return True
    except scenarios.Failed as error:
        print(f"FAILED {name:17} {time.monotonic() - started:5.1f} s  {error}", flush=True)
        return False


def main():
    with Servers() as servers:
        failed = 0
        wanted = [*WITH_STANDBY, *USUAL] if sys.argv[1:] == ["--full"] else sys.argv[1:] or USUAL
        for name in wanted:
            # On a machine that is busy for a moment, a node waits for Valkey in vain and counts alone: each has a second try.
            failed += not (attempt(name, servers) or attempt(name, servers))
        sys.exit(failed > 0)


if __name__ == "__main__":
    main()
