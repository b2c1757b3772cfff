"""Is the service there for others while one client keeps a thousand connections busy with doing next to nothing?

    python3 bench/security/slow.py [--connections 1000] [--seconds 40]

Runs slowhttptest in its four modes (slow heads, slow bodies, ranges, slow reading) against a server of its own, once with the
default settings and once without a bound by network, where the deadlines alone must do. Meanwhile another client, from
another address of this machine, makes a new connection and asks `/check` ten times a second. Fails if it was refused once,
or if connections of the attack are left behind. Needs slowhttptest (Debian's package of that name) and a built server;
QUIRE_BINARY names another binary than target/release/quire.
"""

import argparse
import http.client
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server  # noqa: E402

# Another address of this machine is another network to the server.
OTHER = ("127.0.0.2", 0)
MODES = {
    "slow heads": ["-H", "-i", "10", "-t", "GET", "-x", "24"],
    "slow bodies": ["-B", "-i", "10", "-t", "POST", "-s", "8192", "-x", "10"],
    "ranges": ["-R", "-a", "10", "-b", "3000", "-t", "HEAD"],
    "slow reading": ["-X", "-w", "1", "-y", "4096", "-n", "5", "-z", "32", "-k", "3"],
}


class Other(threading.Thread):
    """Somebody else, who wants to be served meanwhile."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.times, self.failures, self.over = server, [], [], threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            begun = time.monotonic()
            try:
                connection = http.client.HTTPSConnection("localhost", self.server.port, timeout=10,
                                                         context=self.server.context, source_address=OTHER)
                headers = {"Authorization": f"Bearer {self.server.key}"}
                connection.request("GET", "/api/public/v1/check", headers=headers)
                status = connection.getresponse().status
                connection.close()
                if status != 200:
                    self.failures.append(status)
            except OSError as error:
                self.failures.append(repr(error))
            self.times.append(time.monotonic() - begun)

    def end(self):
        self.over.set()
        self.join()
        self.times.sort()
        return self


def attack(server, mode, target, arguments):
    """slowhttptest's words on how it went."""
    line = ["slowhttptest", "-c", str(arguments.connections), "-r", "200", "-l", str(arguments.seconds), "-p", "3",
            *MODES[mode], "-u", f"https://localhost:{server.port}{target}"]
    output = subprocess.run(line, capture_output=True, text=True, timeout=arguments.seconds + 60).stdout
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    found = {}
    for name in ("connected", "closed", "error", "service available"):
        values = re.findall(rf"^{name}:\s+(\S+)", plain, re.MULTILINE)
        found[name] = values[-1] if values else "?"
        found["worst"] = "NO" if name == "service available" and "NO" in values else found.get("worst", "YES")
    return found


def left_open(server):
    """Connections from the attack's address that the server still holds."""
    lines = subprocess.run(["ss", "-Htn", "state", "established", f"( sport = :{server.port} )"], capture_output=True,
                           text=True).stdout.splitlines()
    return len([line for line in lines if "127.0.0.1" in line.split()[-1]])


def run(settings, arguments):
    server = Server(data=tempfile.mkdtemp(prefix="quire-slow-"), env=settings).set_up().start()
    try:
        large = server.data / "large.bin"
        large.write_bytes(b"x" * (20 << 20))
        _, uploaded = server.upload(large)
        _, link = server.ask("GET", f"/files/{uploaded['data']['fileId']}/signed-url")
        download = urllib.parse.urlsplit(link["data"]["url"]).path
        targets = {"slow heads": "/", "slow bodies": "/sign-in", "ranges": download, "slow reading": download}
        failed = False
        for mode, target in targets.items():
            other = Other(server)
            other.start()
            result = attack(server, mode, target, arguments)
            other.end()
            # The longest deadline, and some.
            for _ in range(80):
                if left_open(server) == 0:
                    break
                time.sleep(1)
            times, left = other.times, left_open(server)
            print(f"{mode:13} others: {len(times)} asked, {len(other.failures)} failed, "
                  f"p50 {times[len(times) // 2] * 1e3:.0f} ms, p99 {times[len(times) * 99 // 100] * 1e3:.0f} ms, "
                  f"max {times[-1] * 1e3:.0f} ms; attack at its end: {result['connected']} connected, "
                  f"{result['closed']} closed, {result['error']} refused; its own probe: {result['worst']}; "
                  f"{left} left; {server.memory_kb() // 1024} MB", flush=True)
            if other.failures:
                print(f"  {other.failures[:3]}")
            failed = failed or bool(other.failures) or left > 0
        return failed
    finally:
        server.stop()
        shutil.rmtree(server.data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=40)
    arguments = parser.parse_args()
    if not shutil.which("slowhttptest") or not shutil.which("ss"):
        raise SystemExit("install slowhttptest and iproute2 (Debian's packages of these names)")
    failed = False
    for name, settings in (("default settings", {}), ("no bound by network", {"QUIRE__CONNECTIONS__PER_NETWORK": "0"})):
        print(f"{name}, {arguments.connections} connections for {arguments.seconds} s a mode")
        failed = run(settings, arguments) or failed
    raise SystemExit(1 if failed else 0)


main()
