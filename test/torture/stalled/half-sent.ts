import net, { type Socket } from "node:net";

import { createClient } from "../../../src/client/client.ts";
import { startService } from "../service.ts";

export interface HalfSentFigures {
  readonly bodies: number;
  /** How long a whole message of somebody else took, each of some, in milliseconds. */
  readonly times: readonly number[];
}

const DECLARED_BYTES = 3_000_000;
const MESSAGES = 5;

/** Sends half of so many bodies, again once they are refused, and whole messages of 900 KB meanwhile. */
export async function measureHalfSent(options: {
  readonly database: string;
  readonly home: string;
  readonly bodies: number;
}): Promise<HalfSentFigures> {
  await using service = await startService(options);
  const client = createClient({ baseUrl: service.url });
  const { id } = await client.createSession();
  using _ = halfSent(service.url, id, options.bodies);
  const times: number[] = [];
  for (let index = 0; index < MESSAGES; index += 1) {
    const begun = performance.now();
    await client.postMessage(id, "x".repeat(900_000));
    times.push(performance.now() - begun);
  }
  return { bodies: options.bodies, times };
}

function halfSent(url: string, id: string, bodies: number): Disposable {
  const { host, hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let isOver = false;
  const send = (): void => {
    const socket = net.connect(Number(port), hostname).resume();
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      open.delete(socket);
      if (!isOver) {
        setTimeout(send, RECONNECT_MS);
      }
    });
    socket.write(
      `POST /api/sessions/${id}/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${DECLARED_BYTES}\r\n\r\n{"content":"${"x".repeat(DECLARED_BYTES / 2)}`,
    );
  };
  for (let index = 0; index < bodies; index += 1) {
    send();
  }
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      open.forEach((socket) => socket.destroy());
    },
  };
}

const RECONNECT_MS = 100;
