import asyncio
import base64
import gzip
import os
import socket
import ssl
import subprocess
import zlib
from contextlib import asynccontextmanager
from types import MappingProxyType

import pytest
import uvloop

from components.core.errors import ConfigError
from components.models.http_client import HttpClient
from components.models.replies import Fault, NothingListens
from tests.slow import slow
from tests.table import each_row

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ZLIB = zlib.compress(b"ok")
NO_MORE = None  # the server closes the connection


class Endpoint:
    """A server that sends bytes as they are: the next reply for each request, and the last one for the rest."""

    def __init__(self, *replies):
        self.replies, self.requests, self.opened, self.ended = list(replies), [], 0, 0
        self.writers = []

    async def serve(self, reader, writer):
        self.opened += 1
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
                body = await reader.readexactly(int(fields.get(b"content-length", 0)))
                self.requests.append((head, body))
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                for part in reply if isinstance(reply, list) else [reply]:
                    if part is NO_MORE:
                        return
                    writer.write(part)
                    await asyncio.sleep(0.01)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.ended += 1
        finally:
            writer.close()


@asynccontextmanager
async def serving(*replies, host="127.0.0.1", path="/v1/x", settings=MappingProxyType({}), **options):
    endpoint = Endpoint(*replies)
    listener = await asyncio.start_server(endpoint.serve, host, 0, **options)
    port = listener.sockets[0].getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    endpoint.address, endpoint.port = f"{name}:{port}", port
    url = f"http{'s' if 'ssl' in options else ''}://{name}:{port}{path}"
    endpoint.client = HttpClient(url, {"X-Key": "k"}, **settings)
    try:
        yield endpoint
    finally:
        await endpoint.client.close()
        listener.close()
        for writer in endpoint.writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)


async def failure(client, body=b"{}"):
    with pytest.raises(Fault) as caught:
        await client.post(body)
    return caught.value.kind, str(caught.value)


def encoded(body, how):
    return b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s" % (how, len(body), body)


@each_row(
    "reply",
    [
        OK,
        [OK[:9], OK[9:30], OK[30:]],
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\nContent-Length: 9\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nTrailer: t\r\n\r\n",
        encoded(gzip.compress(b"ok"), b"gzip"),
        encoded(gzip.compress(b"o") + gzip.compress(b"k"), b"GZIP"),
        encoded(ZLIB, b"deflate"),
        encoded(ZLIB[2:-4], b"deflate"),
        encoded(b"ok", b"identity"),
    ],
)
async def test_a_reply_in_every_form_is_read_and_its_connection_used_again(reply):
    async with serving(reply) as server:
        for _ in range(3):
            answered = await server.client.post(b"{}")
            assert (answered.status, answered.body) == (200, b"ok")
        assert (server.client.connections, server.opened) == (1, 1)


@slow
@each_row(
    "reply",
    [
        [b"HTTP/1.1 200 OK\r\n\r\nok", NO_MORE],
        [b"HTTP/1.0 200 OK\r\n\r\nok", NO_MORE],
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
        [OK, b"HTTP/1.1 408 Timeout\r\n\r\n", NO_MORE],
        [OK, NO_MORE],
    ],
)
async def test_a_connection_that_ends_is_not_used_again(reply):
    async with serving(reply) as server:
        for _ in range(3):
            assert (await server.client.post(b"{}")).body == b"ok"
            await asyncio.sleep(0.05)
        assert (server.client.connections, server.opened) == (3, 3)


async def test_the_request_is_whole():
    async with serving(OK, path="/v1/a b/ü?q=1 2") as server:
        await server.client.post(b'{"a": 1}')
        head, body = server.requests[0]
    assert head.decode().split("\r\n")[:-2] == [
        "POST /v1/a%20b/%C3%BC?q=1%202 HTTP/1.1", f"Host: {server.address}", "Accept: */*",
        "Accept-Encoding: gzip, deflate", "X-Key: k", "Content-Length: 8",
    ]  # fmt: skip
    assert body == b'{"a": 1}'


CUT, NOT_HTTP = "the reply was cut off", "the reply is not HTTP"


