"""The site in Chromium: site.py SITE BROWSER. Its search finds pages, and the console stays silent.

The browser opens a page of this test, which looks at the site in a frame and tells the server here what a search has found.
"""
import functools
import http.server
import subprocess
import sys
import tempfile
import threading
import urllib.parse

site, browser = sys.argv[1:]
WATCH = """<!doctype html><link rel="icon" href="data:,"><iframe id="frame" src="/index.html?q=%s" width="1000" height="800"></iframe><script>
setInterval(() => {
  const found = [...frame.contentDocument.querySelectorAll("#mkdocs-search-results article a")].map((a) => a.getAttribute("href"));
  if (found.length > 0) fetch("/found?" + encodeURIComponent(found.join(" ")));
}, 100);
</script>"""
found, told = [], threading.Event()


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/watch":
            self.answer((WATCH % query).encode())
        elif path == "/found":
            found[:] = urllib.parse.unquote(query).split()
            told.set()
            self.answer(b"")
        else:
            super().do_GET()

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)


def search(word, port):
    told.clear()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, open(profile + "/log", "w+") as log:
        process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--enable-logging=stderr",
             "--remote-debugging-port=0", f"http://127.0.0.1:{port}/watch?{word}"], stdout=log, stderr=log)
        told.wait(60)
        process.terminate()
        process.wait()
        log.seek(0)
        return [line for line in log if "CONSOLE" in line and "favicon" not in line and "Lunr index" not in line]


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=site))
threading.Thread(target=server.serve_forever, daemon=True).start()
failed = False
for word, page in (("secded", "protections.html"), ("zsh", "install.html")):
    said = search(word, server.server_port)
    if not any(address.startswith("./" + page) for address in found):
        print(f"site: FAILED: a search for {word} does not find {page} but {found}")
        failed = True
    for line in said:
        print(f"site: FAILED: {line}")
        failed = True
sys.exit(failed)
