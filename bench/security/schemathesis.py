#!/usr/bin/env python3
"""Asks everything that the OpenAPI document describes, with every kind of key, and holds each answer against it.

    bench/security/schemathesis.py [--requests 20000] [--report FILE]

Starts a server of its own (QUIRE_BINARY, else target/release/quire). `schemathesis` 4 must be on the path, or named by
SCHEMATHESIS: `python3 -m venv DIR && DIR/bin/pip install schemathesis`. Exits 1 if any answer was a server error or of a
shape that the document does not describe.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))
from service import ROOT, Server  # noqa: E402

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"
ROLES = ["owner", "admin", "editor", "viewer", "expired", "revoked", "scoped", "none"]
# Examples of each of the 21 operations in one run, positive and negative; runs are repeated until there are enough requests.
EXAMPLES = 40
FILES = 12


def people_and_keys(server):
    """A box with a member of each role, another that no key may see, and a key of each kind."""
    for name in ("owner", "admin", "editor", "viewer", "stranger"):
        server.command("user", "add", f"{name}@example.org")
    server.box = server.command("box", "add", "Everything", "--owner", "owner@example.org")["boxId"]
    other = server.command("box", "add", "Elsewhere", "--owner", "stranger@example.org")["boxId"]
    second = server.command("box", "add", "Second", "--owner", "owner@example.org")["boxId"]
    for role in ("admin", "editor", "viewer"):
        server.command("box", "grant", server.box, f"{role}@example.org", role)
    keys = {name: server.command("key", "add", "--user", f"{name}@example.org")["key"]
            for name in ("owner", "admin", "editor", "viewer")}
    keys["expired"] = server.command("key", "add", "--user", "owner@example.org", "--expires", "1s")["key"]
    revoked = server.command("key", "add", "--user", "owner@example.org")
    server.command("key", "revoke", revoked["prefix"])
    keys["revoked"] = revoked["key"]
    keys["scoped"] = server.command("key", "add", "--user", "owner@example.org", "--box", second)["key"]
    keys["none"] = None
    return keys, [server.box, other, second]


def fill(server, keys):
    """Files to ask about; some of them are deleted by a run."""
    server.key = keys["owner"]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            path = pathlib.Path(folder) / f"{time.time_ns()}-{number}.txt"
            path.write_text(f"The warranty of number {number} ({time.time_ns()}) lasts {number + 1} years.")
            status, answer = server.upload(path)
            assert status == 201, answer
    return [file["fileId"] for file in server.files()][-FILES:]


def run(server, document, key, boxes, files, seed, folder):
    """One run with one key; what was asked, answered and found wrong."""
    report = folder / "report.ndjson"
    command = [os.environ.get("SCHEMATHESIS", "schemathesis"), "run", str(document), "--url", f"https://127.0.0.1:{server.port}",
               "--tls-verify", str(server.data / "tls" / "cert.pem"), "--phases", "examples,coverage,fuzzing", "--checks", CHECKS,
               "--continue-on-failure", "--no-shrink", "--max-examples", str(EXAMPLES), "--seed", str(seed), "--workers", "2",
               "--request-timeout", "60", "--report", "ndjson", "--report-ndjson-path", str(report), "--warnings", "off",
               "--suppress-health-check", "all", "--output-sanitize", "false",
               # Answers without an end; tests/api looks at it.
               "--exclude-path-regex", "/events$"]
    if key:
        command += ["--header", f"Authorization: Bearer {key}"]
    env = os.environ | {"SCHEMATHESIS_HOOKS": str(HERE / "known_ids.py"), "QUIRE_KNOWN_BOXES": ",".join(boxes),
                        "QUIRE_KNOWN_FILES": ",".join(files), "PYTHONPATH": ""}
    ended = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    return report, ended


def read(report, statuses, failures):
    """Counts the answers of a report and collects what its checks found."""
    requests = 0
    for line in open(report):
        event = json.loads(line)
        for recorder in find(event, "interactions"):
            for interaction in recorder.values() if isinstance(recorder, dict) else recorder:
                response = interaction.get("response") or {}
                requests += 1
                statuses[response.get("status_code", "no answer")] += 1
        for found in find(event, "failure_info"):
            failure = (found or {}).get("failure") or found
            if failure:
                text = json.dumps(failure, sort_keys=True)
                failures[text[:600]] += 1
    return requests


def find(value, name):
    """All values of this name, however deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name:
                yield inner
            else:
                yield from find(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--report", type=pathlib.Path, help="write what was found, as JSON")
    parser.add_argument("--roles", default=",".join(ROLES))
    parser.add_argument("--keep", action="store_true", help="keep the folder of reports")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-schemathesis-"))
    server = Server()
    document = folder / "openapi.json"
    document.write_bytes(subprocess.run([server.binary, "openapi"], env=server.env, capture_output=True, check=True).stdout)
    keys, boxes = people_and_keys(server)
    server.start()
    statuses, failures, total, seed = collections.Counter(), collections.Counter(), collections.Counter(), 1
    trouble = []
    try:
        while sum(total.values()) < options.requests:
            for role in options.roles.split(","):
                files = fill(server, keys)
                report, ended = run(server, document, keys[role], boxes, files, seed, folder)
                asked = read(report, statuses, failures)
                total[role] += asked
                if asked == 0 or ended.returncode not in (0, 1):
                    trouble.append(ended.stdout[-4000:] + ended.stderr[-2000:])
                    break
                if ended.returncode == 1:
                    (folder / f"{role}-{seed}.txt").write_text(ended.stdout)
                print(f"{role:8} seed {seed}: {asked} requests, {sum(total.values())} so far, {len(failures)} findings", flush=True)
            if trouble:
                break
            seed += 1
        alive = server.process.poll() is None
    finally:
        server.stop()
    result = {"requests": sum(total.values()), "by_role": total, "statuses": {str(s): n for s, n in sorted(statuses.items(), key=str)},
              "server_errors": sum(n for s, n in statuses.items() if isinstance(s, int) and s >= 500),
              "findings": failures, "alive": alive}
    print(json.dumps(result, indent=2))
    if options.report:
        options.report.write_text(json.dumps(result, indent=2))
    print(f"reports: {folder}")
    for text in trouble:
        print(text)
    sys.exit(bool(failures or trouble or result["server_errors"] or not alive))


if __name__ == "__main__":
    main()
