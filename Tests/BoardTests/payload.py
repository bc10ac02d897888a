"""What the board gets to test: a disk of its own, with the packages and the guest's programs."""

import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
COMPILERS = {"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}


def make(arch, packages, folder):
    """The path of an ext4 image: debs/*.deb, app, newer.deb."""
    content, image = Path(folder) / "payload", Path(folder) / "payload.img"
    shutil.rmtree(content, ignore_errors=True)
    (content / "debs").mkdir(parents=True)
    for package in packages:
        shutil.copy(package, content / "debs")
    newer(next(path for path in packages if path.name.startswith("curfew_")), content, folder)
    clients = REPOSITORY / "Sources/Clients/c"
    subprocess.run(
        [COMPILERS[arch], "-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-I", clients,
         Path(__file__).parent / "guest/app.c", clients / "curfew.c", "-o", content / "app"], check=True)
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", content, image], check=True)
    return image


def newer(package, content, folder):
    """The same package with a higher version; the board would take minutes to make it."""
    tree = Path(folder) / "newer"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    lines = [line + "+next" if line.startswith("Version: ") else line for line in control.read_text().splitlines()]
    control.write_text("\n".join(lines) + "\n")
    subprocess.run(
        ["dpkg-deb", "-Zgzip", "-z1", "-b", tree, content / "newer.deb"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)


def packages_in(folder, arch):
    """The packages of that architecture, and those of all."""
    found = [path for path in sorted(Path(folder).glob("*.deb")) if path.stem.endswith((f"_{arch}", "_all"))]
    return [path for path in found if not path.name.startswith("libcurfew-dev") and "-dbgsym" not in path.name]
