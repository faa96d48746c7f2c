"""What the binary is made of, as CycloneDX JSON on standard output: every crate that is compiled into it or builds it, with licence,
checksum and who needs whom. The same lock file gives the same text.

Usage: python deploy/sbom.py [TARGET]
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = "plybook"


def metadata(target):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def needed(nodes, start):
    """Every package that is reached by what is compiled in or compiles: tests' own dependencies are not."""
    found, waiting = {}, [start]
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        ships = lambda dependency: any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])
        found[package] = [dependency["pkg"] for dependency in nodes[package]["deps"] if ships(dependency)]
        waiting += found[package]
    return found


def component(package, checksums):
    made = Component(
        name=package["name"],
        version=package["version"],
        type=ComponentType.APPLICATION if package["name"] == BINARY else ComponentType.LIBRARY,
        bom_ref=f"{package['name']}@{package['version']}",
        purl=PackageURL("cargo", name=package["name"], version=package["version"]) if package["source"] else None,
        description=" ".join((package["description"] or "").split()) or None,
    )
    if package["license"]:
        # Cargo's older notation of a choice.
        made.licenses.add(LicenseFactory().make_from_string(package["license"].replace("/", " OR ")))
    if checksum := checksums.get((package["name"], package["version"])):
        made.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=checksum))
    if package["repository"]:
        made.external_references.add(ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(package["repository"])))
    return made


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "x86_64-unknown-linux-gnu"
    read = metadata(target)
    packages = {package["id"]: package for package in read["packages"]}
    start = next(id for id, package in packages.items() if package["name"] == BINARY)
    graph = needed({node["id"]: node for node in read["resolve"]["nodes"]}, start)
    lock = (ROOT / "Cargo.lock").read_text()
    checksums = {(p["name"], p["version"]): p["checksum"] for p in tomllib.loads(lock)["package"] if "checksum" in p}

    components = {id: component(packages[id], checksums) for id in sorted(graph)}
    bom = Bom(components=[made for id, made in components.items() if id != start])
    bom.metadata.component = components[start]
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), datetime.timezone.utc)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_OID, f"plybook {target}\n{lock}")
    for id, needs in graph.items():
        bom.register_dependency(components[id], [components[need] for need in needs])

    text = JsonV1Dot6(bom).output_as_string(indent=2)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"deploy/sbom: what was made is no CycloneDX: {error}")
    print(text)


if __name__ == "__main__":
    main()
