import { homedir } from "node:os";
import { dirname } from "node:path";

import { expect, it } from "vitest";

import { createCommandSandbox } from "../../../src/agent/sandbox/command-sandbox.ts";
import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[SANDBOX-1] has no sandbox for the user's home and the folders above it", async () => {
  const source = { state: temporaryFolder(), probe: createSandboxProbe() };
  const sandbox = createCommandSandbox(source, { env: {}, protectedPaths: [] });
  for (const folder of ["/", homedir(), dirname(homedir())]) {
    expect(await sandbox(folder)).toBeNull();
  }
});
