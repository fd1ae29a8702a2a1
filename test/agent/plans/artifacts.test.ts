import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

import { expect, it } from "vitest";

import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { readFileChanges } from "../../../src/store/records/file-changes/read.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { describeEngine } from "../../helpers/engines.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import {
  handingIn,
  phase,
  PlanBench,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../../helpers/plan-bench.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const VALID = '{ "title": "Done" }\n';
const HASH = createHash("sha256").update(VALID).digest("hex");

type Turn = (messages: readonly SentMessage[], turn: number) => ModelAnswer;

/** A run whose models answer each turn of a phase with one of these, and then with a text. */
async function runOf(
  database: Parameters<typeof PlanBench.open>[0],
  turns: Readonly<Record<string, readonly (ModelAnswer | Turn)[]>>,
  phases: readonly ReturnType<typeof phase>[],
  repo = reportFolder(),
) {
  const server = await startModelServer({
    chunkSize: 100_000,
    answer: (messages) => {
      const key = phaseIn(messages) ?? "";
      const turn = messages.filter(({ role }) => role === "assistant").length;
      const answer = turns[key]?.[turn] ?? { content: `what ${key} has left` };
      return typeof answer === "function" ? answer(messages, turn) : answer;
    },
  });
  const kept = createKeptBytes(join(temporaryFolder(), "undo"));
  const bench = await PlanBench.open(database, server, { kept });
  const { id } = await storeRun({ store: bench.store, phases, repo });
  const row = async (key: string) => {
    const { phases: rows } = await bench.store.read(readRun, { reference: id });
    return rows.find((each) => each.key === key);
  };
  return { bench, server, id, repo, kept, row };
}

function entriesIn(folder: string): ReadonlySet<string> {
  return new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }));
}

/** Results of tools that the model of a phase has got, in its last request. */
function resultsIn(requests: readonly SentMessage[][], key: string): readonly string[] {
  const last = requests.findLast((messages) => phaseIn(messages) === key) ?? [];
  return last.flatMap(({ role, content }) => (role === "tool" ? [content] : []));
}

/** Messages that the model of a phase has got. */
function promptsIn(requests: readonly SentMessage[][], key: string): readonly string[] {
  const last = requests.findLast((messages) => phaseIn(messages) === key) ?? [];
  return last.flatMap(({ role, content }) => (role === "user" ? [content] : []));
}

