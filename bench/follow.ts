import { connect, type Socket } from "node:net";

import { getRequest } from "./load.ts";

export interface Followed {
  readonly port: number;
  readonly id: string;
  /** Of the session: its messages by default, or its live feed. */
  readonly stream?: "stream" | "live";
}

/** Opens a stream, as raw as the load's requests; resolves once the service has answered 200. */
export function follow(
  { port, id, stream = "stream" }: Followed,
  onChunk: (chunk: Buffer) => void = () => undefined,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server closed a stream")));
    socket.write(getRequest(port, `/api/sessions/${id}/${stream}`));
    socket.once("data", (head: Buffer) => {
      if (head.toString("latin1", 0, 12) !== "HTTP/1.1 200") {
        reject(new Error("the server refused a stream"));
        return;
      }
      onChunk(head);
      socket.on("data", onChunk);
      resolve(socket);
    });
  });
}

/** Opens streams to the sessions in turn, some at a time. */
export async function followAll(options: {
  readonly port: number;
  readonly ids: readonly string[];
  readonly count: number;
  readonly stream?: Followed["stream"];
  readonly onChunk?: (chunk: Buffer) => void;
}): Promise<Disposable & { readonly sockets: readonly Socket[] }> {
  const { port, ids, count, onChunk, stream = "stream" } = options;
  const sockets: Socket[] = [];
  const AT_ONCE = 200;
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, (_, index) =>
      follow({ port, stream, id: ids[(sockets.length + index) % ids.length]! }, onChunk),
    );
    sockets.push(...(await Promise.all(some)));
  }
  return {
    sockets,
    [Symbol.dispose]: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
    },
  };
}
