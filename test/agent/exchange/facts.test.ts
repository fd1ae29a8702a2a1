import { writeFileSync } from "node:fs";

import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { NOT_RUN, withResults } from "../../../src/agent/messages/thread-state.ts";
import { NO_FACTS } from "../../../src/core/calls.ts";
import { ToolSet } from "../../../src/core/tools.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { statusOf } from "../../../src/store/records/messages/call-facts.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  call,
  PROVIDERS,
  type ProviderName,
  startScriptedProvider,
  type Step,
  text,
} from "../../helpers/scripted-provider.ts";

/** Calls that end in every way in which a call of an exchange that is not stopped can end. */
const CALLS: readonly Step[] = [
  call("read_file", { path: "a.txt" }),
  call("read_file", { path: "none.txt" }),
  call("write_file", { path: ".git/config", content: "b" }),
  call("paint", { path: "c.txt" }),
  call("tell", { colour: "blue" }),
  call("tell", {}),
];

const tell = tool(({ colour }) => `it is ${colour}`, {
  name: "tell",
  description: "tells a colour",
  schema: z.object({ colour: z.string() }),
});

async function exchangeWith(name: ProviderName) {
  const provider = await startScriptedProvider(name, (index) =>
    index === 0 ? CALLS : [text("done")],
  );
  const declared = {
    name: "tell",
    effect: "reads",
    repeatable: true,
    subject: () => "the\ncolour",
  } as const;
  const bench = await openBench({ env: () => provider.env }, provider.env, {
    tools: new ToolSet([...BUILT_IN_TOOLS, declared]),
    programTools: [tell],
  });
  writeFileSync(`${bench.repo}/a.txt`, "a");
  await bench.run({ text: "go" });
  return { provider, bench };
}

it("[HTTP-251] [HTTP-252] [EVENT-21] what is known of calls is stored with them, in checkpoint, row and events", async () => {
  const { provider, bench } = await exchangeWith("openai");
  await using _ = provider;
  const rows = await expectNoDrift(bench.database, bench.session.id);
  const calls = rows.flatMap(({ tool_calls }) => tool_calls ?? []);
  const facts = [
    { name: "read_file", effect: "reads", subject: "a.txt" },
    { name: "read_file", effect: "reads", subject: "none.txt" },
    { name: "write_file", effect: "changes", subject: ".git/config" },
    { name: "paint", effect: null, subject: null },
    { name: "tell", effect: "reads", subject: "the colour" },
    { name: "tell", effect: "reads", subject: "the colour" },
  ];
  expect(calls).toMatchObject(facts);
  const results = rows.filter(({ role }) => role === "tool");
  const ends = Object.fromEntries(results.map(({ call_id, status }) => [call_id, status]));
  const statuses = ["ok", "failed", "denied", "not_run", "ok", "not_run"];
  expect(calls.map(({ id }) => ends[id])).toEqual(statuses);
  expect(rows.filter(({ role, status }) => role !== "tool" && status !== null)).toEqual([]);

  const called = bench.events.filter(({ type }) => type === "tool_call");
  expect(called).toMatchObject(facts);
  const ended = bench.events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
  expect(new Map(ended.map(({ call_id, status }) => [call_id, status]))).toEqual(
    new Map(calls.map(({ id }, at) => [id, statuses[at]])),
  );
  expect(ended.find(({ name }) => name === "write_file")).toMatchObject(facts[2] ?? {});
});

it.each(PROVIDERS)("[EXCHANGE-46] nothing of it is sent to %s", async (name) => {
  const { provider, bench } = await exchangeWith(name);
  await using _ = provider;
  await bench.run({ text: "again" });
  expect(provider.requests.length).toBe(3);
  const last = provider.requests.at(-1) ?? {};
  const sent = JSON.stringify(last["messages"]);
  // the results are there
  expect(sent).toContain("there is no tool of this name");
  expect(sent).not.toMatch(/reprise_|not_run|effect|subject|the colour/);
});

it("[HTTP-251] a call without a result gets the status of what is known of its end", () => {
  const open = { id: "a", name: "write_file", args: {}, ...NO_FACTS, result: null };
  const results = withResults([open, { ...open, id: "b" }], new Set(["b"]));
  expect(results.map((result) => [result.content, statusOf(result)])).toEqual([
    [OUTCOME_UNKNOWN, "unknown"],
    [NOT_RUN, "not_run"],
  ]);
});
