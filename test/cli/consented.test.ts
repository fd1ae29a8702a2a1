import { readFileSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { type Client, createClient } from "../../src/client/client.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";

const call = (name: string, args: object): ModelAnswer => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

/** Delegates what begins with `delegate ` to a sub-agent; reads the file that anything else names, and writes it. */
function answer(messages: readonly SentMessage[]): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const asked = messages[at]?.content ?? "";
  const results = messages.slice(at).filter(({ role }) => role === "tool").length;
  const [, task] = /^delegate (.*)$/.exec(asked) ?? [];
  const calls =
    task === undefined
      ? [call("read_file", { path: asked }), call("write_file", { path: asked, content: "new\n" })]
      : [call("delegate", { persona: "assistant", task })];
  return calls[results] ?? { content: `it is: ${messages.at(-1)?.content}` };
}

async function finished(client: Client, id: string, n: number): Promise<string> {
  let exchange = await client.getExchange(id, n);
  while (exchange.ended_at === null) {
    await sleep(20);
    exchange = await client.getExchange(id, n);
  }
  return exchange.state;
}

const shown = async (home: Home, id: string): Promise<string> =>
  (await home.call(["sessions", "show", id])).stdout;

it("[PERMISSION-36] [PERMISSION-37] [PERMISSION-39] [HTTP-233] a question at depth 2 is answered with the token after its terminal was killed, and who did it is kept", async () => {
  const server = await startModelServer({ answer });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const file = join(home.project, "a.txt");
  writeFileSync(file, "old\n");
  const terminal = openTerminal(home, "exec reprise");
  await terminal.shows(/> $/);
  terminal.type("delegate delegate a.txt\r");
  await terminal.shows(/\| -old[^]*\| \+new[^]*answer> $/);
  terminal.kill("SIGKILL");
  await terminal.finished;
  const root =
    (await sessionsOf(home)).find((session) => session.parent_session_id === null)?.id ?? "";

  const service = home.start(["serve", "--port", "0", "--repos", home.project]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)\n(?:.+\n)*version .+\n/);
  const without = createClient({ baseUrl: url });
  const [question] = await without.listQuestions(root);
  expect(question?.path).toHaveLength(3);
  expect(question?.text).toContain("-old\n+new");
  expect(question?.answered_who).toBeNull();
  const { id = "", session_id = "" } = question ?? {};
  const yes = { choice: "allow_session" };
  await expect(without.answerQuestion(root, id, yes)).rejects.toMatchObject({
    code: "token_required",
  });
  const wrong = createClient({ baseUrl: url, token: "0".repeat(64) });
  await expect(wrong.answerQuestion(root, id, yes)).rejects.toMatchObject({ status: 401 });
  expect(await without.listQuestions(root)).toHaveLength(1);
  expect(readFileSync(file, "utf8")).toBe("old\n");

  const token = readFileSync(join(home.home, ".local/state/reprise/token"), "utf8").trim();
  const client = createClient({ baseUrl: url, token });
  await client.answerQuestion(root, id, yes);
  expect(await finished(client, root, 1)).toBe("done");
  expect(readFileSync(file, "utf8")).toBe("new\n");

  await expect(client.answerQuestion(root, id, yes)).rejects.toThrow(/answered by token at \d{4}-/);
  expect(await client.listQuestions(root)).toEqual([]);
  expect(await without.listQuestions(root, { answered: true })).toMatchObject([
    { id, state: "answered", answered_who: "token" },
  ]);
  expect(await shown(home, session_id)).toMatch(
    new RegExp(`^  consent   \\S+ token answered question ${id}$`, "m"),
  );
  await client.patchSession(root, { permission: "edits" });
  const ofRoot = await shown(home, root);
  expect(ofRoot).toMatch(
    /^ {2}consent {3}\S+ token allowed without a question: write_file\(a\.txt\)$/m,
  );
  expect(ofRoot).toMatch(/^ {2}consent {3}\S+ token set the mode edits$/m);
  await service.stop("SIGTERM");

  // at a terminal
  const me = `${userInfo().username}@${hostname()}`;
  await home.call(["-p", "b.txt", "--session", root, "--permission", "ask"]);
  await home.call(["sessions", "answer", root, "deny"]);
  const again = await home.call(["sessions", "answer", root, "allow once"]);
  expect(again.stderr).toContain(`answered by ${me} at `);
  expect(again.stderr).toContain("[question_answered]");
  const mine = await shown(home, root);
  expect(mine).toContain(` ${me} set the mode ask\n`);
  expect(mine).toContain(` ${me} answered question `);
  const exported = (await home.call(["sessions", "export", root])).stdout;
  expect(exported).not.toContain(me);
});