describeEngine("an artifact", (engine) => {
  it("[PLANRUN-16] [PLANRUN-17] is checked, corrected and stored by Reprise, by a persona that writes no files", async () => {
    const first = '{\n  "name": "x"\n}';
    const run = await runOf(
      await engine.create(),
      { review: [handingIn(first), handingIn(VALID)] },
      [reporting("review", "out/report.json"), phase("end", ["review"])],
    );
    expect((await run.bench.run(run.id)).state).toBe("done");
    const [refused, stored] = resultsIn(run.server.requests(), "review");
    expect(refused).toMatch(/^Error: the artifact is not valid and was not stored/);
    expect(refused).toMatch(/\n2:3 error .*name.*\[unknown_property\]/);
    expect(stored).toMatch(/^the artifact is stored as out\/report\.json \(\d+ bytes\)$/);
    expect(readFileSync(join(run.repo, "out/report.json"), "utf8")).toBe(VALID);
    const row = await run.row("review");
    expect(row).toMatchObject({ state: "done", artifact_hash: HASH });
    expect(promptsIn(run.server.requests(), "end")[0]).toContain('artifact="out/report.json"');
    const offered = run.server.offeredTools();
    expect(offered[0]).toContain("hand_in");
    expect(offered[0]).not.toContain("hand_in_plan");
    expect(offered.at(-1)).not.toContain("hand_in");
    const { store } = run.bench;
    const changes = await store.read(readFileChanges, { session_id: run.id, n: 1 });
    expect(changes.map(({ path, tool }) => [path, tool])).toEqual([
      ["out", "hand_in"],
      ["out/report.json", "hand_in"],
    ]);
    expect((await verifySession(store, run.id)).findings).toEqual([]);
    expect((await verifySession(store, row?.child ?? "")).findings).toEqual([]);
    const { kept } = run;
    const undoing = { reference: run.id, direction: "undo" } as const;
    await undoExchange({ store, kept, command: "test" }, undoing);
    expect(existsSync(join(run.repo, "out"))).toBe(false);
  });

  it("[PLANRUN-16] is accepted once more without being written, and replaced by another one", async () => {
    const other = '{"title":"Other"}';
    const run = await runOf(
      await engine.create(),
      { review: [handingIn(VALID), handingIn(VALID), handingIn(other)] },
      [reporting("review", "report.json")],
    );
    writeFileSync(join(run.repo, "report.json"), "of the user\n");
    await run.bench.run(run.id);
    expect(resultsIn(run.server.requests(), "review")[1]).toMatch(/is already stored/);
    const { store } = run.bench;
    const changes = await store.read(readFileChanges, { session_id: run.id, n: 1 });
    expect(changes).toHaveLength(2);
    expect(readFileSync(join(run.repo, "report.json"), "utf8")).toBe(other);
    const { kept } = run;
    const undoing = { reference: run.id, direction: "undo" } as const;
    await undoExchange({ store, kept, command: "test" }, undoing);
    expect(readFileSync(join(run.repo, "report.json"), "utf8")).toBe("of the user\n");
  });

  it("[PLANRUN-18] [PLANRUN-19] is asked for twice more, and then the attempt fails", async () => {
    const forgotten = await runOf(await engine.create(), {}, [reporting("review", "report.json")]);
    await expect(forgotten.bench.run(forgotten.id)).rejects.toMatchObject({ code: "phase_failed" });
    expect(await forgotten.row("review")).toMatchObject({
      state: "failed",
      error_code: "artifact_missing",
      artifact_hash: null,
    });
    const prompts = promptsIn(forgotten.server.requests(), "review");
    expect(prompts).toHaveLength(3);
    expect(prompts[2]).toContain("report.json is missing. Hand in its whole content");
    const late = await runOf(
      await engine.create(),
      { review: [{ content: "I am done." }, { content: "Really." }, handingIn(VALID)] },
      [reporting("review", "report.json")],
    );
    expect((await late.bench.run(late.id)).state).toBe("done");
  });

  it("[PLANRUN-18] is not accepted if the file was changed after it was handed in", async () => {
    const path = "report.json";
    let repo = "";
    const change: Turn = () => {
      writeFileSync(join(repo, path), "changed");
      return { content: "I changed it." };
    };
    const remove: Turn = () => {
      rmSync(join(repo, path));
      return { content: "I removed it." };
    };
    const run = await runOf(
      await engine.create(),
      { review: [handingIn(VALID), change, handingIn(VALID), remove, handingIn(VALID)] },
      [reporting("review", path)],
    );
    ({ repo } = run);
    expect((await run.bench.run(run.id)).state).toBe("done");
    const prompts = promptsIn(run.server.requests(), "review");
    expect(prompts).toHaveLength(3);
    expect(prompts[1]).toContain("was changed or removed after you handed it in");
    expect(readFileSync(join(run.repo, path), "utf8")).toBe(VALID);
  });

  it("[PLANRUN-17] is never written through a link, over a folder, outside, or where no tool writes or only with a question", async () => {
    const outside = temporaryFolder();
    const repo = reportFolder();
    symlinkSync(outside, join(repo, "linked"));
    symlinkSync(join(outside, "target.json"), join(repo, "link.json"));
    mkdirSync(join(repo, "folder.json"));
    writeFileSync(join(repo, "Twin.json"), "{}");
    const paths = {
      "through-link": "linked/report.json",
      link: "link.json",
      folder: "folder.json",
      outside: "../report.json",
      absolute: join(outside, "report.json"),
      git: ".git/hooks/report.json",
      "other-git": ".GIT/config",
      control: ".vscode/tasks.json",
      secret: ".env",
      twin: "twin.json",
    };
    const run = await runOf(
      await engine.create(),
      Object.fromEntries(Object.keys(paths).map((key) => [key, [handingIn(VALID)]])),
      Object.entries(paths).map(([key, path]) => reporting(key, path)),
      repo,
    );
    const before = entriesIn(repo);
    await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "phase_failed" });
    for (const key of Object.keys(paths)) {
      const [result] = resultsIn(run.server.requests(), key);
      expect([key, result]).toEqual([key, expect.stringMatching(/^Error: /)]);
      expect(result).not.toContain("valid");
    }
    expect(readdirSync(outside)).toEqual([]);
    expect(entriesIn(repo)).toEqual(before);
  });

  it("[PLANRUN-16] is taken as it is if its schema was never published, and never written if it has 10 MB", async () => {
    const text = { path: "review.md", schema: "common/final-report@1" };
    const run = await runOf(
      await engine.create(),
      {
        text: [handingIn("# All is well\n")],
        huge: [handingIn(JSON.stringify({ title: "x".repeat(10_000_000) }))],
      },
      [
        { ...phase("text", [], "reviewer"), expected_artifact: text },
        reporting("huge", "huge.json"),
      ],
    );
    await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "phase_failed" });
    expect(resultsIn(run.server.requests(), "text")[0]).toContain("[schema_unpublished]");
    expect(readFileSync(join(run.repo, "review.md"), "utf8")).toBe("# All is well\n");
    expect(existsSync(join(run.repo, "huge.json"))).toBe(false);
  });

  it("[PLANRUN-18] [PLANRUN-103] that is never valid is never on the disk, and the attempt fails", async () => {
    const wrong = handingIn('{"name":"x"}');
    const run = await runOf(
      await engine.create(),
      { review: [wrong, { content: "done" }, wrong, { content: "done" }, wrong] },
      [reporting("review", "out/report.json")],
    );
    const before = entriesIn(run.repo);
    await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "phase_failed" });
    expect(await run.row("review")).toMatchObject({
      state: "failed",
      error_code: "artifact_missing",
      artifact_hash: null,
    });
    expect(promptsIn(run.server.requests(), "review")).toHaveLength(3);
    expect(entriesIn(run.repo)).toEqual(before);
    const { store } = run.bench;
    expect(await store.read(readFileChanges, { session_id: run.id, n: 1 })).toEqual([]);
  });

  it("[PLANRUN-103] is not accepted if the sub-agent puts a link, a folder or a twin in its place, before or after", async () => {
    let repo = "";
    const outside = temporaryFolder();
    const places: Readonly<Record<string, (path: string) => void>> = {
      link: (path) => {
        writeFileSync(join(outside, "same.json"), VALID);
        symlinkSync(join(outside, "same.json"), path);
      },
      folder: (path) => mkdirSync(path),
      twin: (path) => writeFileSync(path.replace("report", "Report"), VALID),
    };
    const put = (key: string): Turn => {
      return () => {
        rmSync(join(repo, key), { recursive: true, force: true });
        mkdirSync(join(repo, key));
        places[key]?.(join(repo, key, "report.json"));
        return { content: "done" };
      };
    };
    const keys = Object.keys(places);
    const run = await runOf(
      await engine.create(),
      Object.fromEntries(
        keys.map((key) => [key, [handingIn(VALID), put(key), handingIn(VALID), put(key)]]),
      ),
      keys.map((key) => reporting(key, `${key}/report.json`)),
    );
    ({ repo } = run);
    await expect(run.bench.run(run.id)).rejects.toMatchObject({ code: "phase_failed" });
    for (const key of keys) {
      expect([key, (await run.row(key))?.error_code]).toEqual([key, "artifact_missing"]);
      const [stored, refused] = resultsIn(run.server.requests(), key);
      expect(stored).toMatch(/^the artifact is stored/);
      expect([key, refused]).toEqual([key, expect.stringMatching(/^Error: /)]);
    }
    expect(readdirSync(outside)).toEqual(["same.json"]);
    expect((await verifySession(run.bench.store, run.id)).findings).toEqual([]);
  });
});
