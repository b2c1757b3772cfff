"""The container image, as an OCI layout in a tar that `podman load`, `docker load` and `skopeo` read. No container tool is needed to make it.

Two layers: a root file system, and the program. The root file system is a minimal Debian with the helpers for scanned pages
where mmdebstrap can make one, or else just the shared libraries that the program needs. deploy/Containerfile builds the same image from
source where podman or docker and the network are at hand."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import archive
import release

SUITE = "trixie"
# The same helpers as in deploy/Containerfile.
HELPERS = "ca-certificates,poppler-utils"
# The user that deploy/Containerfile and the chart use.
USER = 10001
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def build(made):
    # The base layer is a root file system with its libraries, the second one the program and its data folder.
    base, described = base_layer(made)
    program = archive.tar({"usr/local/bin/quire": (made.binary(), 0o755), "data": (None, 0o700)}, made.epoch, {"data": USER})
    blobs = {}
    layers = [store(blobs, made.compressed(layer), "layer.v1.tar+gzip") for layer in (base, program)]
    config = store(blobs, encode(configuration(made, [base, program], described)), "config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": media("manifest.v1+json"), "config": config, "layers": layers}
    entry = store(blobs, encode(manifest), "manifest.v1+json")
    entry |= {"platform": {"architecture": made.machine["oci"], "os": "linux"},
              "annotations": {"org.opencontainers.image.ref.name": made.version, "io.containerd.image.name": f"docker.io/library/quire:{made.version}"}}
    files = {f"blobs/sha256/{digest}": (content, 0o644) for digest, content in blobs.items()}
    files["oci-layout"] = (encode({"imageLayoutVersion": "1.0.0"}), 0o644)
    files["index.json"] = (encode({"schemaVersion": 2, "mediaType": media("index.v1+json"), "manifests": [entry]}), 0o644)
    target = made.out / f"quire-{made.version}-{made.machine['oci']}.oci.tar"
    target.write_bytes(archive.tar(files, made.epoch))
    return [target]


def configuration(made, layers, described):
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made.epoch))
    return {
        "created": moment,
        "architecture": made.machine["oci"],
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "QUIRE_DATA=/data", "QUIRE__HTTP__LISTEN=0.0.0.0:8443", "QUIRE__LOG__FORMAT=json"],
            "Entrypoint": ["/usr/local/bin/quire"],
            "Cmd": ["serve"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "ExposedPorts": {"8443/tcp": {}},
            "StopSignal": "SIGTERM",
            # Docker reads this; OCI itself knows no health check, so the label says it to people and other tools.
            "Healthcheck": {"Test": ["CMD", "/usr/local/bin/quire", "doctor"], "Interval": 30 * 10**9, "Timeout": 20 * 10**9},
            "Labels": {
                "org.opencontainers.image.title": "quire",
                "org.opencontainers.image.description": release.SUMMARY,
                "org.opencontainers.image.version": made.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
                "quire.healthcheck": "GET https://:8443/readyz, or run: quire doctor",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]},
        "history": [{"created": moment, "created_by": described}, {"created": moment, "created_by": f"quire {made.version}"}],
    }


def base_layer(made):
    """The tar of the root file system, and what it is."""
    if made.rootfs == "libraries":
        return libraries(made), "the shared libraries of the program"
    if made.rootfs not in ("auto", "debian"):
        return pathlib.Path(made.rootfs).read_bytes(), f"root file system {pathlib.Path(made.rootfs).name}"
    if shutil.which("mmdebstrap"):
        return debian(made), f"Debian {SUITE} with {HELPERS}"
    if made.rootfs == "debian":
        raise SystemExit("a Debian image is made by mmdebstrap, which is not installed")
    print("oci: mmdebstrap is not installed, so the image has only the libraries that the program needs: no OCR of scanned pages")
    return libraries(made), "the shared libraries of the program"


def debian(made):
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "rootfs.tar"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--architectures={made.machine['debian']}", f"--include={HELPERS}",
                        SUITE, target], check=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(made.epoch)})
        return target.read_bytes()


def libraries(made):
    """The loader and libraries as this machine has them, where the program will look for them."""
    files = {"tmp": (None, 0o1777), "etc/passwd": (f"quire:x:{USER}:{USER}::/data:/usr/sbin/nologin\n".encode(), 0o644),
             "etc/nsswitch.conf": (b"hosts: files dns\n", 0o644)}
    if (pathlib.Path("/") / CERTIFICATES).exists():
        files[CERTIFICATES] = ((pathlib.Path("/") / CERTIFICATES).read_bytes(), 0o644)
    if not made.executable.static:
        listed = subprocess.run(["ldd", made.executable.path.resolve()], check=True, capture_output=True, text=True).stdout
        for path in re.findall(r"(/\S+) \(0x", listed):
            files[path.lstrip("/")] = (pathlib.Path(path).read_bytes(), 0o755)
    return archive.tar(files, made.epoch)


def store(blobs, content, kind):
    digest = hashlib.sha256(content).hexdigest()
    blobs[digest] = content
    return {"mediaType": media(kind), "digest": f"sha256:{digest}", "size": len(content)}


def media(kind):
    return f"application/vnd.oci.image.{kind}"


def encode(value):
    return json.dumps(value, sort_keys=True).encode()
