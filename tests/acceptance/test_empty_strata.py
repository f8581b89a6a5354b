"""A server that fails where a stratum has a single sample: the run still ends with metrics and a report."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from tests.acceptance.command import endpoint, read_manifest, run_in_process
from tests.slow import slow

pytestmark = slow

GOOD = {
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


class FailsTwice(BaseHTTPRequestHandler):
    """Answers its first two requests with 500."""

    answered = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        type(self).answered += 1
        status = 500 if self.answered <= 2 else 200
        body = json.dumps(GOOD if status == 200 else {"error": {"message": "broken"}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Log nothing."""


def test_stratum_with_only_errors_does_not_stop_the_run(tmp_path):
    with HTTPServer(("127.0.0.1", 0), FailsTwice) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        words = endpoint(f"http://127.0.0.1:{server.server_port}/v1", "model.retries=0", "model.max_connections=1")
        given = ("dataset=radabench_mini", "agent=direct", "limit=10", "tracking=off", "hydra.run.dir=run")
        done = run_in_process(tmp_path, *given, *words, own=False)
        server.shutdown()
    manifest, found = read_manifest(tmp_path / "run"), json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert manifest["counts"]["errored"] == 2, done.err
    assert found["metrics"]["errors/rate"]["value"] == 0.2 and (tmp_path / "run" / "report.md").is_file()
    empty = [part for of in found["strata"].values() for part in of.values() if not part["completion/rate"]["n"]]
    assert empty and all(part["completion/rate"]["value"] is None for part in empty)
    assert all(part["completion/rate"]["unscored"] for part in empty), "unscored samples are counted"
