#!/usr/bin/env python3
"""Runs the shell lines of README.md as pasted, against target/debug/quire, and checks the list of errors in docs/.

Only what no test can take literally is replaced: the compilation (`./run`), the key that only the server knows, the address
(a free port in place of 8443) and the folder /var/lib/quire. Every other line runs as it stands, in a folder that looks like
the repository, and must succeed; the questions must be answered from the sample box.

    python3 tests/docs/readme.py [path of quire]
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import errors

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quire").resolve()
# Long enough for a slow machine with other work, on which ingesting the sample box alone takes minutes; a hang ends here.
PATIENCE = 900


def blocks(document):
    """The shell blocks of a document, in order, by the heading they stand under."""
    found, heading, lines = [], "", None
    for line in (ROOT / document).read_text().splitlines():
        if line.startswith("```"):
            if lines is not None and lines[0] == "sh":
                found.append((heading, lines[1:]))
            lines = [line[3:].strip()] if lines is None else None
        elif lines is not None:
            lines.append(line)
        elif line.startswith("## "):
            heading = line[3:]
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A quire that runs until the end of a `with`."""

    def __init__(self, line, folder, environment):
        self.log = open(folder / "server.log", "w+")
        self.process = subprocess.Popen(["bash", "-c", "exec " + line], cwd=folder, env=environment, stdout=self.log, stderr=self.log)

    def said(self, pattern):
        """What the server printed, once it has."""
        for _ in range(PATIENCE * 10):
            text = pathlib.Path(self.log.name).read_text()
            if found := re.search(pattern, text):
                return found.group(0)
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended: {text}")
            time.sleep(0.1)
        raise SystemExit(f"the server did not print {pattern}: {text}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def pasted(lines, folder, environment):
    """Runs lines in one shell, as somebody who pastes them; each must succeed. Gives what they print."""
    script = "set -eo pipefail\n" + "\n".join(lines)
    ran = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if ran.returncode != 0:
        raise SystemExit(f"failed with {ran.returncode}:\n{script}\n--- it printed\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


def must(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def like_the_repository(folder):
    (folder / "target/release").mkdir(parents=True)
    (folder / "target/release/quire").symlink_to(BINARY)
    shutil.copy(ROOT / "README.md", folder / "README.md")


def clean_environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE")}
    return {**kept, "QUIRE__HTTP__METRICS_LISTEN": ""}


def trying_it(folder, port):
    """The first section: quickstart, then its questions on the command line and over HTTP."""
    shell = [lines for heading, lines in blocks("README.md") if heading == "Trying it"]
    must(shell[0] == ["./run"], "the first block of `Trying it` is ./run")
    environment = clean_environment()
    quickstart = f"target/release/quire quickstart --listen 127.0.0.1:{port}"
    with Server(quickstart, folder, environment) as server:
        key = server.said(r"quire_[0-9A-Za-z]{8}_[0-9A-Za-z]{38,}")
        server.said(r"Ctrl-C stops the server")
        # The address that commands use by default is the one that ./run serves on.
        environment["QUIRE_URL"] = f"https://127.0.0.1:{port}"
        real = lambda line: line.replace("quire_…", key).replace("127.0.0.1:8443", f"127.0.0.1:{port}")
        lines = [real(line) for block in shell[1:] for line in block]
        said = pasted(lines, folder, environment)
        must("quire delete" in said, f"the sample box says how to delete a file:\n{said}")
        must("Owners and admins" in said, f"the sample box says who may use the API:\n{said}")
        must("README.md" in said and "1 added" in said, f"a file was added:\n{said}")
        must(said.count('"success":true') >= 5, f"every request succeeded:\n{said}")
        must("100 requests in 60 seconds" in said, f"the chat answers from the documentation:\n{said}")


def running_it_for_real(folder, port):
    """The second section: one data folder, prepared, served, and used with the key that it made."""
    shell = [lines for heading, lines in blocks("README.md") if heading == "Running it for real"]
    environment = {**clean_environment(), "PATH": f"{folder}/target/release:{os.environ['PATH']}"}
    data = folder / "var-lib-quire"
    real = lambda line: line.replace("/var/lib/quire", str(data)).replace("0.0.0.0:8443", f"127.0.0.1:{port}")
    *prepare, serve = [real(line) for line in shell[0]]
    must(serve.startswith("quire serve"), "the first block ends with `quire serve`")
    said = pasted(prepare, folder, environment)
    key = re.search(r"quire_[0-9A-Za-z]{8}_[0-9A-Za-z]{38,}", said).group(0)
    environment["QUIRE_DATA"] = str(data)
    with Server(serve, folder, environment) as server:
        server.said("is listening on")
        pasted(shell[1], folder, environment)
        client = {name: value for name, value in environment.items() if name != "QUIRE_DATA"}
        client |= {"QUIRE_API_KEY": key, "QUIRE_URL": f"https://127.0.0.1:{port}/api/public/v1/", "QUIRE_CA": str(data / "tls/cert.pem")}
        must("Papers" in pasted(["quire box list"], folder, client), "the key works on the server that was started")
        must("eve@example.org (admin)" in pasted(["quire box list"], folder, environment), "the role was granted")
    must(not (folder / "quire-data").exists(), "nothing was written anywhere else")


def main():
    errors.check()
    print("docs/errors.md lists every error text of the code")
    must(BINARY.is_file(), f"{BINARY} does not exist; build it with cargo build -p server")
    started = time.monotonic()
    for section in (running_it_for_real, trying_it):
        with tempfile.TemporaryDirectory() as folder:
            like_the_repository(pathlib.Path(folder))
            section(pathlib.Path(folder), free_port())
        print(f"{section.__name__}: every line works as pasted")
    print(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
