import { connect, type Socket } from "node:net";

import { startTcpServer } from "./tcp-server.ts";

/** How a connection through the proxy is broken. */
export type Break = "cut" | "reset" | "stall";

export interface BreakingProxy extends AsyncDisposable {
  readonly url: string;
  /** Connections broken so far, by kind. */
  readonly breaks: Readonly<Record<Break, number>>;
}

export interface BreakingOptions {
  /** Asked for each connection, because the service must know the proxy's address first. */
  readonly target: () => string;
  readonly random: () => number;
  /** Bytes of an answer that pass before a break, on average. */
  readonly meanBytes: number;
  /** How long a stalled connection stays open without a byte. */
  readonly stallMs: number;
}

/**
 * A TCP proxy on loopback that breaks every connection after a drawn number of bytes of the
 * answer, anywhere within an event or a character: it ends it, resets it, or goes silent and then
 * resets it. One connection in ten is broken before anything came back.
 */
export async function startBreakingProxy(options: BreakingOptions): Promise<BreakingProxy> {
  const breaks = { cut: 0, reset: 0, stall: 0 };
  const server = await startTcpServer((client, { keep }) => {
    const { hostname, port } = new URL(options.target());
    const upstream = keep(connect(Number(port), hostname));
    client.pipe(upstream);
    client.once("close", () => upstream.destroy());
    upstream.once("error", () => client.destroy());
    upstream.once("end", () => client.end());
    forward({ client, upstream, allowance: drawAllowance(options) }, () => {
      const kind = drawBreak(options.random);
      breaks[kind] += 1;
      breakConnection(client, kind, options.stallMs);
    });
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    breaks,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly allowance: number;
}

/** Passes the answer on until the allowance is used up. */
function forward({ client, upstream, allowance }: Pair, breakNow: () => void): void {
  let left = allowance;
  upstream.on("data", (bytes: Buffer) => {
    const passing = bytes.subarray(0, left);
    left -= passing.length;
    if (passing.length > 0 && !client.write(passing)) {
      upstream.pause();
      client.once("drain", () => upstream.resume());
    }
    if (left === 0) {
      upstream.destroy();
      breakNow();
    }
  });
}

function drawAllowance({ random, meanBytes }: BreakingOptions): number {
  return random() < 0.1 ? 0 : Math.max(1, Math.round(random() * 2 * meanBytes));
}

function drawBreak(random: () => number): Break {
  const drawn = random();
  if (drawn < 0.05) {
    return "stall";
  }
  return drawn < 0.5 ? "cut" : "reset";
}

function breakConnection(client: Socket, kind: Break, stallMs: number): void {
  if (kind === "cut") {
    client.end();
  } else if (kind === "reset") {
    client.resetAndDestroy();
  } else {
    setTimeout(() => client.resetAndDestroy(), stallMs);
  }
}
