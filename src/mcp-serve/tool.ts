import type { Static, TSchema } from "typebox";

import type { Client } from "../client/client.ts";
import type { Connection } from "../client/connection.ts";
import type { RepriseError } from "../core/errors.ts";
import type { Shown } from "./shown.ts";
import type { Waits } from "./waits.ts";

/** Context of a call besides its arguments. */
export interface ToolCall {
  /** Calls of the HTTP API, as the caller that the gate let in. */
  readonly client: Client;
  readonly connection: Connection;
  /** Makes texts of sessions safe to show. */
  readonly shown: Shown;
  readonly waits: Waits;
  /** Aborted if the caller has no use for the result any more. */
  readonly signal: AbortSignal;
}

/** Checks a value by a schema: returns it, or why it does not fit (`invalid_request`). */
export type Check = (
  value: unknown,
  what: "field",
) => { readonly value: unknown } | { readonly error: RepriseError };

/** Hints of the protocol on what a tool does. */
interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of an object without other fields. */
  readonly input: TSchema;
  readonly hints: Hints;
  /** Takes arguments that fit the schema. Throws a ClientError. */
  run(args: unknown, call: ToolCall): Promise<object>;
}

/** Hints of a tool that reads what Reprise has stored. */
const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

interface Definition<Input extends TSchema> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  run(args: Static<Input>, call: ToolCall): Promise<object>;
}

export function readingTool<Input extends TSchema>(tool: Definition<Input>): Tool {
  return asTool(tool, READS);
}

/** A tool that is there only if the server may write. */
export function writingTool<Input extends TSchema>(
  tool: Definition<Input>,
  hints: Omit<Hints, "readOnlyHint">,
): Tool {
  return asTool(tool, { readOnlyHint: false, ...hints });
}

function asTool<Input extends TSchema>(tool: Definition<Input>, hints: Hints): Tool {
  // the arguments were checked by the schema that gives the type
  return { ...tool, hints, run: (args, call) => tool.run(args as Static<Input>, call) };
}
