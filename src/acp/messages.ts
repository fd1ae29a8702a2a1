import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { AnyMessage, JsonRpcId } from "@agentclientprotocol/sdk/unstable";

/** Bytes of one message at most: a message of a session has 1 MiB, and JSON may write a character as six. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;

const NEW_LINE = 0x0a;

/** Error of a line whose id is unknown. */
interface Refusal {
  readonly code: number;
  readonly message: string;
}

/**
 * Reads JSON-RPC messages, one a line. Another line is given to `refuse` and skipped.
 */
export async function* readMessages(
  input: Readable,
  refuse: (refusal: Refusal) => void,
): AsyncGenerator<Record<string, unknown>> {
  for await (const line of linesOf(input)) {
    if (line === null) {
      refuse({
        code: INVALID_REQUEST,
        message: "The message is larger than 8 MiB. Send less at once, or name the file instead.",
      });
      continue;
    }
    const text = line.toString().trim();
    if (text === "") {
      continue;
    }
    const message = parsed(text);
    if (message === undefined) {
      refuse({ code: PARSE_ERROR, message: "The line is not JSON. Send one message a line." });
    } else if (typeof message !== "object" || message === null || Array.isArray(message)) {
      refuse({
        code: INVALID_REQUEST,
        message:
          "The line is not a JSON-RPC message. Send one object a line; there are no batches.",
      });
    } else {
      yield { ...message };
    }
  }
}

/** Lines of bytes without their end; null for one that is too long, of which nothing is kept. */
async function* linesOf(input: Readable): AsyncGenerator<Buffer | null> {
  let pieces: Buffer[] = [];
  let size = 0;
  const add = (piece: Buffer): void => {
    size += piece.length;
    if (size > MAX_MESSAGE_BYTES) {
      pieces = [];
    } else {
      pieces.push(piece);
    }
  };
  const take = (): Buffer | null => {
    const line = size > MAX_MESSAGE_BYTES ? null : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    return line;
  };
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    let from = 0;
    for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, from)) {
      add(bytes.subarray(from, at));
      yield take();
      from = at + 1;
    }
    add(bytes.subarray(from));
  }
  yield take();
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an id that a request can have. */
export function isRequestId(value: unknown): value is JsonRpcId {
  return value === null || typeof value === "string" || Number.isFinite(value);
}

/** Writes messages, one a line; waits for a slow reader until `release`. */
export class MessageWriter {
  readonly #output: Writable;
  readonly #released = Promise.withResolvers<void>();
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(output: Writable) {
    this.#output = output.on("error", () => (this.#isOver = true));
  }

  write(message: AnyMessage): Promise<void> {
    if (this.#isOver) {
      return Promise.resolve();
    }
    this.#last = new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
    return Promise.race([this.#last, this.#released.promise]);
  }

  /** Lets nothing wait for the reader any more: it may read nothing. */
  release(): void {
    this.#released.resolve();
  }

  /** True once all was written; false if that takes longer. */
  isDrained(timeoutMs: number): Promise<boolean> {
    const timeout = sleep(timeoutMs, false, { ref: false });
    return Promise.race([this.#isOver ? true : this.#last.then(() => true), timeout]);
  }

  refuse(refusal: Refusal, id: JsonRpcId = null): void {
    void this.write({ jsonrpc: "2.0", id, error: { ...refusal } });
  }
}
