#!/usr/bin/env python3
"""Receives events of a real quire server and has them verified by the standardwebhooks and openai packages from their registries, those
for Python and those for Node.

    python3 tests/webhooks/run.py          needs target/debug/quire (or QUIRE_BINARY)

The receiver is away at first; the server is killed while an event waits; the secret is rotated. Each event must arrive, in the order
of its file, under one identifier, and verify. Where the registry cannot be reached, that is said and skipped."""

import collections
import http.server
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "debug" / "quire"))
from service import Server  # noqa: E402

FOLDER = ROOT / "target" / "webhooks"
PACKAGES = ["standardwebhooks==1.1.0", "openai==3.49.0"]
NODE_PACKAGES = ["standardwebhooks@1.1.1", "openai@7.53.0"]
# Separates a hang from a slow machine.
PATIENCE = 180


class Receiver(http.server.BaseHTTPRequestHandler):
    status = 503
    requests = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.requests.put((Receiver.status, dict(self.headers), body))
        self.send_response(Receiver.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def install():
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", str(FOLDER), *PACKAGES], capture_output=True, text=True)
    if done.returncode:
        print(f"skipped: {PACKAGES} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        sys.exit(0)
    sys.path.insert(0, str(FOLDER))


def verified_by_node(events):
    """Hands the events to the packages for Node, where there is Node."""
    if not shutil.which("npm"):
        print("skipped the verifiers for Node: npm is not installed")
        return
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *NODE_PACKAGES], cwd=FOLDER, check=True, capture_output=True)
    shutil.copy(pathlib.Path(__file__).with_name("verify.mjs"), FOLDER)
    subprocess.run(["node", "verify.mjs"], cwd=FOLDER, input="\n".join(json.dumps(event) for event in events), text=True, check=True)


def next_request():
    return Receiver.requests.get(timeout=PATIENCE)


def main():
    install()
    import openai
    from standardwebhooks import Webhook, WebhookVerificationError

    openai_webhooks = openai.OpenAI(api_key="none").webhooks

    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    settings = {"QUIRE__WEBHOOKS__ENABLED": "true", "QUIRE__WEBHOOKS__PRIVATE_ADDRESSES": "true"}
    server = Server(env=settings).set_up()
    server.key = server.command("key", "add", "--user", "bench@example.org", "--permissions", "search,read,write,manage")["key"]
    server.start()
    try:
        received = check(server, receiver.server_port, Webhook, WebhookVerificationError)
    finally:
        server.stop()
    events = [{"secret": secret, "headers": headers, "body": body.decode()} for secret, headers, body in received]
    for event in events:
        openai_webhooks.verify_signature(event["body"], event["headers"], secret=event["secret"])
    verified_by_node(events)
    print("webhooks: every event arrived in order and was verified by standardwebhooks and openai")


def check(server, port, Webhook, WrongSignature):
    """Has events happen, and gives those that arrived with the secret that they are signed with."""
    url = f"http://127.0.0.1:{port}/hook"
    events = ["file.ready", "file.replaced", "file.deleted"]
    status, made = server.post("/webhooks", {"url": url, "events": events})
    assert status == 201, made
    secret, path = made["data"]["secret"], f"/webhooks/{made['data']['webhookId']}"
    files = f"/boxes/{server.box}/files"
    status, file = server.post(files, {"name": "a", "text": "The first version.", "externalId": "a"})
    assert status == 201, file
    away = next_request()
    assert away[0] == 503, away
    while not server.ask("GET", f"{path}/attempts")[1]["data"]["total"]:
        time.sleep(0.1)
    # The event waits in the catalog; whoever starts next sends it.
    server.kill()
    Receiver.status = 204
    server.start()
    first = next_request()
    assert first[1]["webhook-id"] == away[1]["webhook-id"], "one event, one identifier"
    server.post(files, {"name": "a", "text": "The second version.", "externalId": "a"})
    kinds, seen = [], collections.Counter()
    requests = [first, next_request(), next_request()]
    server.ask("DELETE", f"/files/{file['data']['fileId']}")
    requests.append(next_request())
    for _, headers, body in requests:
        event = Webhook(secret).verify(body, headers)
        kinds.append(event["type"])
        seen[headers["webhook-id"]] += 1
        assert event["data"]["fileId"] == file["data"]["fileId"], event
    assert kinds == ["file.ready", "file.replaced", "file.ready", "file.deleted"], kinds
    assert set(seen.values()) == {1}, seen
    forged = (requests[0][2].replace(b"file.ready", b"file.eaten"), requests[0][1])
    for body, headers in [forged, (requests[0][2], requests[1][1])]:
        try:
            Webhook(secret).verify(body, headers)
            raise SystemExit("a forged event was verified")
        except WrongSignature:
            pass
    status, rotated = server.post(f"{path}/rotate-secret", {})
    assert status == 200, rotated
    server.post(files, {"name": "b", "text": "Another file."})
    _, headers, body = next_request()
    for key in (secret, rotated["data"]["secret"]):
        Webhook(key).verify(body, headers)
    # The receiver has it before the server has written down that it has.
    while (attempts := server.ask("GET", f"{path}/attempts")[1])["data"]["total"] < 6:
        time.sleep(0.1)
    assert [one["status"] for one in attempts["data"]["attempts"]] == [204, 204, 204, 204, 204, 503], attempts
    status, replayed = server.post(f"{path}/attempts/2/replay", {})
    assert status == 202, replayed
    again = next_request()
    assert again[1]["webhook-id"] == first[1]["webhook-id"], again
    Webhook(rotated["data"]["secret"]).verify(again[2], again[1])
    return [(secret, headers, body) for _, headers, body in requests] + [(rotated["data"]["secret"], again[1], again[2])]


if __name__ == "__main__":
    main()
