# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets a Prometheus scrape the file of short runs, as cron starts them, and compares increase() with the probes that were sent.
Prints a line for each fault, and "starts again" if the counters of a run do not continue those of the run before.

  scraped.py FOLDER PORT RANT ARGUMENT...      ARGUMENT: of an emitter that ends by itself, without --prometheus
"""
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

RUNS = 5
CONFIG = """global: {{ scrape_interval: 100ms, scrape_timeout: 100ms }}
scrape_configs:
  - job_name: rant
    static_configs: [ {{ targets: ["127.0.0.1:{port}"] }} ]
"""


def counter(path, name):
    with open(path, encoding="utf-8") as file:
        return float(re.search(rf"^{name}\{{.*\}} (\S+)$", file.read(), re.M)[1])


def serve(path):
    class File(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            try:
                with open(path, "rb") as file:
                    body = file.read()
            except FileNotFoundError:
                body = b""
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), File)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def query(port, expression):
    url = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(expression)}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        found = json.load(answer)["data"]["result"]
    return float(found[0]["value"][1]) if found else None


def is_ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=2):
            return True
    except OSError:
        return False


def wait_for(condition, otherwise):
    until = time.monotonic() + 60
    while not condition():
        if time.monotonic() > until:
            sys.exit(f"{otherwise} after 60 s")
        time.sleep(0.2)


def main():
    folder, port, *command = sys.argv[1:]
    path = os.path.join(folder, "cron.prom")
    run = lambda: subprocess.run([*command, "--prometheus", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # noqa: E731
    run()
    first = counter(path, "rant_sent_total")
    with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
        file.write(CONFIG.format(port=serve(path)))
    prometheus = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                                   f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_ready(port) and query(port, "rant_sent_total") is not None, "Prometheus has no sample")
        began, sums = time.monotonic(), 0
        for _ in range(RUNS):
            before = counter(path, "rant_sent_total")
            run()
            after = counter(path, "rant_sent_total")
            if after <= before:
                print("starts again")
                return
            sums += after - before
            time.sleep(2.5)
        window_s = int(time.monotonic() - began + 12)
        for name in ("rant_sent_total", "rant_rtt_seconds_count"):
            wait_for(lambda: query(port, name) == counter(path, name), f"{name}: its last value was not scraped")
            found, want = query(port, f"sum(increase({name}[{window_s}s]))"), counter(path, name) - first
            # increase() extrapolates by up to 1.1 scrape intervals at each end of the window, which are longer on a slow machine.
            scrapes = query(port, f"count_over_time({name}[{window_s}s])") or 2
            if found is None or abs(found - want) > (0.01 + 2.2 / (scrapes - 1)) * want + 1:
                print(f"{name}: {found} by increase(), {want} in {RUNS} runs")
        if sums != counter(path, "rant_sent_total") - first:
            print("the runs do not add up to the counter")
    finally:
        prometheus.terminate()
        prometheus.wait()


main()
