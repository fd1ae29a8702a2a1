import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  createCommandRecorder,
  settleLeft,
} from "../../../src/workspace/undo/commands/record-command.ts";
import { SNAPSHOT_LIMITS } from "../../../src/workspace/undo/commands/snapshot.ts";
import { changesOfExchange } from "../../../src/exchange/undo/show-changes.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { runs, undoBench, writes } from "../../helpers/undo-bench.ts";

const LINE = "rm -r a; mv b c; chmod +x d; ln -s e f; echo x >> ignored";

/** What `LINE` needs. */
async function treeBench() {
  const bench = await undoBench({
    "a/one.txt": "one\n",
    "a/deep/two.bin": Buffer.of(0, 255, 1),
    b: "b\n",
    d: "#!/bin/sh\n",
    e: "e\n",
    ignored: "1\n",
    ".gitignore": "ignored\n*.log\nnode_modules\n",
    "node_modules/x/y.js": "y\n",
  });
  mkdirSync(join(bench.repo, "a", "empty"), { mode: 0o710 });
  symlinkSync("one.txt", join(bench.repo, "a", "link"));
  chmodSync(join(bench.repo, "a", "one.txt"), 0o640);
  return bench;
}

const outcomes = (files: readonly { path: string; outcome: string }[]) =>
  Object.fromEntries(files.map(({ path, outcome }) => [path, outcome]));

/** Without the content of the ignored file, which nothing puts back. */
function withoutIgnored({ ignored: _, ...tree }: Record<string, string>) {
  return tree;
}

