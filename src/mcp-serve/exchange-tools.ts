import { Type } from "typebox";

import { closed } from "../core/schemas/field-schemas.ts";
import {
  type ExchangeDetail,
  type QuestionInfo,
  QueueExchangeRequest,
} from "../core/schemas/schemas.ts";
import { beginning, fitting, MAX_QUESTION_CHARS } from "./bounds.ts";
import type { Shown } from "./shown.ts";
import { idempotencyKey, sessionId, shownMessage } from "./session-tools.ts";
import { readingTool, type ToolCall, writingTool } from "./tool.ts";

/** Clients give up a call after 60 s. */
const MAX_WAIT_SECONDS = 50;
const DEFAULT_WAIT_SECONDS = 20;
/** Messages from the end of an exchange among which its answer is. */
const LAST_MESSAGES = 10;

const waitSeconds = (otherwise: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      description: `how long to wait for the end: ${otherwise} without it`,
    }),
  );

export const runTool = writingTool(
  {
    name: "exchange_run",
    title: "Run an exchange",
    description:
      "Sends a message to the agent of a session, which answers it with its tools, under the rules of the user who runs Reprise. Without `content`, what was interrupted or appended is continued. Returns at once, or after `wait_seconds`, with the state of the exchange: follow one that is `queued` or `running` with exchange_follow. One that is `waiting` waits for a person, whom you cannot replace. Only one exchange runs in a session: `session_busy` otherwise.",
    input: Type.Object(
      {
        session_id: sessionId(),
        content: QueueExchangeRequest.properties.content,
        idempotency_key: idempotencyKey(),
        wait_seconds: waitSeconds(0),
      },
      closed,
    ),
    run: async ({ session_id, content = null, idempotency_key: key, wait_seconds = 0 }, call) => {
      const queued = await call.client.queueExchange(session_id, content, {
        ifIdle: true,
        ...(key === undefined ? {} : { idempotencyKey: key }),
      });
      return followed(call, { id: queued.session_id, n: queued.n, seconds: wait_seconds });
    },
  },
  { destructiveHint: true, idempotentHint: false, openWorldHint: true },
);

export const followTool = readingTool({
  name: "exchange_follow",
  title: "Follow an exchange",
  description:
    "Waits until an exchange has ended or waits for a person, `wait_seconds` at most, and returns its state and the latest text of the agent. While `state` is `queued` or `running`, call it again. Messages in between are read with session_read.",
  input: Type.Object(
    {
      session_id: sessionId(),
      n: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "the number of the exchange; the last one without it",
        }),
      ),
      wait_seconds: waitSeconds(DEFAULT_WAIT_SECONDS),
    },
    closed,
  ),
  run: async ({ session_id, n, wait_seconds = DEFAULT_WAIT_SECONDS }, call) => {
    const { id } = await call.client.getSession(session_id, { messages: false });
    const [last] = n === undefined ? await call.client.listExchanges(id, { limit: 1 }) : [{ n }];
    return last === undefined
      ? { session_id: id, exchange: null }
      : followed(call, { id, n: last.n, seconds: wait_seconds });
  },
});

interface Followed {
  readonly id: string;
  readonly n: number;
  readonly seconds: number;
}

async function followed(call: ToolCall, { id, n, seconds }: Followed): Promise<object> {
  const { client, shown, waits, signal } = call;
  const exchange = await waits.until(
    () => client.getExchange(id, n),
    ({ state }) => state !== "queued" && state !== "running",
    { seconds, signal },
  );
  const { state, first_seq, last_seq, model, begun_at, ended_at, not_before } = exchange;
  return {
    session_id: id,
    exchange: {
      n,
      state,
      first_seq,
      last_seq,
      model: model === null ? null : shown.text(model),
      begun_at,
      ended_at,
      ...(not_before === null ? {} : { not_before }),
      ...errorOf(exchange, shown),
    },
    is_over: ended_at !== null,
    answer: await latestAnswer(call, exchange),
    waits_for: await waitsFor(call, exchange),
  };
}

function errorOf({ error_code, error_sentence }: ExchangeDetail, shown: Shown) {
  return error_code === null
    ? {}
    : { error: { code: error_code, detail: shown.text(error_sentence ?? "") } };
}

/** The latest text of the agent in an exchange; null before there is one. */
async function latestAnswer({ client, shown }: ToolCall, exchange: ExchangeDetail) {
  const { session_id, first_seq, last_seq } = exchange;
  if (first_seq === null) {
    return null;
  }
  const { messages } = await client.listMessages(session_id, {
    order: "desc",
    limit: LAST_MESSAGES,
    after_seq: first_seq - 1,
    all: true,
    ...(last_seq === null ? {} : { before_seq: last_seq + 1 }),
  });
  const answer = messages.find(({ role, content }) => role === "assistant" && content !== "");
  return answer === undefined ? null : shownMessage(answer, shown);
}

/** Returns who or what has to act before an exchange continues; null for one that runs, or has ended. */
async function waitsFor({ client, shown }: ToolCall, { session_id, state }: ExchangeDetail) {
  if (state === "waiting") {
    const questions = await client.listQuestions(session_id);
    return {
      who: "person",
      how: `A person answers with \`reprise sessions answer ${session_id}\`, in a terminal of the session, or in the page.`,
      questions: fitting(questions, (question) => shownQuestion(question, shown)),
    };
  }
  if (state === "interrupted") {
    return {
      who: "person",
      how: `A person continues it with \`reprise --session ${session_id}\`.`,
      questions: [],
    };
  }
  if (state === "queued") {
    const waiting = (await client.listWaiting()).find((each) => each.session_id === session_id);
    return waiting?.runnable === false
      ? {
          who: "node",
          how: "No service that is alive runs sessions of this folder. A person starts one, or trusts the folder.",
          command: waiting.command === null ? null : shown.text(waiting.command),
        }
      : null;
  }
  return null;
}

function shownQuestion({ id, session_id, kind, text, choices }: QuestionInfo, shown: Shown) {
  return {
    id,
    session_id,
    kind,
    text: beginning(shown.text(text), MAX_QUESTION_CHARS),
    choices: choices?.map((choice) => shown.text(choice.label)) ?? null,
  };
}
