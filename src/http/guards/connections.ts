import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Tracks which connections of a server have a running request. Returns the function that closes the
 * others. Node's own `closeIdleConnections` leaves out those that were opened and have sent nothing
 * yet, as browsers and fetch keep them.
 */
export function trackConnections(server: Server): () => void {
  const running = new Map<Socket, number>();
  const add = (socket: Socket, change: number): void => {
    const count = running.get(socket);
    if (count !== undefined) {
      running.set(socket, count + change);
    }
  };
  server.on("connection", (socket: Socket) => {
    running.set(socket, 0);
    socket.once("close", () => running.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    add(socket, 1);
    response.once("close", () => add(socket, -1));
  });
  return () => {
    for (const [socket, requests] of running) {
      if (requests === 0) {
        socket.destroy();
      }
    }
  };
}
