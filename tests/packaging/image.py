"""Reads an OCI image as a container engine would: every digest, size and media type is checked, then the layers are unpacked."""

import gzip
import hashlib
import json
import tarfile

KIND = "application/vnd.oci.image."


def unpack(archive, place, scratch):
    """Unpacks the image into `place`, gives it the image's environment, and returns the image's configuration."""
    with tarfile.open(archive) as files:
        read = lambda name: files.extractfile(name).read()
        assert json.loads(read("oci-layout")) == {"imageLayoutVersion": "1.0.0"}
        [entry] = json.loads(read("index.json"))["manifests"]
        manifest = json.loads(blob(read, entry, "manifest.v1+json"))
        assert manifest["schemaVersion"] == 2 and manifest["mediaType"] == entry["mediaType"]
        image = json.loads(blob(read, manifest["config"], "config.v1+json"))
        assert (image["os"], image["architecture"]) == (entry["platform"]["os"], entry["platform"]["architecture"])
        assert len(image["rootfs"]["diff_ids"]) == len(manifest["layers"]) == len(image["history"])
        for described, digest in zip(manifest["layers"], image["rootfs"]["diff_ids"]):
            layer = gzip.decompress(blob(read, described, "layer.v1.tar+gzip"))
            assert digest_of(layer) == digest, "a layer is not the one that the configuration names"
            scratch.write_bytes(layer)
            place.unpack(scratch)
        held = {name for name in files.getnames() if name.startswith("blobs/sha256/")}
    named = {described["digest"].replace(":", "/") for described in [entry, manifest["config"], *manifest["layers"]]}
    assert held == {f"blobs/{name}" for name in named}, "blobs that nothing names"
    place.settings = dict(line.split("=", 1) for line in image["config"]["Env"])
    return image["config"]


def blob(read, described, kind):
    content = read(f"blobs/{described['digest'].replace(':', '/')}")
    assert described["mediaType"] == KIND + kind, f"{described['mediaType']} is not {kind}"
    assert len(content) == described["size"] and digest_of(content) == described["digest"], f"{described['digest']} is something else"
    return content


def digest_of(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
