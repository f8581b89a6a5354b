"""A collector of OpenTelemetry: a server in this process that reads the protocol."""

import http.server
import threading
from contextlib import contextmanager

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Collector(http.server.ThreadingHTTPServer):
    """Keeps what it is sent. ``status`` and ``reply``: what it answers, ``longest``: bytes of a request that it takes."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests, self.headers, self.status, self.reply = [], [], 200, ExportTraceServiceResponse()
        self.longest = 1 << 30

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self):
        return [span for one in self.requests for span in one.resource_spans[0].scope_spans[0].spans]


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server, body = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
        server.headers.append(dict(self.headers))
        status = server.status if len(body) <= server.longest else 413
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        if status == 302:
            self.send_header("Location", f"{server.url}/elsewhere")
        self.end_headers()
        if status == 200:
            server.requests.append(ExportTraceServiceRequest.FromString(body))
            self.wfile.write(server.reply.SerializeToString())

    def do_GET(self):
        self.server.headers.append(dict(self.headers))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


@contextmanager
def collecting():
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
