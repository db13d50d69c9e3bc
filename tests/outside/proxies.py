"""The guide's own configuration in the real proxies: its blocks are cut out of the page, and only ports, files and patience are put in."""

import http.client
import re
import socket
import ssl
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent

from tests.hosting.servers import free_port, until

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "templates/guides/hosting.md").read_text()
BLOCKS = re.findall(r"^```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
NAME = "class.example.org"


def block(*said):
    """The one block of the guide that has all of these words."""
    (found,) = (one for one in BLOCKS if all(word in one for word in said))
    return found


def composed():
    """The Caddyfile in compose.yaml, as Compose hands it on where no address is set."""
    found = re.search(r"content: \|\n((?: {6}.*\n|\n)+)", (ROOT / "compose.yaml").read_text())
    return dedent(found.group(1)).replace("${SITE_ADDRESS:-localhost}", "localhost")


def put(text, **changes):
    """A block with other words in place of some of its own, each of which it must have."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


class Proxy:
    """A proxy that listens on `port`, for `name`; a client that trusts whoever signed for it unless `root` says whom to trust."""

    def __init__(self, port, name=NAME, tls=True, root=None):
        self.port, self.name, self.root, self.tls = port, name, root, tls

    def line(self, timeout=30):
        """A connection, through TLS where the proxy speaks it."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        if not self.tls:
            return plain
        context = ssl.create_default_context(cafile=self.root)
        if self.root is None:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            return context.wrap_socket(plain, server_hostname=self.name)
        except BaseException:
            plain.close()
            raise

    def ask(self, path, **headers):
        """The answer's status, headers and body."""
        with closing(self.line()) as line:
            sent = {"Host": self.name, "Connection": "close", **headers}
            line.sendall(
                "".join(
                    [f"GET {path} HTTP/1.1\r\n", *(f"{key.replace('_', '-')}: {value}\r\n" for key, value in sent.items()), "\r\n"]
                ).encode()
            )
            answer = http.client.HTTPResponse(line)
            answer.begin()
            return answer.status, answer.headers, answer.read().decode("utf-8", "replace")

    def answers(self):
        try:
            return self.ask("/healthz")[0] > 0
        except (OSError, http.client.HTTPException):
            return False


@contextmanager
def running(command, proxy, **more):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more) as process:
        try:
            until(lambda: proxy.answers() or process.poll() is not None, "the proxy answers", 60)
            if process.poll() is not None:
                raise AssertionError(process.stdout.read().decode())
            yield proxy
        finally:
            process.terminate()


@contextmanager
def nginx(text, folder, port, tls=True):
    """nginx with this text inside its `http`."""
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n"
        + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + f"{text}\n}}\n"
    )
    with running(["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")], Proxy(port, tls=tls)) as proxy:
        yield proxy


@contextmanager
def caddy(text, folder, name=NAME, own=False, scheme="https"):
    """Caddy with this Caddyfile. It signs for the name itself; `own`: the Caddyfile says so, and the client trusts its root alone."""
    port, plain = free_port(), free_port()
    here = f"admin off\n    http_port {plain}\n    https_port {port}\n    skip_install_trust\n    {'' if own else 'local_certs'}\n"
    text = text.replace("{\n", "{\n    " + here, 1) if text.startswith("{\n") else f"{{\n    {here}}}\n{text}"
    (folder / "Caddyfile").write_text(text)
    root = folder / "data/caddy/pki/authorities/local/root.crt"
    proxy = Proxy(port if scheme == "https" else plain, name, scheme == "https", str(root) if own else None)
    places = {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder),
        "PATH": "/usr/bin:/bin:/usr/local/bin",
    }
    with running(["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], proxy, env=places):
        yield proxy
