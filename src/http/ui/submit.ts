import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";
import type { Principal } from "../../core/principal.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { readCurrent } from "../../store/exchanges/current.ts";
import { readRecord } from "../../store/exchanges/read.ts";
import { type AnswerQuestion, answerQuestion } from "../../store/questions/answer.ts";
import { toolCallsOf } from "../../store/messages/rows.ts";
import { listOpenQuestions, readQuestion } from "../../store/questions/read.ts";
import { readSession } from "../../store/sessions/read.ts";
import { queueRequested } from "../../store/sessions/requests.ts";
import type { Operation, Store, Tx } from "../../store/store.ts";
import { isSentMessage, keyOfMessage } from "./client-ids.ts";
import type { FollowedExchange } from "./follow-exchange.ts";
import { answerOf } from "./reply.ts";
import { type QuestionReply, refuseAt, type UiRequest } from "./request.ts";

/** An exchange that a request began or continues. */
export interface Submitted extends FollowedExchange {
  readonly exchange: ExchangeRecord;
  /** Answers to questions which the client shows as calls, by the questions' ids. */
  readonly answers: ReadonlyMap<string, string>;
  /** The calls with which the client shows what it has answered. */
  readonly replied: readonly string[];
}

/**
 * Queues the message of a client, or gives its answers. A message withdraws open questions, as one that is typed in
 * a terminal does. A request that is sent again changes nothing.
 *
 * Error codes: `invalid_request` for a new message beside answers; `nothing_to_continue` if no exchange waits; as `queueExchange` and `answerQuestion`.
 */
export async function submit(
  store: Store,
  {
    session_id,
    request,
    principal,
  }: {
    readonly session_id: string;
    readonly request: UiRequest;
    readonly principal: Principal;
  },
): Promise<Submitted> {
  if (request.type === "message") {
    const idempotencyKey = keyOfMessage(request.id);
    const { record: exchange } = await queueRequested(
      store,
      { reference: session_id, content: request.text, supersede: true },
      { principal, idempotencyKey },
    );
    const nothing = { after_seq: null, calls: [], answers: new Map<string, string>(), replied: [] };
    return { session_id, n: exchange.n, exchange, ...nothing };
  }
  const { calls, replies, message } = request;
  if (message !== null && !(await store.read(isSentMessage, { session_id, id: message }))) {
    throw refuseAt("/messages", "Send a new message and answers in two requests.");
  }
  const { exchange, after_seq } = await store.read(readPlace, { ...request, session_id });
  // all are checked before one is given
  const given = await chooseAnswers(store, session_id, replies);
  const answers = new Map<string, string>();
  for (const each of given) {
    const answer = await giveAnswer(store, { reference: session_id, principal, ...each });
    if (calls.includes(each.question)) {
      answers.set(each.question, answer);
    }
  }
  const replied = replies.flatMap(({ call }) => call ?? []);
  return { session_id, n: exchange.n, exchange, after_seq, calls, answers, replied };
}

interface ReadPlace extends Pick<Extract<UiRequest, { type: "answers" }>, "calls" | "exchange"> {
  readonly session_id: string;
}

/**
 * The exchange that asked, and the place from which the client continues: after the last call that it shows. What
 * came since may be more than it has seen, if the questions were answered before.
 */
const readPlace: Operation<
  ReadPlace,
  { readonly exchange: ExchangeRecord; readonly after_seq: number }
> = async (tx, { session_id, exchange: id, calls }) => {
  const { last_seq } = await readSession(tx, { id: session_id });
  const named = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    // PostgreSQL refuses texts with NUL
    .where("id", "=", id !== null && isUuid(id) ? id : "")
    .executeTakeFirst();
  const { n } = named ?? (await readCurrent(tx, [session_id])).get(session_id) ?? {};
  if (n === undefined) {
    throw new RepriseError(
      "nothing_to_continue",
      "No exchange of this session waits for an answer. Send a message.",
    );
  }
  const exchange = await readRecord(tx, session_id, n);
  const shown = await seqOfCalls(tx, exchange, calls);
  return { exchange, after_seq: shown ?? last_seq };
};

/** Answers with calls in which those of a client are searched. */
const MAX_ROWS = 50;

/** The position of the last answer of an exchange that has one of these calls. */
async function seqOfCalls(
  tx: Tx,
  { session_id, first_seq, last_seq }: ExchangeRecord,
  calls: readonly string[],
): Promise<number | null> {
  if (first_seq === null || calls.length === 0) {
    return null;
  }
  const rows = await tx.db
    .selectFrom("messages")
    .select(["seq", "tool_calls"])
    .where("session_id", "=", session_id)
    .where("seq", ">=", first_seq)
    .where("seq", "<=", last_seq ?? Number.MAX_SAFE_INTEGER)
    .where("tool_calls", "is not", null)
    .orderBy("seq", "desc")
    .limit(MAX_ROWS)
    .execute();
  const known = new Set(calls);
  const row = rows.find(({ tool_calls }) =>
    toolCallsOf(tool_calls ?? "[]").some((call) => known.has(call.id)),
  );
  return row?.seq ?? null;
}

async function chooseAnswers(
  store: Store,
  reference: string,
  replies: readonly QuestionReply[],
): Promise<readonly GivenAnswer[]> {
  const open = await store.read(listOpenQuestions, { reference });
  return replies.map(({ question, ...reply }) => {
    const asked = open.find(({ id }) => id === question);
    // the store says what became of one that is not open
    const { given, note } =
      asked === undefined ? { given: NOT_ASKED, note: null } : answerOf(asked, reply);
    return { question, given, note };
  });
}

type GivenAnswer = Pick<AnswerQuestion, "question" | "given" | "note">;

const NOT_ASKED = { text: "-" };

/** The answer that counts: another one, if it was answered before. */
async function giveAnswer(
  store: Store,
  given: GivenAnswer & Pick<AnswerQuestion, "reference" | "principal">,
): Promise<string> {
  try {
    const { answer } = await store.write(answerQuestion, { ...given, answered_by: "http" });
    return answer ?? "";
  } catch (error) {
    if (isRepriseError(error, "question_answered")) {
      const { answer } = await store.read(readQuestion, given.question);
      return answer ?? "";
    }
    throw error;
  }
}
