"""The bill of materials, CycloneDX 1.5: every crate and every model inside the executable, with licence and checksum."""

import hashlib
import json
import subprocess
import time
import tomllib
import urllib.parse
import uuid

import release

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def build(made):
    target = made.out / f"quire-{made.version}-{made.machine['rust']}.cdx.json"
    target.write_text(json.dumps(document(made), indent=1, sort_keys=True) + "\n")
    return [target]


def document(made):
    # A static executable is linked with musl, and then has an allocator of its own.
    packages, edges, root = crates(f"{made.machine['rust']}-unknown-linux-{'musl' if made.executable.static else 'gnu'}")
    checksums = {(entry["name"], entry["version"]): entry.get("checksum")
                 for entry in tomllib.loads(made.text("Cargo.lock").decode())["package"]}
    components = [component(package, checksums) for name, package in sorted(packages.items()) if name != root] + models()
    reference = {name: purl(package) for name, package in packages.items()}
    program = {"type": "application", "bom-ref": f"pkg:generic/quire@{made.version}", "name": "quire", "version": made.version,
               "licenses": [{"expression": "Apache-2.0"}], "hashes": sha256(made.binary())}
    reference[root] = program["bom-ref"]
    contents = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made.epoch)), "component": program},
        "components": components,
        "dependencies": [{"ref": reference[name], "dependsOn": sorted({reference[other] for other in others})} for name, others in sorted(edges.items())],
    }
    # A name for this document that two builds of the same release share.
    contents["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(contents, sort_keys=True))}"
    return contents


def crates(target):
    """What is compiled into the program for that target, who needs whom, and the id of the program's own crate.

    Tests' crates and those that only run while building are no part of it."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    told = json.loads(subprocess.run(command, cwd=release.ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    root = next(name for name, package in packages.items() if package["name"] == "server" and not package["source"])
    linked = {node["id"]: [dependency["pkg"] for dependency in node["deps"] if any(kind["kind"] is None for kind in dependency["dep_kinds"])]
              for node in told["resolve"]["nodes"]}
    edges, waiting = {}, [root]
    while waiting:
        name = waiting.pop()
        if name not in edges:
            edges[name] = linked[name]
            waiting += linked[name]
    return {name: packages[name] for name in edges}, edges, root


def component(package, checksums):
    described = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"], "purl": purl(package)}
    if package["license"]:
        # Cargo still allows "MIT/Apache-2.0", which SPDX writes with OR.
        described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := checksums.get((package["name"], package["version"])):
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return described


def purl(package):
    if package["source"] in (None, REGISTRY):
        return f"pkg:cargo/{package['name']}@{package['version']}"
    return f"pkg:cargo/{package['name']}@{package['version']}?vcs_url={urllib.parse.quote(package['source'], safe='')}"


def models():
    """The weights that the program carries."""
    return [{"type": "machine-learning-model", "bom-ref": f"models/{path.relative_to(release.ROOT / 'models')}", "name": name,
             "licenses": [{"expression": "Apache-2.0"}], "hashes": sha256(path.read_bytes())}
            for path in sorted((release.ROOT / "models").rglob("*")) if path.suffix in (".safetensors", ".f16") and "fetched" not in path.parts
            for name in [f"{path.parent.name}-{path.stem}" if path.suffix == ".f16" else path.parent.name if path.stem == "model" else path.stem]]


def sha256(content):
    return [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
