import { EventEmitter, once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

import { expect, it, onTestFinished, vi } from "vitest";

import { processOutputs } from "../../../../src/cli/process/output.ts";
import { openScreen } from "../../../../src/cli/terminal/screen/open-screen.ts";
import { createKeySplitter } from "../../../../src/cli/terminal/pi/keys.ts";

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

/** A screen on a connection: what is written on the other end are keys. */
async function opened({
  load = async () => undefined,
  suspend = async () => undefined,
}: { readonly load?: () => Promise<void>; readonly suspend?: () => Promise<void> } = {}) {
  const [terminal, stdin] = await connected();
  const outputs = processOutputs({
    onUnread: () => undefined,
    onUnwritable: () => undefined,
  });
  const signals = new EventEmitter();
  const happened: string[] = [];
  const drawn: string[] = [];
  const size = { columns: 80, rows: 24 };
  const resized = new EventEmitter();
  let early = (): string => "";
  const screen = openScreen(
    { stdin, ...outputs, env: {}, signals, suspend },
    {
      size: () => ({ ...size }),
      draw: (text) => void drawn.push(text),
      drained: () => null,
      onResize: (listener) => {
        resized.on("resize", listener);
        return () => void resized.off("resize", listener);
      },
      restoreWith: () => undefined,
    },
    {
      live: { rows: () => [`row ${early()}`] },
      on: {
        handler: () => ({
          key: (key) => void happened.push(key),
          paste: () => undefined,
          drawn: () => void happened.push("drawn"),
          away: () => undefined,
        }),
        end: () => undefined,
        load,
      },
    },
  );
  onTestFinished(() => screen.close());
  early = screen.earlyText;
  const keys = (): string[] => happened.filter((what) => what !== "drawn");
  const resize = (columns: number): void => {
    size.columns = columns;
    resized.emit("resize");
  };
  return { terminal, stdin, signals, screen, happened, drawn, keys, resize };
}

it("[TERM-42] handles what was typed before it says that the terminal has a frame", async () => {
  const { terminal, screen, happened } = await opened();
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

it("[TERM-206] draws what is typed at once, before what keys need is loaded", async () => {
  const { promise: loaded, resolve: finish } = Promise.withResolvers<void>();
  let drawnAtLoad: string | null = null;
  const { terminal, screen, drawn, keys } = await opened({
    load: async () => {
      drawnAtLoad = drawn.join("");
      await loaded;
    },
  });
  screen.changed();
  await vi.waitFor(() => expect(drawn.join("")).toContain("row"));
  expect(screen.earlyText()).toBe("");
  terminal.write("h");
  await vi.waitFor(() => expect(drawnAtLoad).toContain("[4G h"));
  terminal.write("el");
  await vi.waitFor(() => expect(screen.earlyText()).toBe("hel"));
  // another key, and all after it, waits for the editor
  terminal.write("l\u001b[Ao");
  terminal.write("!");
  await vi.waitFor(() => expect(screen.earlyText()).toBe("hell"));
  expect(keys()).toEqual([]);
  finish();
  await vi.waitFor(() => expect(keys()).toEqual(["h", "e", "l", "l", "\u001b[A", "o", "!"]));
  expect(screen.earlyText()).toBe("hell");
});

it("[TERM-110] is stopped once, however often Ctrl-Z comes, and reads each key once afterwards", async () => {
  const { promise: continued, resolve: fg } = Promise.withResolvers<void>();
  const suspend = vi.fn(() => continued);
  const { terminal, signals, screen, keys } = await opened({ suspend });
  const stops = [screen.suspend(), screen.suspend()];
  await vi.waitFor(() => expect(suspend).toHaveBeenCalled());
  signals.emit("SIGTSTP");
  fg();
  await Promise.all(stops);
  terminal.write("a");
  await vi.waitFor(() => expect(keys()).toEqual(["a"]));
  terminal.write("b");
  await vi.waitFor(() => expect(keys()).toEqual(["a", "b"]));
  expect(suspend).toHaveBeenCalledTimes(1);
});

it("[TERM-110] leaves the terminal to another program that is stopped and continued", async () => {
  const suspend = vi.fn(async () => undefined);
  const { terminal, stdin, signals, screen, keys, drawn } = await opened({ suspend });
  const { promise: edited, resolve: endEditor } = Promise.withResolvers<void>();
  const editor = vi.fn(() => edited);
  const outside = screen.outside(editor);
  await vi.waitFor(() => expect(editor).toHaveBeenCalled());
  const before = drawn.length;
  signals.emit("SIGTSTP");
  await vi.waitFor(() => expect(suspend).toHaveBeenCalled());
  await setImmediate();
  expect(stdin.isPaused()).toBe(true);
  expect(drawn).toHaveLength(before);
  endEditor();
  await outside;
  terminal.write("a");
  await vi.waitFor(() => expect(keys()).toEqual(["a"]));
});

it("[TERM-110] waits for another program that has the terminal when it is closed, and draws nothing then", async () => {
  const { stdin, screen, drawn } = await opened();
  const { promise: edited, resolve: endEditor } = Promise.withResolvers<void>();
  const editor = vi.fn(() => edited);
  const outside = screen.outside(editor);
  await vi.waitFor(() => expect(editor).toHaveBeenCalled());
  drawn.length = 0;
  const closing = screen.close();
  await setImmediate();
  expect(drawn).toEqual([]);
  endEditor();
  await Promise.all([outside, closing]);
  expect(drawn.join("")).not.toContain("row");
  expect(stdin.listenerCount("data")).toBe(0);
});

it("[TERM-111] takes an escape character alone for a key, however soon the next key comes", () => {
  const keys: string[] = [];
  const split = createKeySplitter((key) => keys.push(key));
  for (const read of ["a", "\u001b", "b", "\u001bc", "\u001b[", "A", "\u001b"]) {
    split(read);
  }
  expect(keys).toEqual(["a", "\u001b", "b", "\u001bc", "\u001b[A", "\u001b"]);
});

it("[TERM-2] waits until the size stays the same if the terminal does not report its cursor", async () => {
  const { screen, drawn, resize } = await opened();
  screen.changed();
  await vi.waitFor(() => expect(drawn.join("")).toContain("row"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const erased = (): number => drawn.join("").split("\u001b[1A\u001b[J").length - 1;
  resize(70);
  await vi.advanceTimersByTimeAsync(300);
  expect(erased()).toBe(1);
  for (const columns of [60, 50, 40]) {
    resize(columns);
    await vi.advanceTimersByTimeAsync(90);
  }
  expect(erased()).toBe(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(erased()).toBe(2);
  expect(screen.width).toBe(40);
  // nobody waits for its answers any more
  await vi.advanceTimersByTimeAsync(2000);
});
