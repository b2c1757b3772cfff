"""Runs real clients of OpenAI's API and of MCP, from their registries, and our own against a real quire server.

    python3 tests/clients/run.py              needs target/debug/quire (or QUIRE_BINARY) and the models
    python3 tests/clients/run.py python       only those written in Python; "node": only those for Node
    python3 tests/clients/run.py NAME…        only these, of those written in Python

Clients are installed into target/clients. Where a registry or Node cannot be reached, that is said and skipped."""

import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "debug" / "quire"))
from service import Server

FOLDER = ROOT / "target" / "clients"
UV = "uv==0.13.8"
PYTHON = {
    "openai_python": "openai==3.49.0",
    "langchain_python": "langchain-openai==1.7.3",
    "llamaindex_python": "llama-index-llms-openai-like==0.8.1",
    "stores_python": "openai==3.49.0",
    "litellm_python": ["litellm==1.106.2", "mcp"],
    "mcp_python": "mcp==2.3.0",
    "oauth_python": "mcp==2.3.0",
    "fastmcp_python": "fastmcp==4.1.2",
    "adapters_python": "langchain-mcp-adapters==0.3.2",
    "quire_python": [str(ROOT / "sdk" / "python")],
    "nodes_python": [str(ROOT / "sdk" / "llamaindex"), str(ROOT / "sdk" / "python")],
    "retriever_python": [str(ROOT / "sdk" / "langchain"), str(ROOT / "sdk" / "python"), "langchain-tests"],
}
DOCUMENT = ("# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase. Batteries are not covered.\n\n"
            "# Repairs\n\nRepairs are made by the workshop in Lyon within three weeks.\n")


class Breaking(http.server.BaseHTTPRequestHandler):
    """A language model that breaks off after its first sentence."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        said = 'The warranty lasts two years [1: "lasts two years"]. And'
        self.wfile.write(f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': said}}]})}\n\n".encode())

    def log_message(self, *_):
        pass


class Document(http.server.BaseHTTPRequestHandler):
    """A page that says about a program who it is; its address is the program's id."""

    def do_GET(self):
        document = {"client_id": f"https://{self.headers['Host']}/client.json", "client_name": "A desk with a document",
                    "redirect_uris": ["http://127.0.0.1/back"], "token_endpoint_auth_method": "none"}
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def document_server(tls):
    """Serves the document over HTTPS with this certificate; gives its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Document)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_address[1]}/client.json"


def serve(tls=None, **settings):
    """A server with a document; `tls` is the folder of a certificate to use, so that one CA file does for all."""
    server = Server(env=settings).set_up()
    if tls:
        shutil.copytree(tls, server.data / "tls", dirs_exist_ok=True)
    server.start()
    # In the server's own folder: another run beside this one writes the same file.
    path = server.data / "warranty.md"
    path.write_text(DOCUMENT)
    server.upload(path)
    server.wait_until_read()
    return server


def place(server, key=None):
    return {"base": f"https://127.0.0.1:{server.port}/api/public/v1", "key": key or server.key, "box": server.box}


def python_client(package):
    """The interpreter that has a client, or why there is none. One environment a client: they disagree on versions."""
    packages = package if isinstance(package, list) else [package]
    venv = FOLDER / pathlib.Path(packages[0].split("==")[0]).name
    uv = FOLDER / "uv" / "bin" / "uv"
    # Installs a dozen environments in the time that pip needs for one.
    lines = [] if uv.exists() else [[sys.executable, "-m", "pip", "install", "-q", "--target", FOLDER / "uv", UV]]
    lines += [] if venv.exists() else [[uv, "venv", "-q", "--python", sys.executable, venv]]
    for line in [*lines, [uv, "pip", "install", "-q", "--python", venv, *packages]]:
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            return None, f"it cannot be installed: {done.stderr.strip()[-300:]}"
    return venv / "bin" / "python", None


def node_clients():
    """Whether Node has the clients, or why not."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are not installed"
    folder = FOLDER / "node"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", folder)
    installed = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, capture_output=True, text=True)
    if installed.returncode:
        return None, f"npm cannot install them: {installed.stderr.strip()[-300:]}"
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder, None


