#!/usr/bin/env python3
"""How much slower are small files? The same abstracts as one file each, and a hundred to a file, one page each.

    bench/ingest/small.py [passages, default 5000] [box language, default english]

From the first upload to the last file being ready, uploads included, in a box of its own each time; four uploads at once."""

import concurrent.futures
import gzip
import json
import pathlib
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import SHARED, Server

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
LANGUAGE = sys.argv[2] if len(sys.argv) > 2 else "english"


def passages():
    with gzip.open(SHARED / "training" / "passages.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [" ".join(json.loads(line)["text"].split()) for line in file]
    texts = [text for text in dict.fromkeys(texts) if 500 < len(text) < 1000]
    return texts[:: max(1, len(texts) // COUNT)][:COUNT]


def rate(server, name, files):
    """Passages a second, and processor seconds of the server for each thousand."""
    server.box = server.command("box", "add", name, "--owner", "bench@example.org", "--language", LANGUAGE)["boxId"]
    local = threading.local()

    def upload(file):
        if not hasattr(local, "connection"):
            local.connection = server.connect()
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}.txt"\r\n\r\n'
        body = f"{head}{file[1]}\r\n--{boundary}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        status, answer = server.ask("POST", f"/boxes/{server.box}/files", body, kind, local.connection)
        assert status in (200, 201), answer

    started, before = time.perf_counter(), server.processor_seconds()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(upload, enumerate(files)))
    read = server.wait_until_read(0.1)
    seconds = time.perf_counter() - started
    chunks = sum(file["chunks"] for file in read)
    assert len(read) == len(files), f"{len(read)} of {len(files)} files"
    taken = server.processor_seconds() - before
    print(f"{name:10} {len(files):5} files, {chunks} passages: {chunks / seconds:6.1f} a second, "
          f"{1000 * taken / chunks:.1f} s of processor for a thousand", flush=True)
    return chunks / seconds


def main():
    texts = passages()
    server = Server().set_up().start()
    with tempfile.NamedTemporaryFile(suffix=".txt") as warm:
        pathlib.Path(warm.name).write_text("warm")
        server.upload(warm.name)
        server.wait_until_read()
    together = ["\f".join(texts[start:start + 100]) for start in range(0, len(texts), 100)]
    large, small = rate(server, "large", together), rate(server, "small", texts)
    print(f"small files come to {small / large:.2f} of the rate of large ones")
    server.stop()


if __name__ == "__main__":
    main()
