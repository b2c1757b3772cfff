#!/usr/bin/env python3
"""Starts n8n, from its registry, and has its MCP client node search a box and read what was found.

    python3 bench/integrations/n8n.py [FOLDER]     needs target/release/quire (or QUIRE_BINARY), npm, and 3 GB in FOLDER

FOLDER keeps what was installed for the next time; it is made anew if it is not given."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server

VERSION = "2.40.7"
# n8n needs a newer Node than Debian has.
PACKAGES = ["node@22", f"n8n@{VERSION}"]
TEXT = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase. Batteries are not covered.\n"
QUESTION = "How long does the warranty of the machine last?"
CREDENTIAL = {"id": "quire", "name": "quire", "type": "httpBearerAuth"}


def node(name, kind, place, **parameters):
    return {"id": name, "name": name, "type": kind, "typeVersion": 1, "position": [place * 200, 0], "parameters": parameters}


def tool(name, place, address, tool, arguments):
    made = node(name, "@n8n/n8n-nodes-langchain.mcpClient", place, serverTransport="httpStreamable", endpointUrl=address,
                authentication="bearerAuth", tool={"__rl": True, "mode": "id", "value": tool}, inputMode="json", jsonInput=arguments)
    return made | {"credentials": {"httpBearerAuth": {"id": CREDENTIAL["id"], "name": CREDENTIAL["name"]}}}


def workflow(address):
    """Searches, and fetches the first thing that was found."""
    nodes = [node("Start", "n8n-nodes-base.manualTrigger", 0),
             tool("Search", 1, address, "search", json.dumps({"query": QUESTION})),
             tool("Fetch", 2, address, "fetch", "={{ { id: $json.content[0].text.results[0].id } }}")]
    names = [one["name"] for one in nodes]
    links = {a: {"main": [[{"node": b, "type": "main", "index": 0}]]} for a, b in zip(names, names[1:])}
    return {"id": "quire", "name": "quire", "nodes": nodes, "connections": links, "settings": {"executionOrder": "v1"}, "active": False}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="quire-n8n-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES], cwd=folder, check=True)
    quire = Server().set_up().start()
    try:
        (folder / "warranty.md").write_text(TEXT)
        quire.upload(folder / "warranty.md")
        quire.wait_until_read()
        environment = os.environ | {
            "N8N_USER_FOLDER": tempfile.mkdtemp(prefix="user-", dir=folder), "NODE_EXTRA_CA_CERTS": str(quire.data / "tls" / "cert.pem"),
            "N8N_DIAGNOSTICS_ENABLED": "false", "N8N_VERSION_NOTIFICATIONS_ENABLED": "false", "N8N_ENCRYPTION_KEY": "only for this test",
            "N8N_RUNNERS_ENABLED": "false"}

        def n8n(*words):
            line = [folder / "node_modules/node/bin/node", folder / "node_modules/n8n/bin/n8n", *words]
            ran = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
            if ran.returncode:
                raise SystemExit(f"n8n {words[0]}: {ran.stdout[-3000:]}{ran.stderr[-3000:]}")
            return ran.stdout

        (folder / "credential.json").write_text(json.dumps([CREDENTIAL | {"data": {"token": quire.key}}]))
        address = f"https://127.0.0.1:{quire.port}/mcp"
        (folder / "workflow.json").write_text(json.dumps([workflow(address)]))
        n8n("import:credentials", f"--input={folder / 'credential.json'}")
        n8n("import:workflow", f"--input={folder / 'workflow.json'}")
        said = n8n("execute", "--id=quire", "--rawOutput")
        ran = json.loads(said[said.index("{"):])["data"]["resultData"]["runData"]

        def content(name):
            return ran[name][0]["data"]["main"][0][0]["json"]["content"][0]["text"]

        found = content("Search")["results"][0]
        print("searched:", found["title"], found["text"][:80].replace("\n", " "))
        assert "two years" in found["text"], found
        assert "two years" in content("Fetch")["text"], content("Fetch")
    finally:
        quire.stop()
    print(f"n8n {VERSION} works with quire")


if __name__ == "__main__":
    main()
