import { createInterface } from "node:readline";

import type { CliContext } from "../context.ts";
import { decodeUtf8 } from "../utf8.ts";
import type { InputEvent, InputSource, InputSourceEvents } from "./input.ts";

/** Standard input that is no terminal: lines, decoded one by one so that bad UTF-8 is refused. */
export function openPipeSource(cli: CliContext, on: InputSourceEvents): InputSource {
  cli.stdin.setEncoding("latin1");
  const lines = createInterface({ input: cli.stdin, terminal: false, crlfDelay: Infinity });
  lines.on("line", (text) => on.event(lineOf(text)));
  lines.on("close", () => on.event({ kind: "end" }));
  lines.on("error", on.lost);
  return {
    prompt: () => undefined,
    echo: () => undefined,
    empty: () => 0,
    close: async () => lines.close(),
  };
}

function lineOf(bytes: string): InputEvent {
  const text = decodeUtf8(Buffer.from(bytes, "latin1"));
  return text === null
    ? { kind: "unreadable" }
    : { kind: "line", text, pasted: false, shown: false };
}
