import { write, writeSync } from "node:fs";

/** A size in cells. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export function isSameSize(one: TerminalSize, other: TerminalSize): boolean {
  return one.columns === other.columns && one.rows === other.rows;
}

/** A terminal that a screen is drawn on. */
export interface RawTerminal {
  size(): TerminalSize;
  /**
   * Writes text and sequences as they are, in the order of the calls: the caller has cleaned what comes from outside.
   * A terminal that takes nothing does not stop the process; who draws again and again waits until it is `drained`.
   */
  draw(text: string): void;
  /** Resolves once the terminal has taken all that was drawn; null if it has. */
  drained(): Promise<void> | null;
  /** Calls the listener when the size changes, until the returned function is called. */
  onResize(listener: () => void): () => void;
  /** Sets what is written if the program ends, whatever ends it; null for nothing. */
  restoreWith(text: string | null): void;
}

/** Milliseconds until a write is tried again that the terminal refused because its buffer was full. */
const AGAIN_MS = 10;

/**
 * The terminal of a stream. Node.js writes to terminals synchronously: one that takes nothing would stop the process,
 * and a session would lose its lease. So these writes are made by a thread of the pool.
 */
export function rawTerminal(stream: NodeJS.WriteStream & { readonly fd: number }): RawTerminal {
  const { fd } = stream;
  let restoring: string | null = null;
  /** Text that is drawn and not being written yet. */
  let waiting = "";
  let draining: PromiseWithResolvers<void> | null = null;

  const writeRest = (rest: Buffer): void => {
    write(fd, rest, (error, count) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => writeRest(rest), AGAIN_MS);
      } else if (error !== null) {
        waiting = "";
        end();
        stream.emit("error", error);
      } else if (count < rest.length) {
        writeRest(rest.subarray(count));
      } else if (waiting !== "") {
        writeWaiting();
      } else {
        end();
      }
    });
  };
  const writeWaiting = (): void => {
    const text = Buffer.from(waiting);
    waiting = "";
    writeRest(text);
  };
  const end = (): void => {
    const ended = draining;
    draining = null;
    ended?.resolve();
  };
  const restore = (): void => {
    try {
      writeSync(fd, waiting + (restoring ?? ""));
    } catch {
      // the terminal is gone
    }
  };
  return {
    // asked each time: the event that says that it changed comes later
    size: () => {
      const [columns, rows] = stream.getWindowSize();
      // a pseudo-terminal whose size nobody has set says 0
      return { columns: columns || 80, rows: rows || 24 };
    },
    draw: (text) => {
      waiting += text;
      if (draining === null && text !== "") {
        draining = Promise.withResolvers();
        // several draws of one turn are one write
        queueMicrotask(writeWaiting);
      }
    },
    drained: () => draining?.promise ?? null,
    onResize: (listener) => {
      stream.on("resize", listener);
      return () => void stream.off("resize", listener);
    },
    restoreWith: (text) => {
      process.off("exit", restore);
      restoring = text;
      if (text !== null) {
        process.on("exit", restore);
      }
    },
  };
}
