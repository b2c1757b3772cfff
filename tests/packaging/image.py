"""Reads an OCI image as a container engine would: every digest, size and media type is checked, then the layers are unpacked."""

import gzip
import hashlib
import json
import re
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
    follows_specification(image)
    place.settings = dict(line.split("=", 1) for line in image["config"]["Env"])
    return image["config"]


# The fields of an image configuration in the OCI image specification 1.1, with what each must be.
DIGEST, MOMENT = r"sha256:[0-9a-f]{64}", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
TOP = {"created": str, "author": str, "architecture": str, "variant": str, "os": str, "os.version": str, "os.features": list,
       "config": dict, "rootfs": dict, "history": list}
# `Healthcheck` is Docker's; the specification reserves the name.
CONFIG = {"User": str, "ExposedPorts": dict, "Env": list, "Entrypoint": list, "Cmd": list, "Volumes": dict, "WorkingDir": str,
          "Labels": dict, "StopSignal": str, "Healthcheck": dict}
HISTORY = {"created": str, "author": str, "created_by": str, "comment": str, "empty_layer": bool}


def follows_specification(image):
    """The rules of the specification's chapter on the image configuration."""
    def fields(value, allowed):
        for name, content in value.items():
            assert name in allowed and isinstance(content, allowed[name]), f"{name} is not a field of the specification"

    fields(image, TOP)
    assert {"architecture", "os", "rootfs"} <= image.keys()
    assert image["architecture"] in ("amd64", "arm64") and image["os"] == "linux", "not a GOARCH and GOOS"
    assert re.fullmatch(MOMENT, image["created"]), "not RFC 3339"
    assert image["rootfs"].keys() == {"type", "diff_ids"} and image["rootfs"]["type"] == "layers"
    assert all(re.fullmatch(DIGEST, digest) for digest in image["rootfs"]["diff_ids"])
    config = image["config"]
    fields(config, CONFIG)
    for name in ("Env", "Entrypoint", "Cmd"):
        assert all(isinstance(text, str) for text in config[name])
    assert all(re.fullmatch(r"[^=]+=.*", setting) for setting in config["Env"]), "Env holds NAME=VALUE"
    assert re.fullmatch(r"\d+(:\d+)?", config["User"]) and config["WorkingDir"].startswith("/")
    assert all(value == {} for name in ("ExposedPorts", "Volumes") for value in config[name].values()), "sets are objects with empty values"
    assert all(re.fullmatch(r"\d+(/(tcp|udp))?", port) for port in config["ExposedPorts"])
    assert re.fullmatch(r"SIG[A-Z]+", config["StopSignal"])
    assert all(isinstance(text, str) for text in config["Labels"].values())
    for entry in image["history"]:
        fields(entry, HISTORY)
        assert re.fullmatch(MOMENT, entry["created"])


def blob(read, described, kind):
    content = read(f"blobs/{described['digest'].replace(':', '/')}")
    assert described["mediaType"] == KIND + kind, f"{described['mediaType']} is not {kind}"
    assert len(content) == described["size"] and digest_of(content) == described["digest"], f"{described['digest']} is something else"
    return content


def digest_of(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
