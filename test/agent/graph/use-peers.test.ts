import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, it } from "vitest";

import { useLangChainOf } from "../../../src/agent/graph/use-peers.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const OURS = new URL("../../../src/agent/graph/graph-runner.ts", import.meta.url).href;
const TEST = import.meta.url;

/** Where an import in a module leads; Vitest starts Node.js with the flag for the second argument. */
const found = (from: string): string => import.meta.resolve("@langchain/core", from);

it("[CLI-162] takes LangChain from the agent's folder for Reprise's code alone, until the agent is disposed of", () => {
  const folder = temporaryFolder();
  const core = join(folder, "node_modules/@langchain/core");
  mkdirSync(core, { recursive: true });
  writeFileSync(join(core, "package.json"), '{"type":"module","exports":"./own.js"}');
  writeFileSync(join(core, "own.js"), "");
  const before = found(OURS);
  const own = pathToFileURL(join(core, "own.js")).href;
  {
    using _ = useLangChainOf(join(folder, "agent.js"));
    expect([found(OURS), found(TEST)]).toEqual([own, before]);
  }
  expect(found(OURS)).toBe(before);
});
