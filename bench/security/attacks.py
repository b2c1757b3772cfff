"""Hostile requests, one function a kind. Each makes one bounded round and returns what it was answered, in a word.

Everything goes to 127.0.0.1, from addresses of its own (127.66.0.x), so that what is counted by address counts against the
attacker. Standard library only.
"""

import html
import http.client
import json
import os
import pathlib
import random
import re
import socket
import ssl
import struct
import time
import urllib.parse
import uuid

# Seconds that an attacker waits for an answer before it gives up; more than any deadline should take.
PATIENCE = 40
BASE = "/api/public/v1"


class Attacker:
    """Somebody with a key and a box of their own, a revoked key, and the worst intentions."""

    def __init__(self, server, address, box, key, revoked_key, hostile_files):
        self.server, self.address, self.box, self.key, self.revoked_key = server, address, box, key, revoked_key
        self.hostile_files, self.file = hostile_files, None
        self.stop = False

    def raw(self):
        """A TLS connection."""
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE, source_address=(self.address, 0))
        return self.server.context.wrap_socket(connection, server_hostname="127.0.0.1")

    def ask(self, method, path, body=None, headers=None, key="own"):
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=self.server.context, timeout=PATIENCE,
                                                 source_address=(self.address, 0))
        headers = dict(headers or {})
        if key:
            headers["Authorization"] = f"Bearer {self.key if key == 'own' else key}"
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def post(self, path, text, headers=None):
        return self.ask("POST", BASE + path, text, {"Content-Type": "application/json", **(headers or {})})[0]

    def upload(self, name, content, extra=b""):
        boundary = uuid.uuid4().hex
        body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n".encode() + content
                + b"\r\n" + extra.replace(b"BOUNDARY", boundary.encode()) + f"--{boundary}--\r\n".encode())
        status, answer = self.ask("POST", f"{BASE}/boxes/{self.box}/files", body,
                                  {"Content-Type": f"multipart/form-data; boundary={boundary}"})
        found = json.loads(answer).get("data", {}) if status in (200, 201) else {}
        return status, found.get("fileId")

    def forget(self, file):
        if file:
            self.ask("DELETE", f"{BASE}/files/{file}")

    def head(self, path, length, kind, method="POST"):
        return (f"{method} {BASE}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.key}\r\n"
                f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n").encode()


def first_word(connection):
    """The status of whatever comes back."""
    try:
        line = connection.recv(4096).split(b"\r\n")[0].decode(errors="replace")
        return line.split(" ")[1] if line.startswith("HTTP/") else "closed" if not line else "other"
    except TimeoutError:
        return "no answer"
    except OSError:
        return "closed"


def send_until_refused(connection, pieces):
    """Sends on until the connection is closed, or all is said."""
    try:
        for piece in pieces:
            connection.sendall(piece)
    except OSError:
        pass
    return first_word(connection)


def upload_without_boundary(me):
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/files", 600 << 20, "multipart/form-data; boundary=never"))
        connection.sendall(b"--never\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n")
        return send_until_refused(connection, (b"\r\n--neve" * 8192 for _ in range(200)))


def upload_without_any_boundary(me):
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/files", 600 << 20, "multipart/form-data; boundary=never"))
        return send_until_refused(connection, (b"x" * 65536 for _ in range(200)))


def a_million_parts(me):
    with me.raw() as connection:
        part = b"--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n"
        connection.sendall(me.head(f"/boxes/{me.box}/files", len(part) * 1_000_000, "multipart/form-data; boundary=b"))
        return send_until_refused(connection, (part * 1000 for _ in range(1000)))


def many_tags(me):
    field = b"--BOUNDARY\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\n" + b"t," * 90 + b"\r\n"
    status, file = me.upload("tags.txt", b"words", field * 50)
    me.forget(file)
    return status


def silent_connections(me):
    most = min(300, os.sysconf("SC_OPEN_MAX") // 8)
    held = []
    try:
        for _ in range(most):
            held.append(socket.create_connection(("127.0.0.1", me.server.port), timeout=5, source_address=(me.address, 0)))
        held[0].settimeout(PATIENCE)
        return "closed" if held[0].recv(1) == b"" else "other"
    except TimeoutError:
        return "left open"
    except OSError:
        return "closed"
    finally:
        for connection in held:
            connection.close()


def slow_head(me):
    with me.raw() as connection:
        connection.settimeout(1)
        for byte in b"GET / HTTP/1.1\r\nX: " + b"a" * PATIENCE:
            try:
                connection.sendall(bytes([byte]))
                if connection.recv(1) == b"":
                    return "closed"
                return "answered"
            except TimeoutError:
                continue
            except OSError:
                return "closed"
    return "left open"


def stalled_body(me):
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/retrieve-documents", 1000, "application/json") + b'{"query": "wa')
        return first_word(connection)


def stalled_upload(me):
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/files", 100_000, "multipart/form-data; boundary=b") +
                           b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nabc")
        return first_word(connection)


def endless_content_length(me):
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/retrieve-documents", 99999999999999, "application/json") + b'{"query": "wa')
        return first_word(connection)


def quadratic_filter(me):
    values = ",".join(str(number) for number in range(90_000))
    return me.post(f"/boxes/{me.box}/retrieve-documents", f'{{"query":"x","dry_run":true,"filter":{{"list":{{"$nin":[{values}]}}}}}}')


def long_metadata(me):
    return me.ask("PATCH", f"{BASE}/files/{me.file}", json.dumps({"metadata": {"list": list(range(70_000))}}),
                  {"Content-Type": "application/json"})[0]


def deep_json(me):
    return me.post(f"/boxes/{me.box}/retrieve-documents", '{"query":"x","filter":' + "[" * 400_000)


def deep_filter(me):
    return me.post(f"/boxes/{me.box}/retrieve-documents", '{"query":"x","filter":' + '{"$and":[' * 100 + "{}" + "]}" * 100 + "}")


def growing_metadata(me):
    value = {"metadata": {f"key{random.randrange(10**9)}": "x" * 4000 for _ in range(10)}}
    return me.ask("PATCH", f"{BASE}/files/{me.file}", json.dumps(value), {"Content-Type": "application/json"})[0]


def bad_keys(me):
    return me.ask("GET", f"{BASE}/boxes", key=f"quire_{uuid.uuid4().hex[:12]}_{uuid.uuid4().hex}")[0]


def revoked_key_in_url(me):
    return me.ask("GET", f"{BASE}/boxes?key={me.revoked_key}", key=None)[0]


def sign_in_guesses(me):
    connection = http.client.HTTPSConnection("127.0.0.1", me.server.port, context=me.server.context, timeout=PATIENCE,
                                             source_address=(me.address, 0))
    try:
        connection.request("GET", "/sign-in")
        page = connection.getresponse()
        cookies = "; ".join(cookie.split(";")[0] for cookie in page.headers.get_all("Set-Cookie") or [])
        token = re.search(r'name="csrf" value="([^"]*)"', page.read().decode())
        email = random.choice(["nobody@example.org", "not an address \u212a", "owner@example.org"])
        form = {"csrf": html.unescape(token[1]) if token else "", "email": email, "password": "guess", "next": "/"}
        connection.request("POST", "/sign-in", urllib.parse.urlencode(form),
                           {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookies})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def hostile_file(me):
    if not me.hostile_files:
        return "no files"
    path = random.choice(me.hostile_files)
    status, file = me.upload(f"{uuid.uuid4().hex}{path.suffix}", path.read_bytes())
    me.forget(file)
    return status


def tall_heading(me):
    page = "<h1>" + "H" * 200_000 + "</h1>" + "".join(f"<h2>{n}</h2><p>{'word ' * 12}{uuid.uuid4().hex}</p>" for n in range(6000))
    status, file = me.upload("tall.html", page.encode())
    if not me.stop:
        time.sleep(10)
    me.forget(file)
    return status


def half_read_document(me):
    body = json.dumps({"sources": [me.file]})
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/retrieve-full-documents", len(body), "application/json") + body.encode())
        word = first_word(connection)
        connection.settimeout(8)
        try:
            connection.recv(1)
            time.sleep(5)
        except OSError:
            pass
        return word


def half_read_answer(me):
    body = json.dumps({"messages": [{"role": "user", "content": "How long is the warranty?"}], "stream": True})
    with me.raw() as connection:
        connection.sendall(me.head(f"/boxes/{me.box}/chat/completions", len(body), "application/json") + body.encode())
        return first_word(connection)


def open_events(me):
    held, words = [], []
    try:
        for _ in range(20):
            connection = me.raw()
            held.append(connection)
            connection.sendall(me.head(f"/boxes/{me.box}/events", 0, "text/plain", "GET"))
            words.append(first_word(connection))
        time.sleep(10)
        return words[-1]
    finally:
        for connection in held:
            connection.close()


def retries(me):
    headers = {"Idempotency-Key": f"again-{random.randrange(20)}"}
    return me.post(f"/boxes/{me.box}/retrieve-documents", '{"query":"warranty"}', headers)


def large_headers(me):
    with me.raw() as connection:
        return send_until_refused(connection, [b"GET / HTTP/1.1\r\n"] + [b"X-%d: " % n + b"a" * 4000 + b"\r\n" for n in range(400)])


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header of HTTP/2, neither indexed nor compressed."""
    def text(content):
        size, content = len(content), content.encode()
        if size < 127:
            return bytes([size]) + content
        size, out = size - 127, [127]
        while size >= 128:
            out.append(size % 128 + 128)
            size //= 128
        return bytes(out + [size]) + content
    return b"\x00" + text(name) + text(value)


def closed_window(me):
    """HTTP/2: asks for answers and never makes room for one."""
    context = ssl.create_default_context(cafile=me.server.data / "tls" / "cert.pem")
    context.set_alpn_protocols(["h2"])
    plain = socket.create_connection(("127.0.0.1", me.server.port), timeout=PATIENCE, source_address=(me.address, 0))
    with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, 0)))
        for stream in range(1, 40, 2):
            headers = b"".join(literal(*pair) for pair in [
                (":method", "GET"), (":path", f"{BASE}/boxes/{me.box}/files"), (":scheme", "https"), (":authority", "127.0.0.1"),
                ("authorization", f"Bearer {me.key}")])
            connection.sendall(frame(1, 5, stream, headers))
        try:
            while connection.recv(65536):
                pass
        except TimeoutError:
            return "left open"
        except OSError:
            pass
        return "closed"


# Each kind with the seconds between two rounds. Files that take a core to read come seldom: they are allowed to take one.
KINDS = {
    upload_without_boundary: 1, upload_without_any_boundary: 1, a_million_parts: 2, many_tags: 2, silent_connections: 1, slow_head: 1,
    stalled_body: 0.2, stalled_upload: 0.2, endless_content_length: 0.2, quadratic_filter: 1, long_metadata: 1, deep_json: 1,
    deep_filter: 0.5, growing_metadata: 0.5, bad_keys: 0.1, revoked_key_in_url: 0.1, sign_in_guesses: 0.5, hostile_file: 15,
    tall_heading: 20, half_read_document: 0.5, half_read_answer: 2, open_events: 1, retries: 0.5, large_headers: 1, closed_window: 1,
}


def hostile_files(shared):
    """Files up to 20 MB that are hostile to parsers; none where the folder is not there."""
    folder = pathlib.Path(shared) / "hostile"
    return [path for path in sorted(folder.glob("*")) if path.is_file() and path.stat().st_size < 20 << 20] if folder.is_dir() else []
