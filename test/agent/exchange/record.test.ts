import { expect, it } from "vitest";

import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { localPrincipal } from "../../../src/core/principal.ts";

/** The records of a session in order. */
async function recordsOf({ store, session }: Bench, reference = session.id) {
  return (await store.read(listExchanges, { reference, limit: 10 })).toReversed();
}

it("[RECORD-2] [RECORD-5] what failed is continued by another exchange, and events name the record", async () => {
  const refusal = { error: { message: "no", type: "authentication_error" }, status: 401 };
  const server = await startModelServer({
    answer: (_, index) => (index === 0 ? refusal : { content: "the answer" }),
  });
  const bench = await openBench(server);
  const principal = localPrincipal("terminal", null);
  await expect(bench.run({ text: "a question", principal })).rejects.toThrow("refused the key");
  await bench.run({ text: null, principal });
  const records = await recordsOf(bench);
  expect(records).toMatchObject([
    {
      n: 1,
      state: "failed",
      asked_by: "terminal",
      model: "openai:gpt-test",
      persona_name: "assistant",
      error_code: "model_unauthorized",
      error_sentence: expect.stringContaining("refused the key"),
      first_seq: 1,
      last_seq: 1,
    },
    { n: 2, state: "done", error_code: null, first_seq: 2, last_seq: 2 },
  ]);
  const named = new Set(bench.events.map(({ exchange_id }) => exchange_id));
  expect([...named]).toEqual(records.map(({ id }) => id));
  // what the session used is what its exchanges used
  const [before, after] = [records[0]?.input_tokens ?? 0, records[1]?.input_tokens ?? 0];
  const done = bench.events.at(-1);
  expect(done).toMatchObject({ type: "done", total_input_tokens: before + after });
});

it("[RECORD-4] an exchange whose process was killed is continued as the same one", async () => {
  const server = await startModelServer({ answer: () => ({ content: "the answer" }) });
  const bench = await openBench(server);
  const { store, session } = bench;
  const owner = { host: "gone", machine: "", pid: 1, command: "test", since: "" };
  const fence = await store.write(takeLease, { session_id: session.id, life_ms: 60_000, owner });
  const begin = { fence, content: "a question", model: null, persona_name: null };
  const { record } = await store.write(beginExchange, begin);
  await store.write(releaseLease, { fence, finished: false });
  expect(await recordsOf(bench)).toMatchObject([{ n: 1, state: "interrupted" }]);

  await bench.run({ text: null });
  expect(await recordsOf(bench)).toMatchObject([{ n: 1, id: record?.id, state: "done" }]);
  expect(new Set(bench.events.map(({ exchange_id }) => exchange_id))).toEqual(
    new Set([record?.id]),
  );
});

it("[RECORD-2] the exchange of a sub-agent names the one that it works for", async () => {
  const call = {
    id: "call_delegate",
    name: "delegate",
    arguments: JSON.stringify({ persona: "reviewer", task: "count" }),
  };
  const server = await startModelServer({
    answer: (messages, index) =>
      index === 1 || messages.at(-1)?.role === "tool"
        ? { content: "three" }
        : { toolCalls: [call] },
  });
  const bench = await openBench(server);
  await bench.run({ text: "how many?" });
  const { sessions } = await bench.store.read(listSessions, {
    limit: 10,
    parent_session_id: bench.session.id,
  });
  expect(await recordsOf(bench, sessions[0]?.id)).toMatchObject([
    { n: 1, state: "done", asked_by: "agent", parent_n: 1 },
  ]);
  expect(await recordsOf(bench)).toMatchObject([{ n: 1, state: "done", parent_n: null }]);
});
