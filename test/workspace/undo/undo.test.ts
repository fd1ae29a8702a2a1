import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { changesOfExchange, changedExchanges } from "../../../src/exchange/undo/show-changes.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { edits, undoBench, walked, writes } from "../../helpers/undo-bench.ts";

const restored = (path: string) => expect.objectContaining({ path, outcome: "restored" });

describe("undo", () => {
  it("[UNDO-1] [UNDO-2] puts back bytes, modes and names, and redo makes the changes again", async () => {
    const bench = await undoBench({ "a.txt": "one\r\ntwo\r\n", "run.sh": "#!/bin/sh\n" });
    bench.write("run.sh", "#!/bin/sh\n", 0o755);
    const before = bench.tree();
    await bench.change(
      1,
      edits("a.txt", "two", "three"),
      writes("run.sh", "#!/bin/sh\nexit 1\n"),
      writes("new/deep/b.txt", "b"),
      edits("a.txt", "three", "four"),
    );
    const after = bench.tree();
    expect(await bench.undo()).toEqual({
      n: 1,
      dry_run: false,
      files: [
        restored("a.txt"),
        restored("new"),
        restored("new/deep"),
        restored("new/deep/b.txt"),
        restored("run.sh"),
      ],
    });
    expect(bench.tree()).toEqual(before);
    await expect(bench.undo()).rejects.toMatchObject({ code: "nothing_to_undo" });
    await bench.redo();
    expect(bench.tree()).toEqual(after);
    await expect(bench.redo()).rejects.toMatchObject({ code: "nothing_to_undo" });
    await bench.undo();
    expect(bench.tree()).toEqual(before);
  });

  it("[UNDO-1] [PERMISSION-83] puts back what one call added, changed, moved and deleted", async () => {
    const bench = await undoBench({ "a.txt": "a\n", "b.txt": "b\n", "run.sh": "echo\n" });
    bench.write("run.sh", "echo\n", 0o755);
    const before = bench.tree();
    const patch = [
      "*** Begin Patch",
      "*** Update File: run.sh",
      "*** Move to: bin/run",
      "-echo",
      "+exit",
      "*** Delete File: b.txt",
      "*** Add File: new/c.txt",
      "+c",
      "*** End Patch",
    ].join("\n");
    const edit = { path: "a.txt", old_text: "a", new_text: "A" };
    await bench.change(1, ["apply_patch", { patch }], ["multi_edit", { edits: [edit] }]);
    const after = bench.tree();
    expect(Object.keys(after)).toEqual(["a.txt", "bin", "bin/run", "new", "new/c.txt"]);
    await bench.undo();
    expect(bench.tree()).toEqual(before);
    await bench.redo();
    expect(bench.tree()).toEqual(after);
  });

  it("[UNDO-3] overwrites no file that was changed since, undoes the others and names both", async () => {
    const bench = await undoBench({
      "a.txt": "a\n",
      "b.txt": "b\n",
      "c.txt": "c\n",
      "d.txt": "d\n",
    });
    await bench.change(
      1,
      writes("a.txt", "A\n"),
      writes("b.txt", "B\n"),
      writes("c.txt", "C\n"),
      writes("d.txt", "D\n"),
      writes("e/new.txt", "E\n"),
    );
    bench.write("a.txt", "A\na person's\n");
    bench.write("b.txt", "B\n", 0o600);
    rmSync(join(bench.repo, "c.txt"));
    bench.write("e/other.txt", "a person's");
    const refused = (path: string, diff: unknown) =>
      expect.objectContaining({
        path,
        outcome: "refused",
        reason: expect.stringContaining("changed since"),
        diff,
      });
    const { files } = await bench.undo();
    expect(files).toEqual([
      refused("a.txt", expect.stringContaining("+a person's")),
      refused("b.txt", expect.stringContaining("mode 644 -> a file of 2 bytes, mode 600")),
      refused("c.txt", expect.stringContaining("+++ /dev/null")),
      restored("d.txt"),
      {
        path: "e",
        outcome: "unchanged",
        reason: "the folder holds other files",
        diff: expect.anything(),
      },
      restored("e/new.txt"),
    ]);
    expect(bench.file("a.txt")).toBe("A\na person's\n");
    expect(bench.file("b.txt")).toBe("B\n");
    expect(bench.file("d.txt")).toBe("d\n");
    expect(readdirSync(bench.repo)).toEqual(["a.txt", "b.txt", "d.txt", "e"]);
    // what was refused can be undone once it is as the exchange left it
    bench.write("a.txt", "A\n");
    expect((await bench.undo({ files: ["a.txt"] })).files).toEqual([restored("a.txt")]);
    expect(bench.file("a.txt")).toBe("a\n");
  });

  it("[UNDO-3] leaves a file that something else changed between two changes of the exchange", async () => {
    const bench = await undoBench({ "a.txt": "one" });
    await bench.within({}, async (call) => {
      await call("write_file", { path: "a.txt", content: "two" });
      bench.write("a.txt", "two, and a person's");
      await call("edit_file", { path: "a.txt", old_text: "two", new_text: "three" });
    });
    expect((await bench.undo()).files).toEqual([
      {
        path: "a.txt",
        outcome: "refused",
        reason: expect.stringContaining("between two changes"),
        diff: null,
      },
    ]);
    expect(bench.file("a.txt")).toBe("three, and a person's");
  });

  it("[UNDO-4] with dry_run changes nothing, and says what would be done", async () => {
    const bench = await undoBench({ "a.txt": "one\n" });
    await bench.change(1, writes("a.txt", "two\n"), writes("b.txt", "b"));
    const before = walked(bench.outside);
    const { files, dry_run } = await bench.undo({ dry_run: true });
    expect(dry_run).toBe(true);
    expect(files).toEqual([restored("a.txt"), restored("b.txt")]);
    expect(files[0]?.diff).toContain("-two\n+one\n");
    expect(walked(bench.outside)).toEqual(before);
    expect(await changedExchanges(bench, { reference: bench.session.id })).toEqual([
      { n: 1, changes: 2, undone: 0 },
    ]);
  });

  it("[UNDO-38] with dry_run says of a folder that holds other files what undo does with it", async () => {
    const bench = await undoBench({});
    await bench.change(1, writes("n/m/a.txt", "a"));
    await bench.change(2, writes("n/b.txt", "b"));
    const dry = await bench.undo({ n: 1, dry_run: true });
    const done = await bench.undo({ n: 1 });
    expect(dry.files).toEqual(done.files);
    expect(done.files.map(({ path, outcome }) => [path, outcome])).toEqual([
      ["n", "unchanged"],
      ["n/m", "restored"],
      ["n/m/a.txt", "restored"],
    ]);
    expect(bench.file("n/b.txt")).toBe("b");
  });

  it("[UNDO-5] is for one exchange: a later one that changed the file is undone first", async () => {
    const bench = await undoBench({ "a.txt": "0" });
    await bench.change(1, writes("a.txt", "1"));
    await bench.change(2, writes("a.txt", "2"));
    expect((await bench.undo({ n: 1 })).files).toMatchObject([{ outcome: "refused" }]);
    await bench.undo();
    expect(bench.file("a.txt")).toBe("1");
    await bench.undo();
    expect(bench.file("a.txt")).toBe("0");
    await bench.redo();
    expect(bench.file("a.txt")).toBe("1");
    await expect(bench.undo({ n: 3 })).rejects.toMatchObject({ code: "nothing_to_undo" });
    await expect(bench.undo({ n: 1, files: ["b"] })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("[UNDO-31] is for files that are named in any way, and for all below a folder", async () => {
    const bench = await undoBench({ "src/a.txt": "a", "src/b.txt": "b", "c.txt": "c" });
    await bench.change(1, writes("src/a.txt", "2"), writes("src/b.txt", "2"), writes("c.txt", "2"));
    const named = async (...files: string[]) =>
      (await bench.undo({ files, dry_run: true })).files.map(({ path }) => path);
    for (const folder of ["src", "src/", "./src", join(bench.repo, "src")]) {
      expect(await named(folder)).toEqual(["src/a.txt", "src/b.txt"]);
    }
    expect(await named("./src/a.txt")).toEqual(["src/a.txt"]);
    expect(await named(".")).toEqual(["c.txt", "src/a.txt", "src/b.txt"]);
    for (const other of ["", "sr", "src/c.txt", "../repo2", "/", "src/a.txt/x"]) {
      await expect(named("c.txt", other)).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  it("[UNDO-6] is refused while an exchange runs", async () => {
    const bench = await undoBench({ "a.txt": "0" });
    await bench.within({}, async (call) => {
      await call("write_file", { path: "a.txt", content: "1" });
      await expect(bench.undo()).rejects.toMatchObject({ code: "session_busy" });
    });
    expect(bench.file("a.txt")).toBe("1");
  });

  it("[UNDO-7] follows no link that has taken the place of a folder or a file", async () => {
    const bench = await undoBench({ "d/a.txt": "0", "b.txt": "0", "folder.txt": "0" });
    await bench.change(1, writes("d/a.txt", "1"), writes("b.txt", "1"), writes("folder.txt", "1"));
    const out = join(bench.outside, "out");
    renameSync(join(bench.repo, "d"), out);
    symlinkSync(out, join(bench.repo, "d"));
    renameSync(join(bench.repo, "b.txt"), join(out, "b.txt"));
    symlinkSync(join(out, "b.txt"), join(bench.repo, "b.txt"));
    rmSync(join(bench.repo, "folder.txt"));
    mkdirSync(join(bench.repo, "folder.txt"));
    const before = walked(bench.outside);
    const { files } = await bench.undo();
    expect(files.map(({ outcome }) => outcome)).toEqual(["refused", "refused", "refused"]);
    expect(walked(bench.outside)).toEqual(before);
  });

  it("[UNDO-8] brings back exactly the bytes before a tool that was killed before or after its effect", async () => {
    const killed = new Error("killed");
    for (const isMade of [false, true]) {
      const bench = await undoBench({ "a.txt": "0" });
      await bench.change(1, writes("a.txt", "1"));
      await bench.within(
        {},
        async (call) => call("write_file", { path: "a.txt", content: "2" }),
        (keep) => (call, changes, act) =>
          keep(call, changes, async () => {
            await (isMade ? act() : undefined);
            throw killed;
          }),
      );
      expect(bench.file("a.txt")).toBe(isMade ? "2" : "1");
      const before = bench.tree();
      expect((await bench.undo()).files).toEqual([restored("a.txt")]);
      expect(bench.file("a.txt")).toBe("0");
      await bench.redo();
      expect(bench.tree()).toEqual(before);
    }
  });

  it("[UNDO-8] continues after a tool that was killed and whose call was made otherwise", async () => {
    const bench = await undoBench({ "a.txt": "0" });
    await bench.within(
      {},
      async (call) => call("write_file", { path: "a.txt", content: "1" }),
      (keep) => (call, changes) => keep(call, changes, () => Promise.reject(new Error("killed"))),
    );
    await bench.change(1, writes("a.txt", "2"));
    await bench.undo();
    expect(bench.file("a.txt")).toBe("0");
    await bench.redo();
    expect(bench.file("a.txt")).toBe("2");
  });
});

describe("what is kept of changes", () => {
  it("[UNDO-9] is for its owner alone, and nothing of it is in the database", async () => {
    const bench = await undoBench({ "a.txt": "canary one" });
    await bench.change(1, edits("a.txt", "one", "two"));
    const files = Object.keys(walked(bench.folder)).map((path) => join(bench.folder, path));
    expect(files).toHaveLength(4);
    for (const path of files) {
      expect((statSync(path).mode & 0o077).toString(8)).toBe("0");
    }
  });

  it("[UNDO-10] is bounded for a session: the oldest is deleted first, and undo names what is missing", async () => {
    const bench = await undoBench({ "a.txt": "a", "b.txt": "b" }, { session: 600, all: 10_000 });
    await bench.change(1, writes("a.txt", "1".repeat(300)));
    await bench.change(2, writes("b.txt", "2".repeat(300)));
    await bench.change(3, writes("c.txt", "3".repeat(300)));
    expect((await bench.kept.usage()).bytes).toBeLessThanOrEqual(640);
    expect((await bench.undo({ n: 3 })).files).toEqual([restored("c.txt")]);
    await bench.change(4, writes("d.txt", "4".repeat(601)));
    expect((await bench.undo({ n: 4 })).files).toMatchObject([
      { outcome: "refused", reason: expect.stringContaining("too large") },
    ]);
    expect((await bench.undo({ n: 1 })).files).toMatchObject([
      { outcome: "refused", reason: expect.stringContaining("not kept any more") },
    ]);
    expect(bench.file("a.txt")).toHaveLength(300);
  });

  it("[UNDO-10] is bounded for all sessions together", async () => {
    const bench = await undoBench({}, { session: 1000, all: 1500 });
    const ids = Array.from({ length: 4 }, () => crypto.randomUUID());
    for (const [index, id] of ids.entries()) {
      await bench.kept.keep(id, Buffer.alloc(700, index));
    }
    expect(await bench.kept.usage()).toEqual({ bytes: 1400, sessions: 2 });
    await bench.kept.forget(ids);
    expect(await bench.kept.usage()).toEqual({ bytes: 0, sessions: 0 });
  });

  it("[UNDO-11] is of one machine: elsewhere the changes are listed, and undo names the machine", async () => {
    const bench = await undoBench({ "a.txt": "0\n" });
    await bench.change(1, writes("a.txt", "1\n"));
    const elsewhere = createKeptBytes(join(bench.outside, "other"));
    const { store, session } = bench;
    const input = { reference: session.id, direction: "undo" } as const;
    for (const kept of [elsewhere, null]) {
      await expect(undoExchange({ store, kept, command: "test" }, input)).rejects.toMatchObject({
        code: "changes_elsewhere",
      });
      expect(await changesOfExchange({ store, kept }, { ...input, n: 1 })).toEqual([
        {
          path: "a.txt",
          kind: "changed",
          tools: ["write_file"],
          calls: ["call-2"],
          added: null,
          removed: null,
          diff: null,
          reason: null,
          undone: false,
        },
      ]);
    }
    expect(await changesOfExchange(bench, { ...input, n: 1 })).toEqual([
      expect.objectContaining({ added: 1, removed: 1, diff: expect.stringContaining("-0\n+1\n") }),
    ]);
  });

  it("[UNDO-12] that cannot be written does not stop the agent: undo names the file", async () => {
    const bench = await undoBench({ "a.txt": "0" });
    writeFileSync(join(bench.outside, "state"), "in the way of the folder");
    await bench.change(1, writes("a.txt", "1"));
    rmSync(join(bench.outside, "state"));
    expect((await bench.undo()).files).toMatchObject([
      { outcome: "refused", reason: expect.stringContaining("was not kept") },
    ]);
    expect(bench.file("a.txt")).toBe("1");
  });

  it("[UNDO-12] that cannot be reached is named, and deleting sessions is not stopped by it", async () => {
    const bench = await undoBench({ "a.txt": "0\n" });
    await bench.change(1, writes("a.txt", "1\n"));
    renameSync(bench.folder, join(bench.outside, "elsewhere"));
    writeFileSync(bench.folder, "");
    await expect(bench.undo()).rejects.toMatchObject({
      code: "changes_elsewhere",
      message: expect.stringContaining("(ENOTDIR). Check who owns"),
    });
    const [change] = await changesOfExchange(bench, { reference: bench.session.id, n: 1 });
    expect(change).toMatchObject({ path: "a.txt", diff: null });
    expect(await bench.kept.forget([bench.session.id])).toBe(false);
  });

  it("[UNDO-13] is of no use if it is damaged, and then is not put back", async () => {
    const bench = await undoBench({ "a.txt": "0" });
    await bench.change(1, writes("a.txt", "1"));
    const folder = join(bench.folder, bench.session.id);
    for (const name of readdirSync(folder)) {
      writeFileSync(join(folder, name), "damaged");
    }
    expect((await bench.undo()).files).toMatchObject([{ outcome: "refused" }]);
    expect(bench.file("a.txt")).toBe("1");
  });
});
