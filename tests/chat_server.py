"""A chat completions server for tests: it does what it is told, well or badly.

Each reply is (status, headers, body) or one of the behaviours below; when the list is used up
the last one is repeated. Requests are kept as they came.
"""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STALL, DRIP, CUT, CLOSE, FLOOD = "stall", "drip", "cut", "close", "flood"


def completion(content, reason="stop", **message):
    """Return the body of a chat completion with this content."""
    choice = {"index": 0, "finish_reason": reason, "message": {"content": content, **message}}
    return {
        "model": "tiny-1",
        "system_fingerprint": "b7",
        "choices": [choice],
        "usage": {"prompt_tokens": 40, "completion_tokens": 9},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.requests.append(json.loads(self.rfile.read(length)))
        self.server.keys.append(self.headers.get("Authorization"))
        told = self.server.told
        self._behave(told.pop(0) if len(told) > 1 else told[0])

    def _behave(self, reply):
        self.close_connection = True
        if reply == STALL:
            self.server.over.wait(10)
        elif reply == CLOSE:
            pass
        elif isinstance(reply, str):
            self.send_response(200)
            self.send_header("Content-Length", "1000000000")
            self.end_headers()
            self._write_on(reply)
        else:
            status, headers, body = reply
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def _write_on(self, reply):
        try:
            self.wfile.write(b'{"choices": [{"mess')
            while reply == DRIP and not self.server.over.wait(0.02):
                self.wfile.write(b" ")
            while reply == FLOOD and not self.server.over.is_set():
                self.wfile.write(b" " * 65_536)
        except OSError:
            return

    def log_message(self, *_):
        """Stay silent."""


@contextmanager
def chat_server(*told):
    """Yield (url, requests, keys) of a server that gives these replies in order."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.told, server.requests, server.keys = list(told), [], []
    server.over = threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.requests, server.keys
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
        time.sleep(0)


def good(content, reason="stop", **message):
    """Return a good reply with this content."""
    return 200, {}, completion(content, reason, **message)
