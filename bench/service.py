"""A quire server of a measurement's own: started, killed and asked over HTTPS. Standard library only."""

import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("QUIRE_SHARED", ROOT.parent / "shared")) / "data"
# The ways to search, stage by stage.
WAYS = {
    "keyword": {"mode": "keyword", "rerank": False},
    "semantic": {"mode": "semantic", "rerank": False},
    "hybrid": {"mode": "hybrid", "rerank": False},
    "reranked": {"mode": "hybrid", "rerank": True},
}


class Server:
    def __init__(self, data=None, env=None):
        self.binary = pathlib.Path(os.environ.get("QUIRE_BINARY", ROOT / "target" / "release" / "quire"))
        if not self.binary.exists():
            raise SystemExit("build it first: cargo build --release -p server")
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="quire-bench-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.env = os.environ | {
            "QUIRE_DATA": str(self.data), "QUIRE__HTTP__METRICS_LISTEN": "", "QUIRE__LOG__LEVEL": "error",
            "QUIRE__LIMITS__KEY_REQUESTS": "1000000000", "QUIRE__LIMITS__USER_REQUESTS": "1000000000",
            "QUIRE__UNITS__MONTHLY": "1000000000"} | (env or {})
        self.process = None
        self.context = None

    def command(self, *line):
        output = subprocess.run([self.binary, *line, "--json"], env=self.env, capture_output=True, check=True)
        return json.loads(output.stdout)

    def set_up(self):
        self.command("user", "add", "bench@example.org")
        self.box = self.command("box", "add", "Bench", "--owner", "bench@example.org")["boxId"]
        self.key = self.command("key", "add", "--user", "bench@example.org")["key"]
        return self

    def start(self):
        line = [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(line, env=self.env, stdout=subprocess.PIPE)
        while b"listening" not in self.process.stdout.readline():
            if self.process.poll() is not None:
                raise SystemExit("the server did not start")
        self.context = ssl.create_default_context(cafile=self.data / "tls" / "cert.pem")
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def ask(self, method, path, body=None, headers=None, connection=None):
        connection = connection or self.connect()
        headers = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        connection.request(method, f"/api/public/v1{path}", body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def post(self, path, value):
        return self.ask("POST", path, json.dumps(value), {"Content-Type": "application/json"})

    def upload(self, path, name=None):
        boundary = uuid.uuid4().hex
        head = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; "
                f"filename=\"{name or pathlib.Path(path).name}\"\r\n\r\n").encode()
        body = head + pathlib.Path(path).read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        return self.ask("POST", f"/boxes/{self.box}/files", body,
                        {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def files(self):
        found, cursor = [], ""
        while True:
            _, answer = self.ask("GET", f"/boxes/{self.box}/files?limit=200&sort=name{cursor}")
            found += answer["data"]["files"]
            if not answer["data"]["has_more"]:
                return found
            cursor = "&cursor=" + answer["data"]["next_cursor"]

    def wait_until_read(self, pause=0.3):
        while self.ask("GET", f"/boxes/{self.box}/files?limit=1&status=queued,processing")[1]["data"]["total"]:
            time.sleep(pause)
        return self.files()

    def pages(self, file):
        status, answer = self.post(f"/boxes/{self.box}/retrieve-full-documents", {"sources": [file]})
        return [page["text"] for page in answer["data"]["documents"][0]["pages"]] if status == 200 else None

    def memory_kb(self, field="VmRSS"):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(field + ":"):
                return int(line.split()[1])

    def processor_seconds(self):
        """Processor time of the server and of its children that have ended."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def children(pid):
    """Process ids below `pid`."""
    try:
        direct = open(f"/proc/{pid}/task/{pid}/children").read().split()
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found = set(direct)
    for task in tasks:
        try:
            found.update(open(f"/proc/{pid}/task/{task}/children").read().split())
        except OSError:
            pass
    return [int(child) for child in found]


def text_pdf(pages, lines=60):
    """A plain text PDF of so many pages, written by hand."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", None, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in range(pages):
        words = [f"Page {page + 1} line {line + 1}: the quick brown fox jumps over the lazy dog {page * line}"
                 for line in range(lines)]
        stream = "BT /F1 9 Tf 50 780 Td 12 TL " + " ".join(f"({w}) '" for w in words) + " ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream".encode())
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
                       f"/Resources << /Font << /F1 3 0 R >> >> >>".encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {pages} /Kids [{' '.join(kids)}] >>".encode()
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)
