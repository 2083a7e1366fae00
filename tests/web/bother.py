# SPDX-License-Identifier: GPL-2.0-or-later
"""bother.py URL PAGE: asks the server of `loci view` for its page, and for all it must refuse."""
import socket
import sys
import time
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
page = open(sys.argv[2], "rb").read()
host = f"127.0.0.1:{url.port}"
failures = 0


def check(name, good):
    global failures
    if not good:
        failures += 1
        print(f"bother.py: {name}", file=sys.stderr)


def connect():
    s = socket.create_connection(("127.0.0.1", url.port), timeout=20)
    return s


def ask(request, end=True):
    """Everything the server says to some bytes."""
    with connect() as s:
        try:
            s.sendall(request)
            if end:
                s.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := s.recv(65536):
                answer += chunk
        except (ConnectionResetError, BrokenPipeError):
            return b"reset"
        return answer


def get(path, method="GET", headers=(), version="HTTP/1.1", named=host):
    lines = [f"{method} {path} {version}", *([f"Host: {named}"] if named else []), *headers, "", ""]
    return ask("\r\n".join(lines).encode("latin1"), end=False)


def status(answer):
    return answer.split(b" ", 2)[1] if answer.startswith(b"HTTP/1.1 ") else answer


answer = get(url.path)
head, _, body = answer.partition(b"\r\n\r\n")
check(f"the page: {head!r}", status(answer) == b"200")
same = lambda text: text.split(b'id="data">')[0]
check("the page is another", same(body) == same(page) and body.rstrip().endswith(b"</html>"))
check("its length", f"Content-Length: {len(body)}".encode() in head)
for header in (b"no-store", b"nosniff", b"frame-ancestors 'none'", b"no-referrer", b"Connection: close"):
    check(f"no {header!r}", header in head)
check("localhost is this host", status(get(url.path, named=f"localhost:{url.port}")) == b"200")
check("words in any case", status(get(url.path, headers=["ACCEPT: */*"])) == b"200")
check("a 1.0 client", status(get(url.path, version="HTTP/1.0")) == b"200")

for path in ("/", url.path[:-1], url.path + "x", "/favicon.ico", "/../etc/passwd", url.path + "../", "//",
             url.path.upper() if url.path.upper() != url.path else "/x", "http://" + host + url.path, "*",
             "/" + "0" * 32 + "/", url.path + "?a=b", url.path + "%00"):
    check(f"{path} is served", status(get(path)) == b"404")
for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "GETX"):
    check(f"{method} is allowed", status(get(url.path, method)) == b"405")
for name in ("evil.example", f"evil.example:{url.port}", "127.0.0.1", "", f"127.0.0.1:{url.port}.evil.example", None,
             f"127.0.0.1:{url.port + 1}"):
    check(f"host {name}", status(get(url.path, named=name)) == b"403")
check("two hosts", status(get(url.path, headers=[f"Host: {host}"])) == b"403")
for line in (b"GET\r\n\r\n", b"\r\n\r\n", b"GET  \r\n\r\n", b"GET " + url.path.encode() + b"\r\n\r\n",
             b"GET " + url.path.encode() + b" HTTP/2.0\r\n\r\n", b"GET a b HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n",
             b"GET / HTTP/1.1\x00\r\n\r\n", b"GET " + url.path.encode() + b" HTTP/1.11\r\n\r\n"):
    check(f"{line!r} is understood", status(ask(line)) == b"400")
check("a request without end", status(ask(b"GET / HTTP/1.1\r\nX: " + b"y" * 20000)) in (b"431", b"reset"))
check("nothing", ask(b"") == b"")
check("half a request", ask(b"GET / HT") == b"")

# Silent and slow ones do not keep others waiting, and more than there are places for do not either.
idle = [connect() for _ in range(80)]
slow = connect()
slow.sendall(b"GET ")
reader = connect()
reader.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())  # and does not read
began = time.time()
check("silent clients keep others out", status(get(url.path)) == b"200")
check("silent clients make others wait", time.time() - began < 8)
for s in (*idle, slow, reader):
    s.close()
for _ in range(50):  # gone before the answer
    with connect() as s:
        s.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
check("after all that", status(get(url.path)) == b"200")

# Nobody else's interface.
with open("/proc/net/tcp") as table:
    ports = [line.split()[1].split(":") for line in table if ":" in line and line.split()[3] == "0A"]
check("it listens elsewhere", ["0100007F", f"{url.port:04X}"] in ports and ["00000000", f"{url.port:04X}"] not in ports)
sys.exit(failures != 0)
