import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP server on loopback. Disposed, it destroys its sockets and those that were given to it. */
export interface TcpServer extends AsyncDisposable {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  /** Takes a socket that has to end with the server; its errors are ignored. */
  keep(socket: Socket): Socket;
  /** This address with the server's host and port. */
  inPlaceOf(url: string): string;
}

export async function startTcpServer(
  onConnection: (socket: Socket, server: TcpServer) => void,
): Promise<TcpServer> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // a proxy that writes message by message would wait 40 ms for each acknowledgement
    socket.setNoDelay();
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };
  const listener = createServer((socket) => onConnection(keep(socket), server));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const server: TcpServer = {
    port,
    sockets,
    keep,
    inPlaceOf: (address) => {
      const url = new URL(address);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
  return server;
}