@each_row(
    "reply, kind, text",
    [
        ([NO_MORE], "connection", "the connection was lost (closed without a reply)"),
        ([b"HTTP/1.1 200 OK\r\nContent-", NO_MORE], "connection", "the connection was lost (closed without a reply)"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", NO_MORE], "unreadable", CUT),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", NO_MORE], "unreadable", CUT),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", NO_MORE], "unreadable", CUT),
        (encoded(gzip.compress(b"ok")[:-3], b"gzip"), "unreadable", CUT),
        (encoded(b"no gzip", b"gzip"), "unreadable", CUT),
        (b"SSH-2.0-OpenSSH\r\n", "unreadable", NOT_HTTP),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "unreadable", NOT_HTTP),
        ([b"HTTP/1.1 200 OK\r\nX: ", *[b"x" * 40_000] * 2], "unreadable", NOT_HTTP),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" * 3000, OK], "unreadable", NOT_HTTP),
    ],
)
async def test_what_is_no_reply_is_a_fault(reply, kind, text):
    async with serving(reply, OK) as server:
        assert await failure(server.client) == (kind, text)
        assert (await server.client.post(b"{}")).body == b"ok"


async def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked():
    replies = [encoded(gzip.compress(bytes(n)), b"gzip") for n in (1 << 20, 1 << 24)]
    async with serving(*replies, settings={"longest_reply": 1 << 20}) as server:
        assert len((await server.client.post(b"{}")).body) == 1 << 20
        assert (await failure(server.client))[0] == "too_large"


