import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { resolveSandbox } from "../../../src/rules/paths/sandbox.ts";
import { createLinkSearch } from "../../../src/workspace/files/control-links.ts";
import { holdFolder } from "../../../src/workspace/files/held-folder.ts";
import { resolvePath } from "../../../src/rules/paths/resolve-path.ts";
import { openFile } from "../../../src/workspace/files/open-file.ts";
import { READ_FILE, WRITE_FILE } from "../../../src/rules/tools/built-in.ts";
import { walkFiles } from "../../../src/agent/tools/walk.ts";
import type { MakeChanges } from "../../../src/agent/permit/permit.ts";
import { removeFile, replaceFile } from "../../../src/agent/tools/write-file.ts";
import { toolBox } from "../../helpers/tool-box.ts";

/**
 * A repository with `d/f`, and a folder outside with another `f`. `swap` replaces `d` by a link
 * to the outside: what a second process does between the check of a path and its use.
 */
function swappable() {
  const box = toolBox({ "d/f": "inside", "d/sub/g": "inside" });
  const out = join(box.outside, "out");
  mkdirSync(join(out, "sub"), { recursive: true });
  writeFileSync(join(out, "f"), "outside");
  writeFileSync(join(out, "only-outside"), "outside");
  return {
    out,
    repo: box.repo,
    at: async (path: string, purpose: "read" | "write") =>
      resolvePath(
        await resolveSandbox({
          repoPath: box.repo,
          protectedPaths: [],
          linked: createLinkSearch(),
          found: async () => null,
        }),
        path,
        purpose === "read" ? READ_FILE : WRITE_FILE,
      ),
    swap: () => {
      renameSync(join(box.repo, "d"), join(box.repo, "away"));
      symlinkSync(out, join(box.repo, "d"));
    },
  };
}

const REFUSED = { code: "invalid_request", message: expect.stringContaining("try again") };

describe("a folder that is replaced by a link between check and use", () => {
  it("[TOOL-3] lets no read out, also if the file was checked after the replacement", async () => {
    const { at, swap, out } = swappable();
    const place = await at("d/f", "read");
    swap();
    const stat = statSync(join(out, "f"), { bigint: true });
    await expect(openFile({ ...place, stat })).rejects.toMatchObject(REFUSED);
  });

  it("[TOOL-3] [TOOL-25] lets no write and no edit out, and nothing is created or truncated there", async () => {
    const { at, swap, out } = swappable();
    const places = [
      await at("d/f", "write"),
      await at("d/new", "write"),
      await at("d/sub/deep/new", "write"),
    ];
    swap();
    const before = readdirSync(out, { recursive: true }).map(String);
    const make: MakeChanges = (_root, _changes, act) => act();
    for (const place of places) {
      const written = replaceFile(place, { content: "written" }, make);
      await expect(written).rejects.toMatchObject(REFUSED);
    }
    for (const place of places) {
      const stat = statSync(join(out, "f"), { bigint: true });
      await expect(removeFile({ ...place, stat }, make)).rejects.toMatchObject(REFUSED);
    }
    expect(readdirSync(out, { recursive: true }).map(String)).toEqual(before);
    expect(statSync(join(out, "f")).size).toBe("outside".length);
  });

  it("[TOOL-3] shows no names from outside in a listing or a search", async () => {
    const { at, swap } = swappable();
    const top = await at("d", "read");
    swap();
    const walked = [];
    for await (const shown of walkFiles(top, () => {})) {
      walked.push(shown);
    }
    expect(walked).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "[TOOL-26] stays the same folder while it is held open, and moving it away is noticed",
    async () => {
      const { repo, out, swap } = swappable();
      await using held = await holdFolder(repo, join(repo, "d"));
      await held.check();
      swap();
      expect(readdirSync(held.at)).toContain("sub");
      writeFileSync(join(held.at, "made"), "x");
      expect(existsSync(join(out, "made"))).toBe(false);
      await expect(held.check()).rejects.toMatchObject(REFUSED);
    },
  );
});
