import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[TERM-33] processes that trim the file of a history lose nothing of what others write", async () => {
  const names = ["a", "b", "c", "d"];
  const wanted = names.flatMap((name) => Array.from({ length: 60 }, (_, n) => `${name}-${n}`));
  const old = Array.from({ length: 995 }, (_, n) => `{"text":"old ${n}","pasted":false}\n`).join(
    "",
  );
  for (let round = 0; round < testSize("history"); round += 1) {
    const file = join(temporaryFolder(), "history", "one.jsonl");
    mkdirSync(join(file, ".."));
    writeFileSync(file, old, { mode: 0o600 });
    const ends = names.map((name) => startProgram("history-add.ts", [file, name]).finished);
    for (const { code, stderr } of await Promise.all(ends)) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toContain('"old 0"');
    expect(wanted.filter((text) => !kept.includes(`"${text}"`))).toEqual([]);
  }
});