describe("undo of a command", () => {
  it("[UNDO-30] [UNDO-37] puts back bytes, modes, links and names, names ignored paths, and redoes", async () => {
    const bench = await treeBench();
    const before = bench.tree();
    await bench.change(1, runs(LINE));
    const after = bench.tree();
    expect(after["a"]).toBeUndefined();
    const { files } = await bench.undo();
    expect(outcomes(files)).toEqual({
      a: "restored",
      "a/deep": "restored",
      "a/deep/two.bin": "restored",
      "a/empty": "restored",
      "a/link": "restored",
      "a/one.txt": "restored",
      b: "restored",
      c: "restored",
      d: "restored",
      f: "restored",
      ignored: "unchanged",
    });
    expect(files.find(({ path }) => path === "ignored")?.reason).toContain("git ignores it");
    expect(withoutIgnored(bench.tree())).toEqual(withoutIgnored(before));
    expect(bench.file("ignored")).toBe("1\nx\n");
    await expect(bench.undo()).rejects.toMatchObject({ code: "nothing_to_undo" });
    await bench.redo();
    expect(bench.tree()).toEqual(after);
  });

  it("[UNDO-32] undoes a command whose Reprise was killed after it, or while it ran", async () => {
    for (const end of ["", "; echo done; sleep 60"]) {
      const bench = await treeBench();
      const before = bench.tree();
      const { location, repo, folder, session } = bench;
      const program = startProgram("undo-command.ts", [
        location,
        repo,
        folder,
        session.id,
        `${LINE}${end}`,
      ]);
      await program.waitFor(end === "" ? /ended\n/ : /done\n/);
      await program.stop();
      const { files } = await bench.undo({ n: 1 });
      expect(files.filter(({ outcome }) => outcome === "refused")).toEqual([]);
      expect(outcomes(files)).toMatchObject({ ignored: "unchanged", "a/one.txt": "restored" });
      expect(withoutIgnored(bench.tree())).toEqual(withoutIgnored(before));
    }
  });

  it("[UNDO-32] [PLANRUN-112] stores nothing that others changed after another process had taken the session", async () => {
    const { store, session, kept, repo, undo } = await undoBench({ a: "a\n" });
    const session_id = session.id;
    const record = createCommandRecorder({ store, session_id, n: () => 1, kept });
    await record({ call_id: "call", tool: "run_command", root: repo, own: [] }, async () => {
      writeFileSync(join(repo, "mine"), "");
      await settleLeft({ store, session_id, kept }, { isHeld: true });
      writeFileSync(join(repo, "other"), "");
    });
    expect(outcomes((await undo({ n: 1 })).files)).toEqual({ mine: "restored" });
    expect(readdirSync(repo).toSorted()).toEqual(["a", "other"]);
  });

  it("[UNDO-33] refuses what was changed after Reprise was killed: a person may have done it", async () => {
    const bench = await undoBench({ a: "a\n", b: "b\n" });
    const { location, repo, folder, session } = bench;
    const line = "echo c >> a; rm b; echo n > new; echo done; sleep 60";
    const args = [location, repo, folder, session.id, line];
    const program = startProgram("undo-command.ts", args);
    await program.waitFor(/done\n/);
    await program.stop();
    // as if all of it had been later than the last sign of life
    utimesSync(join(folder, session.id, "command", "running.json"), 1, 1);
    const tree = bench.tree();
    expect(outcomes((await bench.undo({ n: 1, dry_run: true })).files)).toEqual({
      a: "refused",
      b: "restored",
      new: "refused",
    });
    const { files } = await bench.undo({ n: 1 });
    expect(files.find(({ path }) => path === "a")?.reason).toContain("after Reprise was killed");
    expect(bench.tree()).toEqual({ ...tree, b: `644 ${Buffer.from("b\n").toString("base64")}` });
  });

  it("[UNDO-34] records only the files that the session changed in a folder over the limits, and says so", async () => {
    const limits = { files: 3, bytes: 1000 };
    const bench = await undoBench({ a: "a\n", b: "b\n", c: "c\n", d: "d\n" }, undefined, {
      limits,
    });
    await bench.change(1, writes("a", "A\n"), writes("sub/e", "e\n"));
    const before = bench.tree();
    await bench.change(2, runs("echo x >> a; echo x >> b; rm -r sub; ln -s / sub"));
    const { files } = await bench.undo({ n: 2 });
    expect(outcomes(files)).toEqual({
      ".": "unchanged",
      a: "restored",
      sub: "restored",
      "sub/e": "restored",
    });
    expect(files[0]?.reason).toContain("20,000 files or 256 MiB");
    expect(bench.tree()).toEqual({
      ...before,
      b: `644 ${Buffer.from("b\nx\n").toString("base64")}`,
    });
    expect(SNAPSHOT_LIMITS).toEqual({ files: 20_000, bytes: 256 * 1024 * 1024 });
    // what a command leaves over the limits is not undone, but what was there before is
    const small = await undoBench({ a: "a\n" }, undefined, { limits });
    await small.change(1, runs("rm a; for i in 1 2 3 4 5 6 7; do echo $i > n$i; done"));
    expect(outcomes((await small.undo()).files)).toEqual({ ".": "unchanged", a: "restored" });
    expect(small.file("a")).toBe("a\n");
  });

  it("[UNDO-35] names what it cannot record, follows no link and leaves .git and ignored files alone", async () => {
    const bench = await undoBench({
      "folder/file": "inside\n",
      "one\ntwo": "newline\n",
      hard: "hard\n",
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/info/exclude": "mine\n",
      ".gitignore": "node_modules\n",
      mine: "1\n",
      "node_modules/x": "x\n",
      kept: "same\n",
    });
    mkdirSync(join(bench.outside, "other"));
    writeFileSync(join(bench.outside, "other", "file"), "outside\n");
    linkSync(join(bench.repo, "hard"), join(bench.repo, "hard2"));
    const before = bench.tree();
    const line = [
      "rm -r folder; ln -s ../other folder; rm .gitignore; mkfifo pipe; echo x >> hard",
      "mv one* moved; echo bad >> .git/HEAD; touch $(printf 'bad\\377'); rm -f mine; chmod 700 kept",
      "echo y > node_modules/y",
    ].join("; ");
    await bench.change(1, runs(line));
    const found = await changesOfExchange(bench, { reference: bench.session.id, n: 1 });
    expect(new Set(found.filter(({ reason }) => reason !== null).map(({ path }) => path))).toEqual(
      new Set(["pipe", "bad\uFFFD", "mine", "node_modules"]),
    );
    const { files } = await bench.undo();
    expect(outcomes(files)).toEqual({
      ".gitignore": "restored",
      "bad\uFFFD": "unchanged",
      folder: "restored",
      "folder/file": "restored",
      hard: "restored",
      hard2: "restored",
      kept: "restored",
      mine: "unchanged",
      moved: "restored",
      node_modules: "unchanged",
      "one\ntwo": "restored",
      pipe: "unchanged",
    });
    execFileSync("sh", ["-c", "rm pipe bad*"], { cwd: bench.repo });
    const { mine: _, ...rest } = before;
    const after = bench.tree();
    expect(after).toMatchObject({ ...rest, ".git/HEAD": after[".git/HEAD"] });
    expect(bench.file(".git/HEAD")).toBe("ref: refs/heads/main\nbad\n");
    expect(readFileSync(join(bench.outside, "other", "file"), "utf8")).toBe("outside\n");
  });

  it("[UNDO-36] changes after a command are never overwritten, and its bytes are for their owner alone", async () => {
    const bench = await undoBench({ a: "a\n", b: "b\n" });
    await bench.change(
      1,
      writes("a", "A\n"),
      runs("echo x >> a; echo x >> b"),
      runs("echo y >> b"),
    );
    bench.write("b", "a person's\n");
    const { files } = await bench.undo();
    expect(outcomes(files)).toEqual({ a: "restored", b: "refused" });
    expect([bench.file("a"), bench.file("b")]).toEqual(["a\n", "a person's\n"]);
    const at = join(bench.folder, bench.session.id, "command");
    const modes = readdirSync(at).filter((name) => statSync(join(at, name)).isFile());
    expect(modes.map((name) => statSync(join(at, name)).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(modes.filter((name) => !name.startsWith("pack-"))).toEqual(["snapshot.json"]);
    // a command without changes is not listed
    await bench.change(2, runs("cat a"));
    expect(await changesOfExchange(bench, { reference: bench.session.id, n: 2 })).toEqual([]);
    rmSync(at, { recursive: true });
    writeFileSync(at, "no folder");
    await bench.change(3, runs("echo z >> a"));
    const [whole, ...others] = await changesOfExchange(bench, {
      reference: bench.session.id,
      n: 3,
    });
    expect([whole?.path, others]).toEqual([".", []]);
  });
});