def own_node_client(folder):
    """Builds our client and installs it as others would; says why not."""
    built = FOLDER / "quire-sdk"
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(ROOT / "sdk" / "typescript", built, ignore=shutil.ignore_patterns("node_modules", "dist"))
    for line, where in ((["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], built), (["npm", "pack", "--silent"], built),
                        (["npm", "install", "--no-audit", "--no-fund", "--no-save", str(built / "quire-sdk-0.1.0.tgz")], folder)):
        ran = subprocess.run(line, cwd=where, capture_output=True, text=True)
        if ran.returncode:
            return f"{' '.join(line)}: {(ran.stdout + ran.stderr).strip()[-500:]}"
    return None


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Breaking)
    threading.Thread(target=stub.serve_forever, daemon=True).start()
    servers = []
    try:
        plain = serve()
        servers.append(plain)
        tls = plain.data / "tls"
        plain.stop()
        plain.env.update(QUIRE__OAUTH__CLIENT_DOCUMENTS="true", QUIRE__OAUTH__PRIVATE_ADDRESSES="true", SSL_CERT_FILE=str(tls / "cert.pem"))
        plain.start()
        limited = serve(tls)
        limited.stop()
        limited.env.update(QUIRE__LIMITS__KEY_REQUESTS="2", QUIRE__LIMITS__KEY_WINDOW_S="3")
        limited.start()
        servers.append(limited)
        breaking = serve(tls, QUIRE__ANSWERER__KIND="upstream", QUIRE__ANSWERER__MODEL="stub",
                         QUIRE__ANSWERER__URL=f"http://127.0.0.1:{stub.server_address[1]}/v1")
        servers.append(breaking)
        plain.command("user", "add", "poor@example.org")
        plain.command("box", "grant", plain.box, "poor@example.org", "admin")
        plain.command("plan", "set", "poor@example.org", "--units", "0")
        poor = plain.command("key", "add", "--user", "poor@example.org")["key"]
        password = "correct horse battery"
        subprocess.run([plain.binary, "user", "add", "ada@example.org", "--password-stdin"], env=plain.env, input=password.encode(),
                       capture_output=True, check=True)
        plain.command("box", "grant", plain.box, "ada@example.org", "admin")
        manager = plain.command("key", "add", "--user", "bench@example.org", "--permissions", "search,read,write,manage")["key"]
        certificate = str(tls / "cert.pem")
        wrong = plain.key[:-3] + ("abc" if not plain.key.endswith("abc") else "xyz")
        environment = dict(
            os.environ, SSL_CERT_FILE=certificate, NODE_EXTRA_CA_CERTS=certificate, NO_PROXY="127.0.0.1", QUIRE_PASSWORD=password,
            QUIRE_CLIENT_DOCUMENT=document_server(tls),
            QUIRE_PLACES=json.dumps({
                "plain": place(plain), "manager": place(plain, manager), "wrong_key": place(plain, wrong), "exhausted": place(plain, poor),
                "limited": place(limited), "breaking": place(breaking), "unknown_box": "box_" + "0" * 32}))
        sys.exit(run(environment))
    finally:
        for server in servers:
            server.stop()


def run(environment):
    failed, only = [], sys.argv[1:]

    def attempt(name, line, **options):
        """Each has a second try: on a machine that is busy for a moment, a client gives up waiting."""
        for last in (False, True):
            if subprocess.run(line, env=environment, timeout=300, **options).returncode == 0:
                return
            print(f"{name} failed{'' if last else ': once more'}", flush=True)
        failed.append(name)

    for name, package in PYTHON.items():
        if only and name not in only and "python" not in only:
            continue
        python, why = python_client(package)
        print(f"{name}, {package}" if python else f"skipped {name}: {why}", flush=True)
        if python:
            attempt(name, [python, HERE / f"{name}.py"])
    folder, why = (None, "not asked for") if only and "node" not in only else node_clients()
    if folder is None:
        print(f"skipped the Node clients: {why}")
    for name in ("openai_node", "stores_node", "ai_node", "mcp_node") if folder else ():
        print(name, flush=True)
        attempt(name, ["node", f"{name}.mjs"], cwd=folder)
    if folder:
        why = own_node_client(folder)
        print(f"quire_node cannot be built: {why}" if why else "quire_node, ours", flush=True)
        environment["QUIRE_SDK_README"] = str(ROOT / "sdk" / "typescript" / "README.md")
        if why:
            failed.append("quire_node")
        else:
            attempt("quire_node", ["node", "quire_node.mjs"], cwd=folder)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    main()
