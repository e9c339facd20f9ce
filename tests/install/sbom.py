#!/usr/bin/env python3
"""The list of what is inside a tarball (SPDX 2.3): sbom.py TREE. It is of the form that the standard asks for, every library that the programs hold is
in it with its licence's text, and none that they do not hold."""
import json
import os
import re
import subprocess
import sys

# A function of each library that Redoubt calls, or a text that its code holds: what shows that it is inside a stripped program.
TRACES = {
    "sqlite3": b"SQLite format 3", "jansson": b"object item(s) left unpacked", "libzstd": b"Unsupported frame parameter", "libpng1.6": b"libpng error: ",
    "zlib": b"incorrect header check", "vega.js": b"vega-dataflow", "libiberty": b"decltype(nullptr)",
}
WITHOUT_TRACE = {"libinih", "lz4", "xxhash"}  # they hold no text


def main():
    tree = sys.argv[1]
    docs = os.path.join(tree, "share/doc/redoubt")
    with open(os.path.join(docs, "sbom.spdx.json")) as file:
        sbom = json.load(file)
    bad = []
    for key, pattern in {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": r"SPDXRef-DOCUMENT", "name": r"redoubt-\d+\.\d+\.\d+-linux-\w+",
                         "documentNamespace": r"https://[^#\s]+"}.items():
        if not re.fullmatch(pattern, sbom.get(key, "")):
            bad.append(f"{key} is {sbom.get(key)}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"]) or not sbom["creationInfo"]["creators"]:
        bad.append("creationInfo")
    identities = [package["SPDXID"] for package in sbom["packages"]] + ["SPDXRef-DOCUMENT"]
    if len(set(identities)) != len(identities) or not all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in identities):
        bad.append("identities")
    related = [one[side] for one in sbom["relationships"] for side in ("spdxElementId", "relatedSpdxElement")]
    if set(related) != set(identities):
        bad.append("relationships do not name every package, or name others")
    for package in sbom["packages"]:
        name = package["name"]
        for key in ("versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
            if not package.get(key):
                bad.append(f"{name} has no {key}")
        if name != "redoubt" and os.path.getsize(os.path.join(docs, "licences", name + ".txt")) < 200:
            bad.append(f"no licence text of {name}")
    listed = {package["name"] for package in sbom["packages"]} - {"redoubt"}
    program = open(os.path.join(tree, "bin/redoubt"), "rb").read()
    inside = {name for name, text in TRACES.items() if text in program} | WITHOUT_TRACE
    if inside != listed:
        bad.append(f"inside are {sorted(inside)}, listed {sorted(listed)}")
    needed = set()
    for folder, _, files in os.walk(tree):
        for path in (os.path.join(folder, one) for one in files):
            if not os.path.islink(path) and open(path, "rb").read(4) == b"\x7fELF":
                said = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
                needed |= set(re.findall(r"NEEDED.*\[(.*?)\]", said))
                if re.search(r"R(UN)?PATH", said):
                    bad.append(f"{path} looks for libraries in a folder")
    libc = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
    if not {one for one in needed if not one.startswith("ld-linux")} <= libc:
        bad.append(f"needed from outside: {sorted(needed)}")
    for line in bad:
        print("sbom: FAILED:", line)
    print(f"sbom: {len(listed)} libraries inside")
    sys.exit(bool(bad))


main()
