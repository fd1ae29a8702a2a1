import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { type ProviderName, startScriptedProvider } from "./scripted-provider.ts";

const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/reprise", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../fixtures/programs/exchange-cost.ts", import.meta.url));

export interface ExchangeCost {
  /** Characters of the text that libraries gave to JSON.parse. */
  readonly parsed: number;
  /** Most bytes of live heap above an idle process's; 0 if it was not sampled. */
  readonly peak: number;
  readonly cpuMs: number;
}

/**
 * What an exchange costs, in a separate process, in which the model writes a long text in pieces of 4
 * characters: to a file, with a tool call, or as its answer.
 */
export async function exchangeCost(input: {
  readonly provider: ProviderName;
  readonly characters: number;
  readonly as: "call" | "answer";
  /** Sampling costs processor time of the process that is measured. */
  readonly sampleHeap: boolean;
}): Promise<ExchangeCost> {
  const text = "~".repeat(input.characters);
  const call = { kind: "call", name: "write_file", size: 4 } as const;
  const write = (path: string, content: string) => [
    { ...call, args: JSON.stringify({ path, content }) },
  ];
  await using provider = await startScriptedProvider(input.provider, (index) => {
    if (index === 0) {
      return write("short.txt", "");
    }
    if (index !== 2) {
      return [{ kind: "text", text: "done" }];
    }
    return input.as === "call"
      ? write("long.txt", text)
      : Array.from(
          { length: input.characters / 4 },
          () => ({ kind: "text", text: "~~~~" }) as const,
        );
  });
  const folder = mkdtempSync(join(tmpdir(), "reprise-cost-"));
  try {
    const gc = input.sampleHeap ? ["--expose-gc"] : [];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...gc, PROGRAM, join(folder, "reprise.db"), folder],
      { env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...provider.env } },
    );
    if (input.as === "call") {
      assert.equal(readFileSync(join(folder, "long.txt"), "utf8"), text);
    }
    return JSON.parse(stdout) as ExchangeCost;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
