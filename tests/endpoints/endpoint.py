"""Starts the endpoint of server.py for as long as a test needs it."""

import datetime as dt
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Endpoint:
    """Where it is, and what it was asked."""

    port: int

    def url(self, mode: str, path: str = "_search") -> str:
        return f"http://127.0.0.1:{self.port}/{mode}/{path}"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as answer:
            return json.load(answer)

    def post(self, path: str) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", data=b"").close()


@contextmanager
def serving(*options: str) -> Iterator[Endpoint]:
    words = [sys.executable, str(Path(__file__).with_name("server.py")), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Endpoint(int(process.stdout.readline()))
        finally:
            process.kill()


def self_signed() -> bytes:
    """A key and a certificate for 127.0.0.1, in PEM."""
    import ipaddress  # noqa: PLC0415

    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "endpoint")])
    now = dt.datetime.now(dt.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    return key.private_bytes(pem, form, plain) + made.public_bytes(pem)
