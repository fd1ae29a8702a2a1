import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { repoInstructions } from "../../../src/rules/personas/repo-instructions.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { TRUSTED } from "../../helpers/trust.ts";

function repoWith(content: string | Uint8Array): string {
  const repo = temporaryFolder();
  writeFileSync(join(repo, "AGENTS.md"), content);
  return repo;
}

describe("repoInstructions", () => {
  it("gives AGENTS.md, or null if there is none", async () => {
    expect(await repoInstructions(repoWith("\u{FEFF}Use tabs.\n"), TRUSTED)).toBe("Use tabs.");
    expect(await repoInstructions(repoWith(" \n"), TRUSTED)).toBeNull();
    expect(await repoInstructions(temporaryFolder(), TRUSTED)).toBeNull();
    expect(await repoInstructions("/not/there", TRUSTED)).toBeNull();
  });

  it("gives 64 KB at most, whole characters, and says that there is more", async () => {
    const exact = "x".repeat(64 * 1024);
    expect(await repoInstructions(repoWith(exact), TRUSTED)).toBe(exact);
    const long = await repoInstructions(repoWith(`x${"😀".repeat(50_000)}`), TRUSTED);
    expect(long).toMatch(
      /^x(?:😀)+\n\n\(AGENTS\.md continues; only its first 64 KB are included\)$/u,
    );
    expect(Buffer.byteLength(long ?? "")).toBeLessThan(64 * 1024 + 100);
  });

  it("gives only what can be stored", async () => {
    expect(await repoInstructions(repoWith(Buffer.from([0x61, 0, 0xff, 0x62])), TRUSTED)).toBe(
      "a\u{FFFD}\u{FFFD}b",
    );
  });

  it("reads only a regular file in the repository", async () => {
    const repo = temporaryFolder();
    const secret = repoWith("secret");
    symlinkSync(join(secret, "AGENTS.md"), join(repo, "AGENTS.md"));
    expect(await repoInstructions(repo, TRUSTED)).toBeNull();

    const inside = temporaryFolder();
    writeFileSync(join(inside, "GUIDE.md"), "guide");
    symlinkSync("GUIDE.md", join(inside, "AGENTS.md"));
    expect(await repoInstructions(inside, TRUSTED)).toBe("guide");

    const folder = temporaryFolder();
    mkdirSync(join(folder, "AGENTS.md"));
    expect(await repoInstructions(folder, TRUSTED)).toBeNull();

    const pipe = temporaryFolder();
    execFileSync("mkfifo", [join(pipe, "AGENTS.md")]);
    expect(await repoInstructions(pipe, TRUSTED)).toBeNull();
  });
});