async def test_a_redirect_and_its_headers_are_only_reported():
    async with serving(b"HTTP/1.1 307 Elsewhere\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n") as server:
        reply = await server.client.post(b"{}")
    assert (reply.status, reply.headers["location"], len(server.requests)) == (307, "/v2", 1)


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_megabytes_are_sent_while_the_loop_serves_others(new_loop):
    async def send():
        got = bytearray()

        async def read_slowly(reader, writer):
            while len(got) < 20_000_000:
                got.extend(await reader.read(1 << 20))
                await asyncio.sleep(0.001)
            writer.write(OK)
            writer.close()
            await writer.wait_closed()

        listener = await asyncio.start_server(read_slowly, "127.0.0.1", 0)
        client = HttpClient(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/", {})
        turns, sending = 0, asyncio.ensure_future(client.post(b"x" * 20_000_000))
        while not sending.done():
            await asyncio.sleep(0)
            turns += 1
        await client.close()
        listener.close()
        return (await sending).body, turns, bytes(got[-20_000_000:]).count(b"x") > 19_900_000

    with asyncio.Runner(loop_factory=new_loop) as runner:
        body, turns, whole = runner.run(send())
    assert body == b"ok" and turns > 50 and whole


async def test_a_reply_before_the_request_was_read_counts():
    writers = []

    async def refuse(reader, writer):
        writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await asyncio.Event().wait()

    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    client = HttpClient(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/", {})
    async with asyncio.timeout(10):
        assert (await client.post(b"x" * 30_000_000)).status == 413
    await client.close()
    listener.close()
    writers[0].transport.abort()
    await asyncio.sleep(0.01)


async def test_a_client_that_was_closed_meanwhile_keeps_no_connection():
    async with serving(OK) as server:
        posting = asyncio.create_task(server.client.post(b"{}"))
        await asyncio.sleep(0)
        await server.client.close()
        assert (await posting).body == b"ok"
        assert (await server.client.post(b"{}")).body == b"ok"
        async with asyncio.timeout(10):
            while not server.ended:
                await asyncio.sleep(0.001)
        assert server.client.connections == 2


async def test_a_reply_of_very_many_compressed_members_is_unreadable():
    body = gzip.compress(b"") * 1_000
    async with serving(encoded(body, b"gzip")) as server:
        assert await failure(server.client) == ("unreadable", "the reply was cut off")


async def test_cancelling_closes_the_connection():
    async with serving([]) as server:
        task = asyncio.create_task(server.client.post(b"{}"))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(1):
            while not server.ended:
                await asyncio.sleep(0.01)


async def test_a_connection_that_was_idle_for_long_is_closed():
    async with serving(OK, settings={"idle_seconds": 0.0}) as server:
        await server.client.post(b"{}")
        await asyncio.sleep(0.01)
        await server.client.post(b"{}")
        assert server.client.connections == 2


async def test_closing_ends_all_connections_and_a_later_request_opens_one():
    async with serving(OK) as server:
        await asyncio.gather(*(server.client.post(b"{}") for _ in range(5)))
        await server.client.close()
        await asyncio.sleep(0.05)
        assert server.ended == 5
        assert (await server.client.post(b"{}")).body == b"ok"


async def test_closing_ends_a_call_with_a_fault():
    async with serving([]) as server:
        call = asyncio.create_task(failure(server.client))
        while not server.requests:
            await asyncio.sleep(0.01)
        await server.client.close()
        assert await call == ("connection", "the connection was lost (closed without a reply)")


async def test_sockets_notice_a_dead_peer(monkeypatch):
    async with serving(OK) as server:
        await server.client.post(b"{}")
        [(_, connection)] = server.client._idle
        opened = connection.transport.get_extra_info("socket")
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


async def test_ipv6():
    async with serving(OK, host="::1") as server:
        assert (await server.client.post(b"{}")).body == b"ok"
    assert f"Host: [::1]:{server.port}".encode() in server.requests[0][0]


def resolve_to(monkeypatch, port, *hosts):
    """Every name stands for these addresses."""
    kind = (socket.SOCK_STREAM, 0, "")
    six = [(socket.AF_INET6, *kind, (host, port, 0, 0)) for host in hosts if ":" in host]
    four = [(socket.AF_INET, *kind, (host, port)) for host in hosts if ":" not in host]

    async def look_up(*_, **__):
        return six + four

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)


async def test_the_next_address_is_tried_where_one_does_not_answer(monkeypatch):
    async with serving(OK) as server:
        resolve_to(monkeypatch, server.port, "::1", "127.0.0.1")
        client = HttpClient(f"http://two.example:{server.port}/", {})
        assert (await client.post(b"{}")).body == b"ok"
        assert client.connections == 2
        await client.close()


@each_row(
    "host, name", [("http://127.0.0.1:9/", "ConnectionRefusedError, errno 111"), ("http://no.invalid/", "gaierror")]
)
async def test_no_connection(host, name):
    kind, text = await failure(HttpClient(host, {}))
    assert kind == "connection" and text.startswith(f"no connection ({name}")


async def test_nothing_listens_at_one_address_and_the_others_have_no_route(monkeypatch):
    resolve_to(monkeypatch, 9, "100::1", "127.0.0.1")
    with pytest.raises(NothingListens):
        await HttpClient("http://two.example:9/", {}).post(b"{}")


async def test_a_server_that_accepted_a_connection_before_is_no_longer_one_that_nobody_started():
    async with serving(OK) as server:
        await server.client.post(b"{}")
        await server.client.close()
        client = server.client
    with pytest.raises(Fault, match=r"^no connection \(ConnectionRefusedError") as caught:
        await client.post(b"{}")
    assert type(caught.value) is Fault


# TLS and proxies


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    """A server's TLS settings, and the file that clients trust."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=test", "-addext", names, "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context, str(certificate)


@pytest.fixture
def trusted(secure, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", secure[1])
    return secure[0]


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_tls_with_a_certificate_that_is_trusted(trusted, new_loop):
    async def twice():
        async with serving(OK, ssl=trusted) as server:
            for body in (b"{}", b"x" * 2_000_000):
                assert (await server.client.post(body)).body == b"ok"
            return server.client.connections, [len(body) for _, body in server.requests]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(twice()) == (1, [2, 2_000_000])


async def test_a_certificate_that_is_not_trusted_is_refused(secure):
    async with serving(OK, ssl=secure[0]) as server:
        assert await failure(server.client) == (
            "certificate",
            "its certificate is not accepted (self-signed certificate)",
        )
        assert server.requests == []


async def test_a_certificate_for_another_name_is_refused(trusted, monkeypatch):
    async with serving(OK, ssl=trusted) as server:
        resolve_to(monkeypatch, server.port, "127.0.0.1")
        client = HttpClient(f"https://other.example:{server.port}/", {})
        kind, text = await failure(client)
        assert kind == "certificate" and "certificate is not valid for 'other.example'" in text
        assert server.requests == []


class Proxy:
    """Connects to where CONNECT says, or refuses."""

    def __init__(self, status=b"200 Connected"):
        self.status, self.heads = status, []

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        writer.write(b"HTTP/1.1 %s\r\n\r\n" % self.status)
        if self.status.startswith(b"200"):
            there, back = await asyncio.open_connection("127.0.0.1", int(head.split()[1].rpartition(b":")[2]))
            await asyncio.gather(pump(reader, back), pump(there, writer))
        writer.close()


async def pump(reader, writer):
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
    except ConnectionError:
        return
    finally:
        writer.close()


@asynccontextmanager
async def proxy_for(monkeypatch, scheme, proxy, login="", **options):
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, **options)
    monkeypatch.setenv("no_proxy", "")
    outer = "https" if options else "http"
    monkeypatch.setenv(f"{scheme}_proxy", f"{outer}://{login}127.0.0.1:{listener.sockets[0].getsockname()[1]}")
    yield proxy
    listener.close()
    await asyncio.sleep(0.05)  # both pumps see the end


async def test_http_goes_through_the_proxy_of_the_environment(monkeypatch):
    endpoint = Endpoint(OK)
    async with proxy_for(monkeypatch, "http", endpoint, "user:p%40ss@"):
        for address in (os.environ["http_proxy"], os.environ["http_proxy"].removeprefix("http://")):
            monkeypatch.setenv("http_proxy", address)
            client = HttpClient("http://far.example/v1/x", {"X-Key": "k"})
            assert (await client.post(b"{}")).body == b"ok"
            await client.close()
    head = endpoint.requests[0][0].decode()
    login = base64.b64encode(b"user:p@ss").decode()
    assert head.startswith("POST http://far.example/v1/x HTTP/1.1\r\nHost: far.example\r\n")
    assert f"Proxy-Authorization: Basic {login}\r\n" in head


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("outer", ["http", "https"])
def test_https_goes_through_a_tunnel(trusted, monkeypatch, new_loop, outer):
    async def twice():
        options = {"ssl": trusted} if outer == "https" else {}
        async with (
            serving(OK, ssl=trusted) as server,
            proxy_for(monkeypatch, "https", Proxy(), "u:p@", **options) as proxy,
        ):
            client = HttpClient(f"https://localhost:{server.port}/v1/x", {"X-Key": "secret"})
            for _ in range(2):
                assert (await client.post(b"{}")).body == b"ok"
            await client.close()
            return client.connections, proxy.heads, server.requests, server.port

    with asyncio.Runner(loop_factory=new_loop) as runner:
        connections, [head], requests, port = runner.run(twice())
    assert head == b"CONNECT localhost:%d HTTP/1.1\r\nHost: localhost:%d\r\nProxy-Authorization: Basic dTpw\r\n\r\n" % (
        port,
        port,
    )
    assert (
        connections == 1 and b"Proxy-Authorization" not in requests[0][0] and requests[0][0].startswith(b"POST /v1/x ")
    )


async def test_a_proxy_that_refuses_is_no_connection(monkeypatch):
    async with proxy_for(monkeypatch, "https", Proxy(b"407 Who are you"), "user:secret@"):
        client = HttpClient("https://far.example/v1", {})
        assert await failure(client) == ("auth", "no connection (the proxy of the environment replied HTTP 407)")
        await client.close()


async def test_a_certificate_behind_a_proxy_is_verified(secure, monkeypatch):
    async with serving(OK, ssl=secure[0]) as server, proxy_for(monkeypatch, "https", Proxy()):
        client = HttpClient(f"https://localhost:{server.port}/", {})
        assert await failure(client) == ("certificate", "its certificate is not accepted (self-signed certificate)")
        await client.close()


@each_row("proxy", ["socks5://user:secret@127.0.0.1:9", "http://proxy:abc", "http://a..b:80"])
def test_a_proxy_of_another_kind_is_refused(monkeypatch, proxy):
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ConfigError, match=r"^the proxy of the environment for http must be http\(s\)://host:port$"):
        HttpClient("http://model.example/", {})


async def test_a_proxy_that_nothing_listens_at_is_no_refusal_of_the_server(monkeypatch):
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(Fault, match=r"^no connection to the proxy of the environment") as caught:
        await HttpClient("http://model.example/", {}).post(b"{}")
    assert type(caught.value) is Fault


async def test_no_proxy_names_what_is_reached_directly(monkeypatch):
    async with serving(OK) as server:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", server.address)
        client = HttpClient(f"http://{server.address}/", {})
        assert (await client.post(b"{}")).body == b"ok"
        await client.close()
