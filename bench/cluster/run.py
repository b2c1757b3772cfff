"""Three nodes at the size that docs/scaling.md reports, and what a request costs with 1, 2 and 3 nodes.

    python3 bench/cluster/run.py [SCENARIO…]      needs target/release/quire (or QUIRE_BINARY) and the models"""

import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "release" / "quire"))
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "servers")]

import scenarios
from cluster import ROOMY, Cluster, at_once, document
from servers import Servers

LARGE = {"units": {"searches": 1000, "quota": 500}, "killed": {"files": 300, "searches": 2000}, "failed_over": {"files": 300, "searches": 2000, "after": 10.0}}


def throughput(servers, searches=600, files=60):
    """CPU of the nodes for a search and for /check, with 1, 2 and 3 of them."""
    print("| nodes | search, requests/s | CPU ms a search | /check, requests/s | CPU ms a /check |\n|---|---|---|---|---|")
    for count in (1, 2, 3):
        with Cluster(servers, nodes=count, **ROOMY) as cluster:
            at_once(4, lambda number: cluster.upload_patiently(f"{number}.md", document(number)[1]), range(files))
            cluster.wait_until_read()
            connections = [cluster.connect(cluster.nodes[number % count].port) for number in range(6)]
            row = []
            for ask in (
                lambda number, connection: cluster.post(f"/boxes/{cluster.box}/retrieve-documents", {"query": f"Which year was {document(number % files)[0]} counted in?"}, connection=connection),
                lambda number, connection: cluster.ask("GET", "/check", connection=connection),
            ):
                def some(place):
                    for number in range(place, searches, len(connections)):
                        assert ask(number, connections[place])[0] == 200
                at_once(6, some, range(len(connections)))
                before, started = sum(node.cpu() for node in cluster.nodes), time.monotonic()
                at_once(6, some, range(len(connections)))
                seconds, cpu = time.monotonic() - started, sum(node.cpu() for node in cluster.nodes) - before
                row += [f"{searches / seconds:.0f}", f"{1000 * cpu / searches:.2f}"]
            print(f"| {count} | {' | '.join(row)} |", flush=True)


def main():
    names = sys.argv[1:] or ["limits", "units", "killed", "failed_over", "volume_stopped", "valkey_restarted", "throughput"]
    with Servers() as servers:
        for name in names:
            if name == "throughput":
                throughput(servers)
            else:
                started = time.monotonic()
                said = getattr(scenarios, name)(servers, **LARGE.get(name, {}))
                print(f"{name:17} {time.monotonic() - started:6.1f} s  {said}", flush=True)


if __name__ == "__main__":
    main()
