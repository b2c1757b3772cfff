#!/usr/bin/env python3
"""How long the picture of a page takes, drawn for the first time and from what is kept.

    cargo build --release -p server
    bench/parsing/pictures.py [--pages 60] [--width 800]

Uploads the PDFs of the handbook set, then asks for pages of them one after the other over one connection, each twice.
"""
import argparse, pathlib, random, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import service


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pages", type=int, default=60)
    options.add_argument("--width", type=int, default=800)
    options = options.parse_args()
    files = sorted((service.SHARED / "quality/handbook").glob("*.pdf"))
    if not files:
        sys.exit(f"skipped: no data at {service.SHARED}")
    server = service.Server().set_up().start()
    try:
        pages = []
        for file in files:
            _, answer = server.upload(file)
            id = answer["data"]["fileId"]
            while not (record := server.ask("GET", f"/files/{id}")[1]["data"])["status"].startswith("ready"):
                time.sleep(0.5)
            pages += [(id, number) for number in range(1, record["pageCount"] + 1)]
        connection = server.connect()

        def draw(id, number):
            start = time.perf_counter()
            connection.request("GET", f"/api/public/v1/files/{id}/pages/{number}/image?width={options.width}",
                               headers={"Authorization": f"Bearer {server.key}"})
            answer = connection.getresponse()
            length = len(answer.read())
            assert answer.status == 200 and length > 1000, answer.status
            return (time.perf_counter() - start) * 1e3

        sample = random.Random(20).sample(pages, min(options.pages, len(pages)))
        for name in ("cold", "cached"):
            took = sorted(draw(*page) for page in sample)
            at = lambda share: took[min(len(took) - 1, int(share * len(took)))]
            print(f"{name:6}  p50 {at(0.5):7.1f} ms  p95 {at(0.95):7.1f} ms  ({len(took)} pages, {options.width} pixels wide)")
    finally:
        server.stop()


main()
