"""Receives webhooks. python3 receiver.py, with WEBHOOK_SECRETS: the signing secrets, separated by spaces."""

# region verify
import base64
import hashlib
import hmac
# endregion
import json
# region verify
import os
import re
import time
# endregion
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 2 * 1024 * 1024
# region verify
MAX_AGE_S = 300


def key_of(secret: str) -> bytes:
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


KEYS = [key_of(secret) for secret in os.environ.get("WEBHOOK_SECRETS", "").split()]
# endregion
# In an application: a table, written in the transaction of the work.
done: set[str] = set()


# region verify
def is_signed(headers, body: bytes) -> bool:
    """body: the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap."""
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > MAX_AGE_S:
        return False
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    given = headers.get("webhook-signature", "").encode().split(b" ")
    wanted = [b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in KEYS]
    return any(hmac.compare_digest(one, other) for one in wanted for other in given)
# endregion


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,12}", length) or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_signed(self.headers, body):
            return self.answer(401)
        event_id = self.headers["webhook-id"]
        if event_id not in done:
            event = json.loads(body)
            done.add(event_id)
            print(f"accepted {event_id} {event['event']}", flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        """Only accepted events are told."""


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver).serve_forever()
