#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Describes a release beside its tarball:

    sbom.py TARBALL COMMIT SECONDS

TARBALL.spdx.json (SPDX 2.3) has the parts of the source with their licences, by debian/copyright,
and the libraries that the build can use, by the files meson.build. TARBALL.provenance.json (an
in-toto statement with SLSA's predicate) has the commit that it was made of. SECONDS is the time of
the commit: equal input gives equal files.
"""
import hashlib
import json
import os
import re
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def source_parts():
    """Parts of the source: patterns of files, holders of rights, licence."""
    for paragraph in read("debian", "copyright").split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): *((?:.*)(?:\n .*)*)", paragraph, re.M))
        if "Files" in fields:
            yield (fields["Files"].split(),
                   re.sub(r"\s*\n\s*", "; ", fields["Copyright"].strip()),
                   fields["License"].splitlines()[0].strip())


def libraries():
    """Names that the files meson.build give to dependency()."""
    names = set()
    for path in ("meson.build", "lib/meson.build", "tools/meson.build"):
        names |= set(re.findall(r"\bdependency\('([^']+)'", read(path)))
    return sorted(names - {"threads"})


def package(name, licence, **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name), "name": name,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, **more}


def describe(tarball, digest, created):
    version = re.search(r"version: '([^']*)'", read("meson.build"))[1]
    main = package("perfmon", "MIT AND BSD-3-Clause AND Apache-2.0", versionInfo=version,
                   packageFileName=os.path.basename(tarball), copyrightText="The perfmon authors",
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    packages, relations = [main], [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"])]
    for files, holders, licence in source_parts():
        if files != ["*"]:
            part = package("perfmon " + files[0], licence, copyrightText=holders,
                           comment="files: " + " ".join(files))
            packages.append(part)
            relations.append((main["SPDXID"], "CONTAINS", part["SPDXID"]))
    for name in libraries():
        part = package(name, "NOASSERTION", copyrightText="NOASSERTION")
        packages.append(part)
        relations.append((part["SPDXID"], "OPTIONAL_DEPENDENCY_OF", main["SPDXID"]))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": os.path.basename(tarball),
            "documentNamespace": "urn:sha256:" + digest,
            "creationInfo": {"created": created, "creators": ["Tool: scripts/sbom.py"]},
            "packages": packages,
            "relationships": [{"spdxElementId": a, "relationshipType": kind,
                               "relatedSpdxElement": b} for a, kind, b in relations]}


def provenance(tarball, digest, commit):
    return {"_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": os.path.basename(tarball), "digest": {"sha256": digest}}],
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {
                "buildDefinition": {
                    "buildType": "urn:perfmon:scripts/release.sh", "externalParameters": {},
                    "resolvedDependencies": [{"digest": {"gitCommit": commit}}]},
                "runDetails": {"builder": {"id": "urn:perfmon:maintainer"}}}}


def main(tarball, commit, seconds):
    with open(tarball, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
    for kind, content in (("spdx", describe(tarball, digest, created)),
                          ("provenance", provenance(tarball, digest, commit))):
        with open(f"{tarball}.{kind}.json", "w", encoding="utf-8") as f:
            json.dump(content, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: sbom.py TARBALL COMMIT SECONDS")
    main(*sys.argv[1:])
