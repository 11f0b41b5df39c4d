"""A server for tests: `python a_server.py MODEL PORT WAY`, with a child process as real ones have."""

import json
import os
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

model, port, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = {"/v1/models": {"data": [{"id": model}]}} | ({} if way == "no health" else {"/health": {}})
        self.send_response(503 if way == "never ready" else 200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(known.get(self.path)).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": "neutral"}}]}).encode())


if way == "dies":
    print("loading", flush=True)
    sys.exit(f"out of memory, key {os.environ.get('SOME_API_KEY')}")
if way == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
with Path(os.environ["PIDS"]).open("a") as file:
    file.write(f"{os.getpid()} {child.pid}\n")
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
