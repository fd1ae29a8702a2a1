import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../helpers/providers/steps.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";

const MODEL = "anthropic:claude-sonnet-5-5";
const counted: Step = { kind: "usage", input: 30_000, output: 2000 };

/** Sums of a session and all below it: of the rows of requests, or of the sums that are kept of each session. */
function sumsOf(database: string, id: string, table: "model_calls" | "model_usage"): unknown {
  using open = new DatabaseSync(database, { readOnly: true });
  const [calls, unknown, cost] =
    table === "model_calls"
      ? ["count(*)", "count(*) - count(price_micros)", "sum(price_micros)"]
      : ["sum(calls)", "sum(unpriced)", "sum(cost_micros)"];
  const row = open
    .prepare(
      `select ${calls} as calls, ${unknown} as unknown_calls, sum(input) as input,
        sum(cache_read) as cached, sum(output) as output, ${cost} as cost_micros
      from ${table} where session_id in (select id from sessions where id = ? or root_session_id = ?)`,
    )
    .get(id, id);
  return { ...row };
}

/** The same for all that shows them. */
async function expectSums(home: Home, database: string, id: string, what: string) {
  const at = ["--database", database];
  const rows = sumsOf(database, id, "model_calls");
  expect(sumsOf(database, id, "model_usage"), what).toEqual(rows);
  const groups = await home.call(["stats", "--by", "session", "--json", ...at]);
  const stats = JSON.parse(groups.stdout) as readonly { readonly key: string }[];
  expect(
    stats.find(({ key }) => key === id),
    what,
  ).toMatchObject(rows as object);
  expect((await home.call(["sessions", "verify", id, ...at])).code, what).toBe(0);
  const shown = await home.call(["sessions", "show", id, "--json", ...at]);
  const { usage, cost_micros } = JSON.parse(shown.stdout) as Record<string, unknown>;
  return { rows, usage, cost_micros };
}

function answer(body: string): readonly Step[] {
  const isResult = body.includes("tool_result");
  if (body.includes("break off")) {
    return [text("half"), { kind: "error", cause: "failed", message: "no" }];
  }
  if (body.includes("write a file")) {
    return body.includes("created a.txt")
      ? [text("Written."), counted]
      : [call("write_file", { path: "a.txt", content: "x" }), counted];
  }
  return body.includes("ask the child") && !isResult
    ? [reasoning("A child can do it."), call("delegate", { task: "count" }), counted]
    : [text("Done."), counted];
}

it("[COST-42] undo, a fresh context, an export, an import, a copy and a deletion keep sums equal to their rows, and the unknown unknown", async () => {
  const provider = await startProvider("anthropic", (_, body) => answer(body));
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: MODEL });
  const asked = await home.call(["--permission", "all", "-p", "ask the child", "--json"]);
  const { session_id: id } = JSON.parse(asked.stdout) as { session_id: string };
  await home.call(["--session", id, "-p", "write a file"]);
  const broken = await home.call(["--session", id, "-p", "break off"]);
  expect(broken.code).toBe(1);
  const before = await expectSums(home, home.database, id, "at first");
  expect(before.usage).toMatchObject({ calls: 5, unpriced_calls: 1 });
  expect(before.rows).toMatchObject({ calls: 6, unknown_calls: 1 });

  expect((await home.call(["sessions", "undo", id, "--exchange", "2"])).code).toBe(0);
  expect(await expectSums(home, home.database, id, "undo")).toEqual(before);
  expect((await home.call(["--session", id], { input: "/clear\n" })).code).toBe(0);
  expect(await expectSums(home, home.database, id, "clear")).toEqual(before);

  const file = join(home.home, "export.json");
  writeFileSync(file, (await home.call(["sessions", "export", id])).stdout);
  const [imported, copied] = [join(home.home, "imported.db"), join(home.home, "copied.db")];
  expect((await home.call(["sessions", "import", file, "--database", imported])).code).toBe(0);
  expect(await expectSums(home, imported, id, "import")).toEqual(before);
  expect((await home.call(["copy", "--to", copied])).code).toBe(0);
  expect(await expectSums(home, copied, id, "copy")).toEqual(before);
  expect((await home.call(["sessions", "delete", id, "--yes"])).code).toBe(0);
  expect(await home.call(["stats"])).toMatchObject({ stderr: "No model was asked yet.\n" });
});
