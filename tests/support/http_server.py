# SPDX-License-Identifier: MIT
"""An HTTP server on loopback that runs in a thread."""

import http.server
import ssl
import threading


class HttpServer:
    """Part of a server that answers by the class @handler. @certificate: the files of a certificate
    and its key, for TLS. Handlers can wait for self.stop, which is set at the end."""

    def __init__(self, handler, port=0, certificate=None):
        self.stop = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = "http%s://127.0.0.1:%d" % ("s" if certificate else "",
                                              self.server.server_address[1])
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05, ))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
