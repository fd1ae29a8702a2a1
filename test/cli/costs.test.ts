import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { call, type Step, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { detailOf, sessionsOf } from "../helpers/sessions/seed.ts";

const MODEL = "anthropic:claude-sonnet-5-5";
/** Costs $0.06 and $0.02. */
const counted: Step = { kind: "usage", input: 30_000, output: 2000 };

async function aHome(answer: (body: string) => readonly Step[]) {
  const provider = await startProvider("anthropic", (_, body) => answer(body));
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return freshHome({ ...provider.env, REPRISE_MODEL: MODEL, NO_COLOR: "1" });
}

it("[COST-14] --json and sessions show have what an exchange and the session have cost", async () => {
  const home = await aHome(() => [text("answer"), counted]);
  const first = await home.call(["-p", "one", "--json"]);
  const document = JSON.parse(first.stdout) as Record<string, unknown>;
  expect(document).toMatchObject({
    cost_micros: 80_000,
    usage: { calls: 1, unpriced_calls: 0, input_tokens: 30_000, output_tokens: 2000 },
  });
  const id = String(document["session_id"]);
  await home.call(["--session", id, "-p", "two"]);
  expect(await detailOf(home, id)).toMatchObject({ cost_micros: 160_000, usage: { calls: 2 } });
  const { stdout } = await home.call(["sessions", "show", id]);
  expect(stdout).toMatch(/^ {2}cost {6}\$0\.16$/m);
  expect(stdout).toMatch(/^ {2}exchange {2}2 done, from #3 to #4, \d+ in, \d+ out, \$0\.08$/m);
});

it("[COST-15] /cost shows the exchange, the session, its sub-agents and each model", async () => {
  const home = await aHome((body) =>
    body.includes("ask the child") && !body.includes("tool_result")
      ? [call("delegate", { task: "count" }), counted]
      : [text("Done."), counted],
  );
  const empty = await home.call([], { input: "/cost\n" });
  expect(empty.stderr).toContain("No model has answered in this session.\n");
  const input = "ask the child\n/cost\nand now?\n/cost\n";
  const { code, stderr } = await home.call(["--permission", "all"], { input });
  expect(code).toBe(0);
  const lines = stderr.split("\n").filter((line) => line.includes("$"));
  expect(lines).toEqual([
    "this exchange: $0.24, 90,000 tokens in, 6,000 out",
    "this session: $0.16, 60,000 tokens in, 4,000 out",
    "with its sub-agents: $0.24, 90,000 tokens in, 6,000 out",
    `${MODEL}: $0.24, 3 requests`,
    "this exchange: $0.08, 30,000 tokens in, 2,000 out",
    "this session: $0.24, 90,000 tokens in, 6,000 out",
    "with its sub-agents: $0.32, 120,000 tokens in, 8,000 out",
    `${MODEL}: $0.32, 4 requests`,
  ]);
});

it("[COST-14] [COST-15] /cost and sessions show say that a price is unknown, and that a sum is the least", async () => {
  const provider = await startProvider("openai", () => [text("answer"), counted]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "openai:gpt-test" });
  const { stderr } = await home.call([], { input: "one\n/cost\n" });
  expect(stderr).toContain("this session: price unknown, 30,000 tokens in, 2,000 out\n");
  const [session] = await sessionsOf(home);
  const { stdout } = await home.call(["sessions", "show", session?.id ?? ""]);
  expect(stdout).toMatch(/^ {2}cost {6}1 request without a known price$/m);
  expect(stdout).toMatch(
    /^ {2}exchange {2}1 done, .* in, \d+ out, 1 request without a known price$/m,
  );
  const more = ["--session", session?.id ?? "", "--model", "anthropic:claude-sonnet-5-5"];
  const paid = await startProvider("anthropic", () => [text("answer"), counted]);
  onTestFinished(() => paid[Symbol.asyncDispose]());
  await home.call([...more, "-p", "two"], { env: paid.env });
  const both = await home.call(["sessions", "show", session?.id ?? ""]);
  expect(both.stdout).toMatch(/^ {2}cost {6}at least \$0\.08, 1 request without a known price$/m);
  const priced = freshHome({ ...provider.env, REPRISE_MODEL: "demo" });
  const free = await priced.call([], { input: "one\n/cost\n" });
  expect(free.stderr).toMatch(/^this session: \$0\.00, /m);
});

it("[COST-16] the status line shows the cost once it is known and above 0", async () => {
  const home = await aHome(() => [text("the answer"), counted]);
  const screen = openScreen(home, "reprise", { columns: 120 });
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("one\r");
  await screen.until(/^the answer$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n]).* of \d+k · \$0\.08 · /m);
  screen.type("two\r");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n]).* of \d+k · \$0\.16 · /m);
});

it("[COST-24] stats shows what models have read, written and cost, and fits a terminal of 80 columns", async () => {
  const home = await aHome(() => [text("answer"), counted]);
  const none = await home.call(["stats"]);
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "No model was asked yet.\n" });
  await home.call(["-p", "the first question of a session with a long title, which is cut"]);
  await home.call(["-p", "two"]);
  const { stdout } = await home.call(["stats", "--by", "model"]);
  expect(stdout.split("\n").map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
    "MODEL  REQUESTS  INPUT  CACHED  OUTPUT  COST",
    `${MODEL}  2  60k  0 %  4.0k  $0.16`,
    "",
  ]);
  const json = await home.call(["stats", "--by", "session", "--since", "1h", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject([
    { calls: 1, input: 30_000, output: 2000, cost_micros: 80_000, unknown_calls: 0 },
    { calls: 1 },
  ]);
  const wrong = await home.call(["stats", "--by", "year"]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("--by <group> takes day, session, folder or model.");
});
