import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { sessionTools } from "../../../src/agent/tools/session-tools.ts";
import { KnownFiles } from "../../../src/agent/known-files.ts";
import { readingFirst } from "../../helpers/reading-first.ts";
import { PERMITTED } from "../../helpers/permit.ts";
import { toolBox } from "../../helpers/tool-box.ts";

function boxOf(files: Readonly<Record<string, string | Uint8Array>>) {
  const box = toolBox(files);
  return {
    ...box,
    patch: (...lines: readonly string[]) =>
      box.call("apply_patch", {
        patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
      }),
    edit: (...edits: readonly (readonly [string, string, string])[]) =>
      box.call("multi_edit", {
        edits: edits.map(([path, old_text, new_text]) => ({ path, old_text, new_text })),
      }),
    file: (path: string) => {
      const at = join(box.repo, path);
      return existsSync(at) ? readFileSync(at, "utf8") : null;
    },
  };
}

describe("multi_edit", () => {
  it("[PERMISSION-80] makes all edits in their order, also several of one file under two names", async () => {
    const box = boxOf({ "a.txt": "one two\r\nthree\r\n", "b.txt": "\uFEFFone" });
    symlinkSync("a.txt", join(box.repo, "link"));
    chmodSync(join(box.repo, "a.txt"), 0o751);
    expect(
      await box.edit(
        ["a.txt", "one", "ONE"],
        ["b.txt", "one", "1"],
        ["link", "ONE two\nthree", "all\nof it"],
      ),
    ).toBe("edited a.txt (2 places)\nedited b.txt (1 place)");
    expect([box.file("a.txt"), box.file("b.txt")]).toEqual(["all\r\nof it\r\n", "\uFEFF1"]);
    expect(statSync(join(box.repo, "a.txt")).mode & 0o777).toBe(0o751);
    expect(readdirSync(box.repo).sort()).toEqual(["a.txt", "b.txt", "link"]);
  });

  it("[PERMISSION-80] makes none if one is not possible", async () => {
    const box = boxOf({ "a.txt": "one", "b.txt": "two two", latin: new Uint8Array([0xe9, 0x0a]) });
    const first = ["a.txt", "one", "1"] as const;
    expect(await box.edit(first, ["b.txt", "two", "2"])).toBe(
      "Error: b.txt: edit 2: old_text occurs 2 times; add lines around it, or set replace_all",
    );
    expect(await box.edit(first, ["a.txt", "one", "x"])).toContain("edit 2: old_text is not in");
    expect(await box.edit(first, ["a.txt", "1", "one"])).toContain("the edits change nothing");
    expect(await box.edit(first, ["missing", "a", "b"])).toContain("there is no such file");
    expect(await box.edit(first, ["latin", "a", "b"])).toContain("not UTF-8");
    expect(await box.edit(first, ["../outside", "a", "b"])).toContain("..");
    expect(await box.edit(first, [".git/config", "a", "b"])).toContain("off limits");
    expect(box.file("a.txt")).toBe("one");
  });
});

describe("apply_patch", () => {
  it("[PERMISSION-82] [PERMISSION-83] adds, changes, moves and deletes files, with their rights", async () => {
    const box = boxOf({ "a.txt": "one\ntwo\n", "run.sh": "echo\n", "old.txt": "old\n" });
    chmodSync(join(box.repo, "run.sh"), 0o755);
    expect(
      await box.patch(
        "*** Update File: a.txt",
        "-two",
        "+TWO",
        "*** Update File: run.sh",
        "*** Move to: bin/deep/run",
        " echo",
        "+exit",
        "*** Delete File: old.txt",
        "*** Add File: new/file.txt",
        "+new",
      ),
    ).toBe(
      "changed a.txt\nchanged run.sh, which is now bin/deep/run\ndeleted old.txt\ncreated new/file.txt",
    );
    expect(box.file("a.txt")).toBe("one\nTWO\n");
    expect([box.file("run.sh"), box.file("bin/deep/run")]).toEqual([null, "echo\nexit\n"]);
    expect(statSync(join(box.repo, "bin/deep/run")).mode & 0o777).toBe(0o755);
    expect([box.file("old.txt"), box.file("new/file.txt")]).toEqual([null, "new\n"]);
  });

  it("[PERMISSION-82] does nothing if a part of it is not possible", async () => {
    const box = boxOf({ "a.txt": "one\n", "b.txt": "two\n", "AGENTS.md": "x\n" });
    mkdirSync(join(box.repo, "folder"));
    symlinkSync("a.txt", join(box.repo, "link"));
    symlinkSync("/etc", join(box.repo, "out"));
    const good = ["*** Update File: a.txt", "-one", "+ONE"];
    for (const [bad, reason] of [
      [["*** Update File: b.txt", "-three"], "b.txt: part 1 of the patch: its lines are not"],
      [["*** Update File: link", "-one"], "a.txt is in this call twice"],
      [["*** Add File: b.txt", "+x"], "b.txt is there already"],
      [["*** Delete File: missing"], "there is no such file"],
      [["*** Delete File: folder"], "there is no such file"],
      [["*** Delete File: out/passwd"], "outside the session's folder"],
      [["*** Delete File: .git/config"], "off limits"],
      [["*** Update File: b.txt", "*** Move to: .claude/b"], "can be read but not written"],
      [["*** Update File: b.txt", "*** Move to: folder"], "folder is there already"],
      [["*** Update File: b.txt", "*** Move to: new", "*** Add File: new", "+x"], "twice"],
      [["*** Delete File: AGENTS.md"], "AGENTS.md is protected"],
      [["*** Update File: b.txt", "*** Move to: AGENTS.md"], "is there already"],
      [["*** Update File: b.txt", "*** Move to: sub/AGENTS.md"], "AGENTS.md is protected"],
      [["garbage"], "line 5 of the patch"],
    ] as const) {
      const result = await box.patch(...good, ...bad);
      expect(result).toMatch(/^Error: /);
      expect(result).toContain(reason);
    }
    expect(readdirSync(box.repo).sort()).toEqual(
      ["AGENTS.md", "a.txt", "b.txt", "folder", "link", "out"].sort(),
    );
    expect([box.file("a.txt"), box.file("b.txt")]).toEqual(["one\n", "two\n"]);
  });

  it("[PERMISSION-84] says what was done if a file changes meanwhile", async () => {
    const box = boxOf({ "a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n" });
    const known = new KnownFiles();
    const tools = sessionTools({
      repoPath: box.repo,
      protectedPaths: [],
      ...PERMITTED,
      known,
      permitFiles: async (_, parts) => {
        writeFileSync(join(box.repo, "b.txt"), "a person's\n");
        return parts.map(() => null);
      },
    });
    const files = ["a.txt", "b.txt", "c.txt"].map((path) => `*** Delete File: ${path}`);
    const patch = ["*** Begin Patch", ...files, "*** End Patch"].join("\n");
    expect(await readingFirst(tools, known)("apply_patch", { patch })).toBe(
      "Error: only a part of this was done:\ndeleted a.txt\nfailed: b.txt: file_changed: b.txt changed since you read it: read it again\nnot tried: c.txt",
    );
    expect([box.file("a.txt"), box.file("b.txt"), box.file("c.txt")]).toEqual([
      null,
      "a person's\n",
      "three\n",
    ]);
  });
});
