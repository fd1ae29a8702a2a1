import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** Closes every connection without a running request, those that never sent one included. */
  closeUnused(): void;
}

/**
 * Knows which connections of a server have a running request. Node's own `closeIdleConnections`
 * leaves out those that were opened and have sent nothing yet, as browsers and fetch keep them.
 */
export function trackConnections(server: Server): Connections {
  const atWork = new Map<Socket, number>();
  const add = (socket: Socket, change: number): void => {
    const count = atWork.get(socket);
    if (count !== undefined) {
      atWork.set(socket, count + change);
    }
  };
  server.on("connection", (socket: Socket) => {
    atWork.set(socket, 0);
    socket.once("close", () => atWork.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    add(socket, 1);
    response.once("close", () => add(socket, -1));
  });
  return {
    closeUnused: () => {
      for (const [socket, requests] of atWork) {
        if (requests === 0) {
          socket.destroy();
        }
      }
    },
  };
}
