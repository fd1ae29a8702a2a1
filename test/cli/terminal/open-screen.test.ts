import { EventEmitter, once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

import { expect, it, onTestFinished, vi } from "vitest";

import { processOutputs } from "../../../src/cli/output.ts";
import { openScreen } from "../../../src/cli/terminal/open-screen.ts";

/** Both ends of a connection. */
async function connected(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const terminal = connect(address !== null && typeof address === "object" ? address.port : 0);
  const [program] = await accepted;
  await once(terminal, "ready");
  onTestFinished(() => {
    terminal.destroy();
    program.destroy();
    server.close();
  });
  return [terminal, program];
}

it("[TERM-42] handles what was typed before it says that the terminal has a frame", async () => {
  const [terminal, stdin] = await connected();
  const outputs = processOutputs(() => undefined);
  const happened: string[] = [];
  const screen = openScreen(
    { stdin, ...outputs, env: {}, signals: new EventEmitter(), suspend: async () => undefined },
    {
      size: () => ({ columns: 80, rows: 24 }),
      draw: () => undefined,
      drained: () => null,
      onResize: () => () => undefined,
      restoreWith: () => undefined,
    },
    {
      live: { rows: () => ["row"] },
      on: {
        key: (key) => void happened.push(key),
        paste: () => undefined,
        end: () => undefined,
        drawn: () => void happened.push("drawn"),
        away: () => undefined,
        load: async () => undefined,
      },
    },
  );
  onTestFinished(() => screen.close());
  terminal.write("a");
  await vi.waitFor(() => expect(happened).toContain("a"));
  for (let frame = 0; frame < 3; frame++) {
    await vi.waitFor(() => expect(happened.at(-1)).toBe("drawn"));
    happened.length = 0;
    // after it timers come first, then input
    await setImmediate();
    screen.changed();
    // the program is busy until the frame is due
    terminal.write("y");
    const start = performance.now();
    while (performance.now() - start < 60) {
      // it reads nothing
    }
    await vi.waitFor(() => expect(happened).toContain("drawn"));
    expect(happened).toEqual(["y", "drawn"]);
  }
});
