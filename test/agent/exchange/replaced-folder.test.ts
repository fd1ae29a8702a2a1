import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { projectKeyOf } from "../../../src/store/project-key.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const CALLS = [
  ["read_file", { path: "key" }],
  ["list_files", {}],
  ["write_file", { path: "made", content: "x" }],
  ["run_command", { line: "cat key; touch made" }],
] as const;

/**
 * A session in the folder `above/inner`, whose model makes the calls above, one answer each. `replace` puts a
 * link to a folder with a key there, as a command of a session in `above` can; `whenAsked` runs at the first call.
 */
async function openInner(whenAsked: (replace: () => void) => void = () => undefined) {
  const [above, out] = [temporaryFolder(), temporaryFolder()];
  const inner = join(above, "inner");
  mkdirSync(inner);
  writeFileSync(join(out, "key"), "the secret key");
  const replace = (): void => {
    renameSync(inner, join(above, "away"));
    symlinkSync(out, inner);
  };
  const server = await startModelServer({
    answer: (messages) => {
      const [name, args] = CALLS[messages.filter(({ role }) => role === "assistant").length] ?? [];
      if (name === "read_file") {
        whenAsked(replace);
      }
      return name === undefined
        ? { content: "end" }
        : { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
    },
  });
  const commands = { env: { PATH: process.env["PATH"] }, outputFolder: temporaryFolder() };
  const bench = await openBench(server, {}, { commands });
  const open = async (repo_path: string, project_key?: string) =>
    bench.store.write(createSession, {
      repo_path,
      project_key: project_key ?? (await projectKeyOf(repo_path)),
      permission: "all",
    });
  const results = () =>
    (server.requests().at(-1) ?? []).flatMap(({ role, content }) =>
      role === "tool" ? [content] : [],
    );
  return { ...bench, server, above, inner, out, replace, open, results };
}

describe("a session whose folder was replaced by a link", () => {
  it("[SANDBOX-60] is refused before anything is stored or read, until the folder is back", async () => {
    const { open, run, server, store, above, inner, replace } = await openInner();
    const { id } = await open(inner);
    replace();
    await expect(run({ session_id: id, text: "go" })).rejects.toMatchObject({
      code: "folder_moved",
      message: expect.stringMatching(
        /^The session's folder now leads to [^/]*put the folder back[^/]*new session[^/]*$/,
      ) as string,
    });
    expect(server.requests()).toEqual([]);
    expect((await store.read(readDetail, { reference: id, all: true })).messages).toEqual([]);
    renameSync(inner, join(above, "link"));
    renameSync(join(above, "away"), inner);
    expect((await run({ session_id: id, text: "go" })).answer).toBe("end");
  });

  it("[SANDBOX-60] reads, writes and runs nothing if that happens during its exchange", async () => {
    const { open, run, results, inner, out } = await openInner((replace) => replace());
    const { id } = await open(inner);
    await run({ session_id: id, text: "go" });
    const answers = results();
    expect(answers).toHaveLength(CALLS.length);
    for (const answer of answers) {
      expect(answer).toContain("was replaced by a link");
    }
    expect(readdirSync(out)).toEqual(["key"]);
  });

  it("[SANDBOX-60] works in the folder that a link led to when it began, and in a path without links", async () => {
    const { open, run, results, above, out } = await openInner();
    const link = join(above, "link");
    symlinkSync(out, link);
    const { id } = await open(link);
    await run({ session_id: id, text: "go" });
    expect(results()[0]).toContain("the secret key");
    const imported = await open(out, "0123456789abcdef");
    await run({ session_id: imported.id, text: "go" });
    expect(results()[0]).toContain("the secret key");
  });
});
