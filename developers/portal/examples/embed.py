"""Serves an embed: a small frame at the corner of every page, with a link to write an e-mail.

Run it: python embed.py
"""

from http.server import BaseHTTPRequestHandler, HTTPServer

PAGE = """<!doctype html>
<html lang="en">
<title>Help</title>
<body style="margin: 0; font: 16px/1.5 system-ui">
<a id="help" target="_blank" style="display: block; padding: 12px 16px">Need help? Write to us</a>
<script>
const tell = (message) => parent.postMessage(message, "*");
addEventListener("message", (event) => {
  if (event.source !== parent || event.data.type !== "SERVICE_BLOCK_INIT") return;
  document.getElementById("help").href = "mailto:" + encodeURIComponent(event.data.settings.email);
  tell({ type: "SERVICE_BLOCK_RESIZE", height: document.documentElement.offsetHeight });
});
tell({ type: "SERVICE_BLOCK_READY" });
</script>
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200 if self.path.startswith("/widget") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    HTTPServer(("", 8787), Handler).serve_forever()
