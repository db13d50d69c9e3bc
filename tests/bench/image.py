"""Builds the Dockerfile and asks the site in the image for a few pages, as root and without a daemon: `python -m tests.bench.image`.

It needs buildah and debootstrap, and the package indices the Dockerfile needs; no registry of images. Stand-ins take the place of the base images: a small
Debian with its Python, called python:3.11-slim, and the same with this machine's Node.js, called node:22-slim. So a step that no longer passes is found; what
the true base images do otherwise is not.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hosting.servers import free_port

ROOT = Path(__file__).parent.parent.parent
BUILDAH = ("buildah", "--storage-driver", "vfs")
PYTHON = "python3.11,python3.11-venv,python3-pip,ca-certificates"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
TRUST = " ".join(f"{name}={CERTIFICATES}" for name in ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS"))
ASKED = """
import os, time, urllib.error, urllib.request
for path in ("/readyz", "/widgets/online-softmax", "/lessons/online-softmax", "/figures/merge.png", "/static/vendor/plotly.js"):
    for turn in range(60):
        try:
            answer = urllib.request.urlopen(f"http://127.0.0.1:{os.environ['TILEWISE_PORT']}{path}", timeout=10)
            break
        except urllib.error.HTTPError:
            raise
        except OSError:  # it has not started yet
            time.sleep(1)
    print(answer.status, len(answer.read()), path)
"""


def run(*command: str, **more: object) -> None:
    print("+", *command[:8], flush=True)
    subprocess.run(command, check=True, **more)  # type: ignore[call-overload]


def debian(folder: Path) -> None:
    """A small Debian with Python, which may install packages for all, as the true image may."""
    run("debootstrap", "--variant=minbase", f"--include={PYTHON}", "bookworm", str(folder), stdout=subprocess.DEVNULL)
    (folder / "usr/lib/python3.11/EXTERNALLY-MANAGED").unlink()
    for name, is_ in (("python", "python3.11"), ("pip", "pip3")):
        (folder / "usr/local/bin" / name).symlink_to(f"/usr/bin/{is_}")
    shutil.copy(os.environ.get("SSL_CERT_FILE", CERTIFICATES), f"{folder}{CERTIFICATES}")  # a network may have a signer of its own


def with_node(folder: Path) -> None:
    """This machine's Node.js with npm and the libraries it is linked with."""
    node = Path(shutil.which("node") or "/usr/bin/node").resolve()
    npm = Path(shutil.which("npm") or "/usr/bin/npm").resolve().parent.parent
    shutil.copy(node, folder / "usr/local/bin/node")
    shutil.copytree(npm, folder / "usr/local/lib/npm", symlinks=True)
    (folder / "usr/local/bin/npm").symlink_to("/usr/local/lib/npm/bin/npm-cli.js")
    linked = subprocess.run(["ldd", str(node)], check=True, capture_output=True, text=True).stdout
    for library in (line.split("=>")[1].split()[0] for line in linked.splitlines() if "=> /" in line):
        if not (folder / library.lstrip("/")).exists():
            shutil.copy(library, folder / "usr/lib/x86_64-linux-gnu")


def main() -> None:
    missing = [name for name in ("buildah", "debootstrap", "node", "npm") if shutil.which(name) is None]
    if missing or os.geteuid():
        raise SystemExit(f"as root, with {', '.join(missing) or 'all programs there'}: apt-get install buildah debootstrap nodejs npm")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        base, stores = Path(place, "base"), ("--root", f"{place}/images", "--runroot", f"{place}/run")
        build = (*BUILDAH, *stores)
        debian(base)
        for name in ("python:3.11-slim", "node:22-slim"):
            if "node" in name:
                with_node(base)
            (Path(place) / "Base").write_text(f"FROM scratch\nCOPY base /\nENV {TRUST}\n")
            run(*build, "bud", "--isolation", "chroot", "--file", f"{place}/Base", "--tag", name, place)
        passed = [f"--env={name}={os.environ[name]}" for name in os.environ if name.lower() in ("https_proxy", "http_proxy", "no_proxy")]
        run(*build, "bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--tag", "tilewise", *passed, str(ROOT))
        made = subprocess.run([*build, "from", "--pull-never", "tilewise"], check=True, capture_output=True, text=True).stdout.strip()
        inner = (*build, "run", "--isolation", "chroot", made, "--", "sh", "-c")
        run(
            *inner,
            f'export TILEWISE_PORT={free_port()}; id -u; python -m app & site=$!; python -c "$0"; status=$?; kill $site; wait; exit $status',
            ASKED,
        )
        run(*build, "rm", made, stdout=subprocess.DEVNULL)
    print("the image builds, and its site answers", file=sys.stderr)


if __name__ == "__main__":
    main()
