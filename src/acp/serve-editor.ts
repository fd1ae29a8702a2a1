import type { Readable, Writable } from "node:stream";

import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";

import { systemCode } from "../core/errors.ts";
import type { EditorHost } from "./host.ts";
import { type ClientFacts, clientFacts, initializeAnswer } from "./initialize.ts";
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isRequestId,
  MessageWriter,
  readMessages,
} from "./messages.ts";

/** For the last answers to be read, at the end. */
const DRAIN_MS = 2000;

interface EditorStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Aborted when the process is asked to end. */
  readonly stop: AbortSignal;
}

/**
 * Serves one editor until its input ends. `initialize` is answered before the SDK and the database are loaded: an editor waits
 * for it when it starts. Resolves with false if the editor does not read what it was answered.
 */
export async function serveEditor(
  host: EditorHost,
  { input, output, stop }: EditorStreams,
): Promise<boolean> {
  const writer = new MessageWriter(output);
  let facts: ClientFacts | null = null;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();

  /** Answers `initialize`, also if it comes again. */
  const initialize = ({ id, params }: Record<string, unknown>): void => {
    if (!isRequestId(id)) {
      return;
    }
    const given = clientFacts(params);
    const result = initializeAnswer(params, { version: host.version, facts: given });
    if (result === null) {
      const message = "protocolVersion must be an integer.";
      writer.refuse({ code: INVALID_PARAMS, message }, id);
      return;
    }
    facts = given;
    void writer.write({ jsonrpc: "2.0", id, result });
    begin();
  };
  /** Messages for the SDK. */
  async function* messages(): AsyncGenerator<AnyMessage> {
    for await (const message of readMessages(input, (refusal) => writer.refuse(refusal))) {
      const { id, method } = message;
      if (method === "initialize") {
        initialize(message);
      } else if (method === undefined && !Number.isSafeInteger(id)) {
        // answers nothing that was asked, and the SDK would print its id
        continue;
      } else if (message["jsonrpc"] !== "2.0" || (id !== undefined && !isRequestId(id))) {
        // the SDK would send all of it back
        writer.refuse({
          code: INVALID_REQUEST,
          message: "The line is not a JSON-RPC 2.0 message.",
        });
      } else if (facts !== null) {
        yield message as AnyMessage;
      } else if (typeof method === "string" && isRequestId(id)) {
        const refusal = { code: INVALID_REQUEST, message: "Send initialize first." };
        writer.refuse(refusal, id);
      }
    }
  }
  const leave = (): void => void input.destroy();
  stop.addEventListener("abort", leave);
  const { readable, writable } = new TransformStream<AnyMessage, AnyMessage>();
  const inlet = writable.getWriter();
  const reading = pass(messages(), (message) => inlet.write(message));
  await Promise.race([begun, reading]);
  if (facts !== null) {
    const { connectEditor } = await import("./agent-app.ts");
    const outlet = new WritableStream<AnyMessage>({ write: (message) => writer.write(message) });
    const connection = connectEditor(
      { readable, writable: outlet },
      { host, facts: () => facts ?? clientFacts(null) },
    );
    await reading;
    writer.release();
    // what was asked before is answered
    await connection.end();
  }
  stop.removeEventListener("abort", leave);
  return writer.isDrained(DRAIN_MS);
}

/** Passes each message on, until the input ends or is taken away. */
async function pass(
  messages: AsyncIterable<AnyMessage>,
  take: (message: AnyMessage) => Promise<void>,
): Promise<void> {
  try {
    for await (const message of messages) {
      await take(message);
    }
  } catch (error) {
    if (systemCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") {
      throw error;
    }
  }
}
