import { createClient } from "../../src/client/client.ts";
import { ClientError } from "../../src/client/client-error.ts";
import { type Service, until } from "../fixtures/openapi-tools/service.ts";

/** The conversation of `test/fixtures/openapi-tools/` with the client of the package. */
export async function converse({ url, token, repo_path }: Service) {
  const client = createClient({ baseUrl: url, token });
  const { id } = await client.createSession({
    repo_path,
    permission: "all",
    metadata: { by: "reprise" },
  });
  const posted = await client.postMessage(id, "before", { idempotencyKey: "first" });
  const { n } = await client.queueExchange(id, "pay rent");
  const exchange = () => client.getExchange(id, n);
  const waiting = await until(exchange, ({ state }) => state === "waiting");
  const answers: (string | null)[] = [];
  for (const { id: question, choices } of await client.listQuestions(id)) {
    const given = await client.answerQuestion(id, question, { choice: choices?.[0]?.id ?? "" });
    answers.push(given.answer);
  }
  const done = await until(exchange, ({ state }) => state === "done");
  let isFinished = false;
  for await (const { event, data } of client.run(id, "hello")) {
    isFinished ||= event === "exchange" && data.state === "done";
  }

  const roles: string[] = [];
  const calls: string[] = [];
  let after_seq: number | null = 0;
  while (after_seq !== null) {
    const page = await client.listMessages(id, { limit: 2, after_seq });
    for (const { role, tool_calls } of page.messages) {
      roles.push(role);
      calls.push(...(tool_calls ?? []).map(({ name }) => name));
    }
    after_seq = page.next;
  }

  const metadata = { month: "May" };
  const renamed = await client.patchSession(id, { name: "Rent", archived: true, metadata });
  const listed = await client.listSessions({
    metadata: "by:reprise",
    archived: true,
    title: "ren",
  });
  const exported: unknown = JSON.parse(await client.exportSession(id));
  const missing = await errorOf(client.getSession("ffffffff"));
  const ended = await client.endSession(id);
  const late = await errorOf(client.postMessage(id, "late"));
  const wrong = await errorOf(client.listSessions({ limit: 0 }));
  const deleted = await client.deleteSession(id);
  return {
    posted: posted.seq,
    waiting: waiting.state,
    answers,
    done: done.error_code,
    isFinished,
    roles,
    calls,
    name: renamed.name,
    metadata: { ...renamed.metadata, by: undefined },
    listed: listed.sessions.map(({ name, title, last_seq }) => ({ name, title, last_seq })),
    format: exported instanceof Object && Reflect.get(exported, "format"),
    missing: [missing.status, missing.code],
    ended: ended.state,
    late: [late.status, late.code],
    wrong: wrong.faults.map(({ pointer }) => pointer),
    deleted: deleted.map(({ messages }) => messages),
  };
}

async function errorOf(call: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (error instanceof ClientError) {
    return error;
  }
  throw new Error("the call was not refused");
}
