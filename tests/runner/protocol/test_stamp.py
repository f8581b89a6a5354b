"""Time stamps of RFC 3161, by openssl as the authority: its server here, its certificate, and its verdict."""

import hashlib
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from components.core.errors import ConfigError
from runner.protocol import stamp
from runner.protocol.__main__ import main
from runner.study import log
from tests.runner.protocol.test_protocol import STUDY
from tests.slow import slow

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")

DIGEST = hashlib.sha256(b"what was frozen").hexdigest()
CONFIG = """\
[tsa]
default_tsa = own
[own]
serial = {home}/serial
signer_cert = {home}/tsa.pem
certs = {home}/tsa.pem
signer_key = {home}/key.pem
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_alg = sha256
[req]
distinguished_name = name
[name]
[stamping]
extendedKeyUsage = critical, timeStamping
"""


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, check=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """The folder of an authority with its key and certificate."""
    home = tmp_path_factory.mktemp("authority")
    (home / "openssl.cnf").write_text(CONFIG.format(home=home))
    (home / "serial").write_text("01\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{home}/key.pem", "-out", f"{home}/tsa.pem",
            "-subj", "/CN=Stamps", "-days", "2", "-config", f"{home}/openssl.cnf", "-extensions", "stamping")  # fmt: skip
    return home


@pytest.fixture
def server(authority):
    """A server of stamps; ``answers`` replaces what it says."""

    class Stamps(BaseHTTPRequestHandler):
        def do_POST(self):
            assert self.headers["Content-Type"] == "application/timestamp-query"
            (authority / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            body = server.answers
            if body is None:
                query, config = str(authority / "query"), str(authority / "openssl.cnf")
                body = openssl("ts", "-reply", "-queryfile", query, "-config", config).stdout
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Stamps)
    server.answers = None
    server.url = f"http://127.0.0.1:{server.server_port}/tsr"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_an_authority_stamps_a_digest_and_openssl_believes_it(server, authority, tmp_path):
    time, token = stamp.request(server.url, DIGEST)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", time) and stamp.read(token, DIGEST) == time
    study = tmp_path / "study.yaml"
    stamp.place_of(study).write_bytes(token)
    verify = ("ts", "-verify", "-in", str(stamp.place_of(study)), "-CAfile", f"{authority}/tsa.pem", "-digest")
    openssl(*verify, DIGEST)
    with pytest.raises(subprocess.CalledProcessError):
        openssl(*verify, hashlib.sha256(b"another").hexdigest())


def test_a_reply_that_is_no_stamp_of_ours_is_refused(server):
    _, good = stamp.request(server.url, DIGEST)
    other = hashlib.sha256(b"another").hexdigest()
    with pytest.raises(ValueError, match="does not belong to the frozen study"):
        stamp.read(good, other)
    refusal = bytes.fromhex("30053003020102")
    for answer, why in (
        (good, "the reply is to another request"),
        (refusal, "the authority gave no time stamp"),
        (b"<html>", "the reply is not a time stamp"),
    ):
        server.answers = answer
        with pytest.raises(ConfigError, match=f"^timestamp: {server.url}: {why}; nothing was frozen$"):
            stamp.request(server.url, DIGEST)


def test_an_authority_that_does_not_answer_is_named():
    with pytest.raises(
        ConfigError,
        match=r"^timestamp: http://127.0.0.1:9: no connection \(ConnectionRefusedError\); nothing was frozen$",
    ):
        stamp.request("http://127.0.0.1:9", DIGEST)


@slow
def test_a_study_is_frozen_with_a_stamp_and_a_tag_or_not_at_all(server, authority, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY + f"timestamp: {server.url}\ntag: frozen-1\n")
    assert main(["freeze", "study.yaml"]) == 2
    assert "git made no tag 'frozen-1'" in capsys.readouterr().err
    for words in (["init", "-q"], ["config", "user.email", "a@b.c"], ["config", "user.name", "A"],
                  ["commit", "-q", "--allow-empty", "-m", "x"]):  # fmt: skip
        subprocess.run(["git", *words], check=True)
    server.answers = b""
    assert main(["freeze", "study.yaml"]) == 2
    assert "the reply is not a time stamp; nothing was frozen" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name != ".git"] == ["study.yaml"]
    server.answers = None
    assert main(["freeze", "study.yaml"]) == 0
    (event,) = log.events(study)
    message = subprocess.run(["git", "tag", "-n1"], capture_output=True, text=True, check=True).stdout
    assert event["digest"] in message and event["stamped"].startswith("20") and event["authority"] == server.url
    capsys.readouterr()
    assert main(["check", "study.yaml"]) == 0
    line = re.search(r"its signature: openssl (ts -verify .*)", capsys.readouterr().out)[1]
    openssl(*line.replace("AUTHORITY.pem", f"{authority}/tsa.pem").split())
    (tmp_path / "study.tsr").unlink()
    assert main(["check", "study.yaml"]) == 1
    assert "study.tsr is missing" in capsys.readouterr().out
