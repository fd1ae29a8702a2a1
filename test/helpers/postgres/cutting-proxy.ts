import { connect } from "node:net";

import { onTestFinished } from "vitest";

import { startTcpServer } from "../tcp-server.ts";

/**
 * Where a proxy cuts a connection: before the server sees a statement, or before its answer. The
 * server learns of it, unless it is `unnoticed`: then it keeps waiting.
 */
export type Cut =
  | "before the server sees it"
  | "before the server sees it, unnoticed"
  | "before the answer";

export interface CuttingProxy {
  /** The address of the database behind the proxy. */
  readonly url: string;
  /** Cuts the next connection that sends these words, once. */
  cutAt(words: string, cut: Cut): void;
  /** Resolves once it was cut. */
  readonly cut: Promise<void>;
  /** Lets the first write be committed and answered; nobody is let through after it. */
  refuseAfterWrite(): void;
  /** From now on nobody is let through; who is connected is cut. */
  refuseAll(): void;
  /** Lets everybody through again. */
  open(): void;
  /** From now on nothing passes, and nobody notices: every connection stays open. */
  silence(): void;
}

/** A proxy between the store and the server that loses what a test asks it to lose. */
export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const done = Promise.withResolvers<void>();
  let order: { words: string; cut: Cut } | null = null;
  let refusing = false;
  let silent = false;
  let isLastWrite = false;
  const refuseAll = (): void => {
    refusing = true;
    for (const socket of server.sockets) {
      socket.destroy();
    }
  };
  const server = await startTcpServer((near, { keep }) => {
    if (refusing) {
      near.destroy();
      return;
    }
    if (silent) {
      near.pause();
      return;
    }
    const far = keep(connect(Number(port), hostname));
    let unnoticed = false;
    for (const socket of [near, far]) {
      socket.on("close", () => {
        near.destroy();
        if (!unnoticed) {
          far.destroy();
        }
      });
    }
    let swallowing = false;
    let write: "none" | "begun" | "commits" = "none";
    far.on("data", (bytes) => {
      if (write === "commits" && bytes.includes("COMMIT\0")) {
        near.end(bytes, refuseAll);
        return;
      }
      if (swallowing) {
        // the server has answered, so the statement is done
        near.destroy();
        done.resolve();
        return;
      }
      near.write(bytes);
    });
    near.on("data", (bytes) => {
      if (order !== null && bytes.includes(order.words)) {
        const { cut } = order;
        order = null;
        if (cut !== "before the answer") {
          unnoticed = cut.endsWith("unnoticed");
          near.destroy();
          done.resolve();
          return;
        }
        swallowing = true;
      }
      if (isLastWrite && bytes.includes("READ COMMITTED")) {
        write = "begun";
      } else if (write === "begun" && bytes.includes("COMMIT\0")) {
        write = "commits";
      }
      far.write(bytes);
    });
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    url: server.inPlaceOf(databaseUrl),
    cutAt: (words, cut) => {
      order = { words, cut };
    },
    cut: done.promise,
    silence: () => {
      silent = true;
      for (const socket of server.sockets) {
        socket.pause();
      }
    },
    open: () => {
      refusing = false;
    },
    refuseAfterWrite: () => {
      isLastWrite = true;
    },
    refuseAll,
  };
}
