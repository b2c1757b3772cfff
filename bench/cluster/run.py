"""Three nodes at the size that docs/scaling.md reports, and what a request costs with 1, 2 and 3 nodes.

    python3 bench/cluster/run.py [SCENARIO…]              needs target/release/quire (or QUIRE_BINARY) and the models
    python3 bench/cluster/run.py upgraded=COMMIT|BINARY   beside nodes of an earlier commit, which is built first"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "release" / "quire"))
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "servers")]

import scenarios
from cluster import ROOMY, Cluster, at_once, document
from servers import Servers

LARGE = {"units": {"searches": 1000, "quota": 500}, "killed": {"files": 300, "searches": 2000}, "failed_over": {"files": 300, "searches": 2000, "after": 5.0, "gap": 15.0},
         "replicated": {"files": 100}}


def throughput(servers, searches=400, checks=6000, files=60, clients=2):
    """CPU of the nodes for a search and for /check, with 1, 2 and 3 of them. Each client asks the nodes in turn; as many clients as there are cores
    here and one thread of models a node, so that what is measured is the request and not how nodes get into each other's way."""
    print("| nodes | search, requests/s | CPU ms a search | /check, requests/s | CPU ms a /check |\n|---|---|---|---|---|")
    for count in (1, 2, 3):
        with Cluster(servers, nodes=count, QUIRE__MODELS__THREADS="1", **ROOMY) as cluster:
            at_once(4, lambda number: cluster.upload_patiently(f"{number}.md", document(number)[1]), range(files))
            cluster.wait_until_read()
            connections = [[cluster.connect(node.port) for node in cluster.nodes] for _ in range(clients)]
            row = []
            for requests, ask in (
                (searches, lambda number, connection: cluster.post(f"/boxes/{cluster.box}/retrieve-documents", {"query": f"Which year was {document(number % files)[0]} counted in?"}, connection=connection)),
                (checks, lambda number, connection: cluster.ask("GET", "/check", connection=connection)),
            ):
                def some(client, requests=requests, ask=ask):
                    for number in range(client, requests, clients):
                        assert ask(number, connections[client][number // clients % count])[0] == 200
                at_once(clients, lambda client: some(client, requests // 10), range(clients))
                before, started = sum(node.cpu() for node in cluster.nodes), time.monotonic()
                at_once(clients, some, range(clients))
                seconds, cpu = time.monotonic() - started, sum(node.cpu() for node in cluster.nodes) - before
                row += [f"{requests / seconds:.0f}", f"{1000 * cpu / requests:.2f}"]
            print(f"| {count} | {' | '.join(row)} |", flush=True)


def earlier(what):
    """The binary of an earlier version: a file, or a commit that is built in a work tree of its own, once."""
    if os.path.isfile(what):
        return what
    commit = subprocess.run(["git", "rev-parse", "--short", what], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    target = ROOT / "target" / "earlier"
    binary = target / f"quire-{commit}"
    if not binary.exists():
        tree = target / commit
        subprocess.run(["git", "worktree", "add", "--detach", tree, commit], cwd=ROOT, check=True)
        try:
            subprocess.run(["cargo", "build", "--release", "--locked", "-p", "server"], cwd=tree, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(target / "build")})
            shutil.copy2(target / "build" / "release" / "quire", binary)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    return str(binary)


def main():
    names = sys.argv[1:] or ["limits", "units", "killed", "failed_over", "replicated", "together", "valkey_restarted", "throughput"]
    with Servers() as servers:
        for name in names:
            if name == "throughput":
                throughput(servers)
            else:
                started = time.monotonic()
                name, _, old = name.partition("=")
                said = getattr(scenarios, name)(servers, **LARGE.get(name, {}), **({"old": earlier(old)} if old else {}))
                print(f"{name:17} {time.monotonic() - started:6.1f} s  {said}", flush=True)


if __name__ == "__main__":
    main()
