import { chmodSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { sandboxHome } from "./run-confined.ts";

const sandbox = await sandboxHome();
const { bubblewrap } = await createSandboxProbe()();
afterAll(() => sandbox[Symbol.dispose]());

describe.skipIf(sandbox.reason !== null || bubblewrap === null)("a folder that is replaced", () => {
  const { home, run } = sandbox;

  function folders(name: string) {
    const [inner, away, other] = ["inner", "away", "other"].map((each) => join(home, name, each));
    [inner, other].forEach((path) => mkdirSync(path ?? "", { recursive: true }));
    return { inner: inner ?? "", away: away ?? "", other: other ?? "" };
  }

  it("[SANDBOX-61] by a link before the command starts lets it not start", async () => {
    const { inner, away, other } = folders("before");
    const beforeStart = (): void => {
      renameSync(inner, away);
      symlinkSync(other, inner);
    };
    const { code, output } = await run("touch made", { at: inner, beforeStart });
    expect(output).toContain("the session's folder was replaced meanwhile");
    expect({ code, away: readdirSync(away), other: readdirSync(other) }).toEqual({
      code: 125,
      away: [],
      other: [],
    });
  });

  it("[SANDBOX-61] while it starts is not what the command gets, and is not left open for it", async () => {
    const { inner, away, other } = folders("while");
    const file = join(home, "swap");
    // longer than the time between two checks of the disk: see sandbox/limits.ts
    const swap = `mv '${inner}' '${away}'; sleep 0.3; mv '${other}' '${inner}'`;
    writeFileSync(file, `#!/bin/sh\n${swap}\nexec ${bubblewrap?.file} "$@"\n`);
    chmodSync(file, 0o755);
    const swapping = bubblewrap === null ? {} : { bubblewrap: { ...bubblewrap, file } };
    const { output } = await run("touch made; echo /proc/self/fd/*", { at: inner, ...swapping });
    expect(output).not.toContain("/8");
    expect([readdirSync(away), readdirSync(inner)]).toEqual([["made"], []]);
  });
});
