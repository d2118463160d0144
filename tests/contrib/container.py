# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the packages of contrib/container/Containerfile with debian/control, and its capabilities with README.md. Prints a line for each fault.

  container.py FOLDER CONTROL           compares
  container.py capabilities FOLDER      prints the capabilities of daemonset.yaml, for a run with them alone
"""
import os
import re
import sys

COMPILER = {"gcc", "libc6-dev", "make"}
OF_PACKAGE = {"debhelper-compat", "dh-sequence-installsysusers"}  # for the .deb alone


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def installed(stage):
    """Packages that a stage of the Containerfile installs."""
    words = re.search(r"--no-install-recommends(.*?)(?:&&|\n[A-Z]|\Z)", stage.replace("\\\n", " "), re.S)[1].split()
    return {word for word in words if word != "\\"}


def main():
    if sys.argv[1] == "capabilities":
        print(" ".join(re.findall(r"\"(\w+)\"", re.search(r"add: \[(.*)\]", read(sys.argv[2], "daemonset.yaml"))[1])).lower())
        return
    folder, control = sys.argv[1:]
    build, run = re.split(r"^FROM ", read(folder, "Containerfile"), flags=re.M)[1:]
    depends = re.search(r"^Build-Depends:(.*?)^\S", read(control), re.M | re.S)[1]
    wanted = {re.sub(r"\s*\(.*", "", one).strip() for one in depends.split(",")} - OF_PACKAGE - {""}
    for name in sorted((wanted | COMPILER) ^ installed(build)):
        print(f"{name} is in one of debian/control and the build stage only")
    libraries = installed(run)
    for name in sorted(wanted):
        found = [one for one in libraries if re.fullmatch("(?:lib)?" + re.escape(name.removesuffix("-dev")) + r"-?\d+(t64)?", one)]
        if len(found) != 1:
            print(f"{name} has not one library in the last stage: {found}")
        libraries -= set(found)
    for name in sorted(libraries):
        print(f"{name} is in the last stage, and its -dev package is not in debian/control")
    image = f"rant:{re.search('RANT_VERSION .([^ ]*?).(?: |$)', read(os.path.dirname(control) or '.', '..', 'rant.h'), re.M)[1]}"
    for name in ("daemonset.yaml", "README.md"):
        if image not in read(folder, name):
            print(f"{name} does not name the image {image}")
    for name in re.findall(r"\"(\w+)\"", re.search(r"add: \[(.*)\]", read(folder, "daemonset.yaml"))[1]):
        if f"| `{name}` |" not in read(folder, "README.md"):
            print(f"README.md does not explain {name}")


main()
