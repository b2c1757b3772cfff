"""Three quire nodes on real servers, behind a TCP balancer of our own. Standard library only."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import resource
import selectors
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))
from servers import Postgres, Servers, free_ports, wait_for

BINARY = pathlib.Path(os.environ.get("QUIRE_BINARY", ROOT / "target" / "debug" / "quire"))
# A thousand clients and their balancer in one process take three thousand descriptors.
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
ROOMY = {"QUIRE__LIMITS__KEY_REQUESTS": "1000000000", "QUIRE__LIMITS__USER_REQUESTS": "1000000000", "QUIRE__UNITS__MONTHLY": "1000000000"}


class Balancer:
    """Sends each connection to the next node that takes it."""

    def __init__(self, ports):
        self.ports, self.next, self.open = ports, 0, True
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.open:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        for _ in self.ports:
            self.next += 1
            try:
                node = socket.create_connection(("127.0.0.1", self.ports[self.next % len(self.ports)]), timeout=5)
                break
            except OSError:
                continue
        else:
            client.close()
            return
        node.settimeout(None)
        with client, node, selectors.DefaultSelector() as waiting:
            try:
                for end in (client, node):
                    waiting.register(end, selectors.EVENT_READ)
                while True:
                    for ready in (key.fileobj for key, _ in waiting.select()):
                        data = ready.recv(65536)
                        if not data:
                            return
                        (node if ready is client else client).sendall(data)
            except OSError:
                pass

    def close(self):
        self.open = False
        self.listener.close()


class Node:
    def __init__(self, folder, environment):
        self.data, self.port, self.process, self.binary = folder, free_ports(1)[0], None, BINARY
        self.environment = {**os.environ, "QUIRE_DATA": str(folder), "QUIRE__HTTP__METRICS_LISTEN": "", "QUIRE__LOG__LEVEL": "warn", **environment}

    def start(self):
        log = open(self.data.parent / f"{self.data.name}.log", "ab")
        self.process = subprocess.Popen([self.binary, "serve", "--listen", f"127.0.0.1:{self.port}"], env=self.environment, stdout=subprocess.PIPE, stderr=log)
        log.close()
        while b"listening" not in self.process.stdout.readline():
            if self.process.poll() is not None:
                raise SystemExit(f"a node did not start; see {self.data}.log:\n" + (self.data.parent / f"{self.data.name}.log").read_text()[-2000:])
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def cpu(self):
        """Seconds of CPU so far, of the node and of the children that it waited for."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """An answer that no client should see."""


class Cluster:
    """Nodes, their balancer, and one owner with a box and a key."""

    def __init__(self, servers, nodes=3, postgres=None, replica=None, binary=BINARY, clocks=None, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-cluster-"))
        name = uuid.uuid4().hex[:12]

        def own(url):
            return url + ("&" if "?" in url else "?") + f"schema=cluster_{name}"
        database = own(postgres or servers.postgres.url())
        self.stores = {"QUIRE__CATALOG__URL": database, "QUIRE__INDEX__URL": database, "QUIRE__BLOBS__URL": servers.s3.url(name),
                       "QUIRE__LIMITER__URL": servers.valkey.url(name), "QUIRE__LIMITER__NODES": str(nodes)}
        if replica:
            self.stores["QUIRE__INDEX__READ_URLS"] = own(replica)
        self.environment, self.schema = {**self.stores, **settings}, f"cluster_{name}"
        self.nodes = [Node(self.folder / f"node{number}", self.environment) for number in range(nodes)]
        for node in self.nodes:
            node.binary = binary
        if clocks:
            shifted = self.folder / "clock.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-o", shifted, pathlib.Path(__file__).with_name("clock.c"), "-ldl"], check=True)
            for node, seconds in zip(self.nodes, clocks):
                node.environment |= {"LD_PRELOAD": str(shifted), "QUIRE_TEST_CLOCK_S": str(seconds)}
        self.balancer, self.context, self.retries, self.counting = None, None, 0, threading.Lock()

    def __enter__(self):
        (self.folder / "node0").mkdir()
        self.command("user", "add", "owner@example.org")
        self.box = self.command("box", "add", "Papers", "--owner", "owner@example.org")["boxId"]
        self.key = self.new_key()
        self.start()
        return self

    def start(self):
        self.nodes[0].start()
        # One certificate for all, as behind any balancer that passes TLS on.
        for node in self.nodes[1:]:
            shutil.copytree(self.folder / "node0" / "tls", node.data / "tls", dirs_exist_ok=True)
            node.start()
        self.context = ssl.create_default_context(cafile=self.folder / "node0" / "tls" / "cert.pem")
        self.balancer = Balancer([node.port for node in self.nodes])

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()
        if self.balancer:
            self.balancer.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *line):
        output = subprocess.run([self.nodes[0].binary, *line, "--json"], env={**os.environ, **self.environment, "QUIRE_DATA": str(self.folder / "node0")}, capture_output=True)
        if output.returncode:
            raise SystemExit(f"{line}: {output.stdout.decode()} {output.stderr.decode()}")
        return json.loads(output.stdout)

    def new_key(self):
        return self.command("key", "add", "--user", "owner@example.org")["key"]

    def connect(self, port=None, timeout=60):
        return http.client.HTTPSConnection("127.0.0.1", port or self.balancer.port, context=self.context, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, key=None, port=None, connection=None):
        """One request: status, headers and body as JSON."""
        own = connection or self.connect(port)
        try:
            own.request(method, f"/api/public/v1{path}", body=body, headers={"Authorization": f"Bearer {key or self.key}", **(headers or {})})
            answer = own.getresponse()
            return answer.status, answer.headers, json.loads(answer.read())
        finally:
            if connection is None:
                own.close()

    def ask_patiently(self, method, path, body=None, headers=None, seconds=90):
        """What a client does that retries: goes on while it is told to, or while nobody answers. Everything else than an answer, or
        503 with B1000 and Retry-After, is a failure."""
        until, trouble, wait = time.monotonic() + seconds, 0, 0.2
        while time.monotonic() < until:
            if trouble:
                with self.counting:
                    self.retries += 1
            try:
                status, answered, value = self.ask(method, path, body, headers)
            except (OSError, http.client.HTTPException, ssl.SSLError):
                trouble += 1
                time.sleep(wait)
                continue
            if status == 409 and value["error"]["reason"] == "not_ready":
                return status, value
            if status < 500:
                return status, value
            error = value["error"]
            if error["code"] != "B1000" or status != 503 or "Retry-After" not in answered:
                raise Failed(f"{method} {path}: {status} {error}")
            trouble += 1
            time.sleep(min(float(answered["Retry-After"]), wait * 5))
        raise Failed(f"{method} {path}: no answer within {seconds} s")

    def post(self, path, value, **more):
        return self.ask("POST", path, json.dumps(value), {"Content-Type": "application/json"}, **more)

    def post_patiently(self, path, value):
        return self.ask_patiently("POST", path, json.dumps(value), {"Content-Type": "application/json"})

    def search(self, query, port=None):
        """The files that a search by words finds, through the balancer or at one node."""
        body = {"query": query, "mode": "keyword", "rerank": False}
        status, _, value = self.post(f"/boxes/{self.box}/retrieve-documents", body, port=port)
        if status != 200:
            raise Failed(f"search: {status} {value}")
        return {hit["fileId"] for hit in value["data"]["documents"][0]["documents"]}

    def events(self, port):
        """What a node tells of the box, as it happens: file objects, until the connection ends."""
        connection = self.connect(port)
        connection.request("GET", f"/api/public/v1/boxes/{self.box}/events", headers={"Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        for line in answer:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])

    def upload_patiently(self, name, content):
        boundary = uuid.uuid4().hex
        head = f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        body = head.encode() + content.encode() + f"\r\n--{boundary}--\r\n".encode()
        status, value = self.ask_patiently("POST", f"/boxes/{self.box}/files", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})
        if status not in (200, 201):
            raise Failed(f"upload of {name}: {status} {value}")
        return value["data"]["fileId"]

    def files(self):
        found, cursor = [], ""
        while True:
            _, value = self.ask_patiently("GET", f"/boxes/{self.box}/files?limit=200&sort=name{cursor}")
            found += value["data"]["files"]
            if not value["data"]["has_more"]:
                return found
            cursor = "&cursor=" + value["data"]["next_cursor"]

    def wait_until_read(self, seconds=600):
        def read():
            _, value = self.ask_patiently("GET", f"/boxes/{self.box}/files?limit=1&status=queued,processing")
            return value["data"]["total"] == 0
        wait_for("reading the files", read, seconds)


def at_once(workers, work, items):
    """Runs `work` on all items, so many at a time; gives the results or raises what went wrong."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def document(number):
    """A file with a word that only it has."""
    word = f"zebu{number:05d}q"
    return word, (f"# Report {number}\n\nThe {word} was counted in the year {1900 + number % 120}. " + f"It is report number {number} of many.\n\n" * 3)


class Killer:
    """Kills a random node every few seconds, and starts it again."""

    def __init__(self, cluster, every=4.0):
        self.cluster, self.every, self.kills, self.stopping = cluster, every, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def run(self):
        while not self.stopping.wait(self.every * random.uniform(0.5, 1.5)):
            node = random.choice(self.cluster.nodes)
            node.kill()
            self.kills += 1
            self.stopping.wait(1)
            node.start()

    def enough(self):
        return self.kills >= 3

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
