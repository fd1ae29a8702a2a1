import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** A folder with programs of these names and scripts. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return folder;
}

const WORKING = { bash: 'exec /bin/bash "$@"', prlimit: 'exec prlimit "$@"' };

describe("the search for a sandbox", () => {
  it.each([
    ["no bubblewrap", WORKING, /^bwrap is not installed \(package bubblewrap\)$/],
    ["nothing at all", {}, /bwrap.*bash.*prlimit is not installed \(package util-linux\)$/],
    [
      "one that is refused by the system",
      { ...WORKING, bwrap: "echo 'bwrap: No permissions' >&2; exit 1" },
      /^bubblewrap does not work here: bwrap: No permissions$/,
    ],
    [
      "an old one",
      { ...WORKING, bwrap: "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1" },
      /Unknown option/,
    ],
    [
      "one that contains nothing",
      {
        ...WORKING,
        bwrap: `while [ "$1" != --chdir ]; do shift; done; cd "$2"; shift 8; exec "$@"`,
      },
      /does not work here/,
    ],
    ["one that prints nothing", { ...WORKING, bwrap: "exit 0" }, /not contained/],
  ])("[SANDBOX-18] finds none with %s", async (_, scripts, reason) => {
    const probe = createSandboxProbe({ programs: [programs(scripts)] });
    expect(await probe()).toMatchObject({
      bubblewrap: null,
      reason: expect.stringMatching(reason),
    });
  });

  it.each([{ platform: "win32" }, { platform: "darwin" }, { processor: "riscv64" }] as const)(
    "[SANDBOX-18] finds none on %j",
    async (machine) => {
      expect((await createSandboxProbe(machine)()).reason).toMatch(/only$/);
    },
  );

  it("[SANDBOX-18] tries once in each process", async () => {
    const folder = programs({ ...WORKING, bwrap: "exit 1" });
    const probe = createSandboxProbe({ programs: [folder] });
    const first = probe();
    expect(probe()).toBe(first);
    await first;
  });
});
