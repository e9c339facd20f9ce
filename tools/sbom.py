#!/usr/bin/env python3
"""What is inside a tarball: sbom.py BUILD TREE ARCHITECTURE. Writes share/doc/redoubt/sbom.spdx.json (SPDX 2.3) and share/doc/redoubt/licences/ below
TREE. The list of what was linked in comes from the build (generated/bundled.txt), versions and licences from Debian's packages."""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

# By source package: SPDX's names of the licences under which the parts that are linked in stand, as Debian's copyright files give them.
LICENCES = {
    "sqlite3": "blessing",
    "jansson": "MIT",
    "libinih": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause",
    "lz4": "BSD-2-Clause",
    "xxhash": "BSD-2-Clause",
    "libpng1.6": "libpng-2.0",
    "zlib": "Zlib",
    "libiberty": "LGPL-2.0-or-later",
    "vega.js": "BSD-3-Clause",
}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def package_of(path):
    """name, source, version, copyright file of the Debian package that a file or folder comes from; a folder may say it itself, in PACKAGE."""
    note = os.path.join(path, "PACKAGE")
    if os.path.isfile(note):
        name, source, version = open(note).read().split()
        return name, source, version, os.path.join(path, "copyright")
    place = path if os.path.isfile(path) else sorted(glob.glob(path + "/*.js"))[0]
    name = run("dpkg", "-S", place).splitlines()[0].rsplit(": ", 1)[0]
    source, version = run("dpkg-query", "-W", "-f=${source:Package} ${Version}", name).split()
    return name.split(":")[0], source, version, f"/usr/share/doc/{name.split(':')[0]}/copyright"


def bundled(build):
    """source -> (package, version, copyright, archives)"""
    found = {}
    for path in sorted(set(open(os.path.join(build, "generated/bundled.txt")).read().split())):
        if os.path.isdir(path) and not glob.glob(path + "/*.js"):
            continue  # built without Vega
        name, source, version, text = package_of(os.path.realpath(path))
        if source not in LICENCES:
            sys.exit(f"sbom.py: {path} comes from the package {source}, whose licence is not in this script's table")
        entry = found.setdefault(source, (name, version, text, []))
        entry[3].append(path)
    return found


def main():
    build, tree, architecture = sys.argv[1:]
    cache = open(os.path.join(build, "CMakeCache.txt")).read()
    version = re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.*)$", cache, re.M).group(1)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or os.stat(os.path.join(os.path.dirname(__file__), "../CHANGELOG.md")).st_mtime)
    docs = os.path.join(tree, "share/doc/redoubt")
    os.makedirs(os.path.join(docs, "licences"), exist_ok=True)
    packages = [{
        "SPDXID": "SPDXRef-redoubt", "name": "redoubt", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "The Redoubt developers", "primaryPackagePurpose": "APPLICATION",
    }]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relatedSpdxElement": "SPDXRef-redoubt", "relationshipType": "DESCRIBES"}]
    for source, (name, number, text, archives) in sorted(bundled(build).items()):
        identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", source)
        shutil.copyfile(text, os.path.join(docs, "licences", source + ".txt"))
        comment = "; ".join(f"{os.path.basename(path)} sha256 {digest(path)}" for path in archives if os.path.isfile(path))
        packages.append({
            "SPDXID": identity, "name": source, "versionInfo": number, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": LICENCES[source], "licenseDeclared": LICENCES[source], "copyrightText": f"see licences/{source}.txt",
            "supplier": "Organization: Debian", "primaryPackagePurpose": "LIBRARY", **({"comment": comment} if comment else {}),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:deb/debian/{name}@{number.replace('+', '%2B').replace(':', '%3A')}"}],
        })
        kind = "STATIC_LINK" if comment else "CONTAINS"
        relations.append({"spdxElementId": "SPDXRef-redoubt", "relatedSpdxElement": identity, "relationshipType": kind})
    body = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"redoubt-{version}-linux-{architecture}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "creators": ["Tool: redoubt-sbom"]},
        "packages": packages, "relationships": relations,
    }
    key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]
    body["documentNamespace"] = f"https://spdx.org/spdxdocs/redoubt-{version}-linux-{architecture}-{key}"
    with open(os.path.join(docs, "sbom.spdx.json"), "w") as file:
        json.dump(body, file, indent=1, sort_keys=True)
        file.write("\n")


main()
