"""Serves a block: a frame that shows the text from its settings, also while the merchant types.

Run it: python block.py
"""

from http.server import BaseHTTPRequestHandler, HTTPServer

PAGE = """<!doctype html>
<html lang="en">
<title>Opening hours</title>
<body style="margin: 0; font: 16px/1.5 system-ui">
<p id="text"></p>
<script>
const tell = (message) => parent.postMessage(message, "*");
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  if (!["SERVICE_BLOCK_INIT", "SERVICE_BLOCK_UPDATE"].includes(event.data.type)) return;
  document.getElementById("text").textContent = event.data.settings.text;
  tell({ type: "SERVICE_BLOCK_RESIZE", height: document.documentElement.offsetHeight });
});
tell({ type: "SERVICE_BLOCK_READY" });
</script>
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200 if self.path.startswith("/block") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    HTTPServer(("", 8787), Handler).serve_forever()
