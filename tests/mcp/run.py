"""Runs the conformance suite of the Model Context Protocol, from its registry, against a real quire server: as an MCP server in both
protocols, and as an authorisation server, with a person who lets the suite in.

    python3 tests/mcp/run.py      needs target/debug/quire (or QUIRE_BINARY), the models, node and npm

Scenarios that call tools, prompts or resources of the suite's own server, or that are about what quire does not offer, are listed in a
file for each version; the suite says so when one of them passes. They all must pass at /mcp/fixtures, which builds for development have:
the same protocol with what the suite calls. Packages are installed into target/mcp."""

import contextlib
import html
import http.cookiejar
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "debug" / "quire"))
from service import Server

FOLDER = ROOT / "target" / "mcp"
# The suite needs a newer Node than Debian has.
PACKAGES = ["node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12"]
SUITE = [FOLDER / "node_modules/node/bin/node", FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"]
VERSIONS = ("2026-07-28", "2025-11-25")
PASSWORD = "correct horse battery"


def with_key(server):
    """The root of a proxy that adds the server's key to every request: the suite cannot send one."""

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            connection = server.connect()
            connection.request(self.command, self.path, body, headers | {"Authorization": f"Bearer {server.key}"})
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            # The suite hangs up where it has seen enough.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                while piece := answer.read1(65536):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_DELETE = do_OPTIONS = forward

        def log_message(self, *_):
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{proxy.server_address[1]}"


class Person:
    """A browser in which somebody signs in and lets a program in."""

    def __init__(self, server):
        self.root = f"https://127.0.0.1:{server.port}"
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.browser = urllib.request.build_opener(jar, urllib.request.HTTPSHandler(context=server.context))

    def lets_in(self, address):
        page = self.browser.open(address).read().decode()
        if 'action="/sign-in"' in page:
            page = self.send("/sign-in", page, email="ada@example.org", password=PASSWORD).read().decode()
        back = self.send("/oauth/authorize", page, decision="allow").headers["Refresh"]
        urllib.request.urlopen(back.removeprefix("0;url=")).read()

    def send(self, path, page, **fields):
        form = page[page.rindex('<form method="post"'):]
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        fields |= {html.unescape(name): html.unescape(value) for name, value in hidden}
        return self.browser.open(self.root + path, urllib.parse.urlencode(fields).encode())


def as_server(server):
    failed, root = 0, with_key(server)
    for version in VERSIONS:
        for path, options in (("/mcp", ["--expected-failures", HERE / f"{version}.yaml"]), ("/api/public/v1/mcp/fixtures", [])):
            line = [*SUITE, "server", "--url", root + path, "--requirements", version, *options]
            ran = subprocess.run(line, cwd=FOLDER, capture_output=True, text=True, timeout=300)
            print(f"{path}, protocol {version}", ran.stdout[ran.stdout.index("=== SUMMARY ==="):].strip(), sep="\n", flush=True)
            failed += ran.returncode != 0
    return failed


def as_authorisation_server(server, environment):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = f"https://127.0.0.1:{server.port}"
    described = json.dumps({"client_name": "Conformance", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}).encode()
    request = urllib.request.Request(f"{root}/oauth/register", described, {"Content-Type": "application/json"})
    client = json.loads(urllib.request.urlopen(request, context=server.context).read())["client_id"]
    line = [*SUITE, "authorization", "--url", root, "--client-id", client, "--resource", f"{root}/mcp", "--port", str(port)]
    suite = subprocess.Popen(line, cwd=FOLDER, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    person, said = Person(server), ""
    for words in suite.stdout:
        said += words
        asked = re.search(rf"{re.escape(root)}/oauth/authorize\?\S+", words)
        if asked:
            person.lets_in(asked.group(0))
    passed = suite.wait() == 0 and re.search(r"authorization-code-grant: [1-9]\d* passed, 0 failed", said)
    print("authorisation server", said[said.index("=== SUMMARY ==="):].strip() if passed else said, sep="\n", flush=True)
    return 0 if passed else 1


def main():
    if not shutil.which("npm"):
        print("skipped the conformance suite of MCP: npm is not installed")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES], cwd=FOLDER, check=True, capture_output=True)
    server = Server().set_up()
    added = [server.binary, "user", "add", "ada@example.org", "--password-stdin"]
    subprocess.run(added, env=server.env, input=PASSWORD.encode(), check=True, capture_output=True)
    server.command("box", "grant", server.box, "ada@example.org", "admin")
    server.start()
    try:
        environment = dict(os.environ, NODE_EXTRA_CA_CERTS=str(server.data / "tls" / "cert.pem"))
        return as_authorisation_server(server, environment) + as_server(server)
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
