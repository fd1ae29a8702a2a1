import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Caller } from "../../core/origins.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { readCurrent } from "../../store/exchanges/current.ts";
import { readRecord } from "../../store/exchanges/read.ts";
import { type AnswerQuestion, answerQuestion } from "../../store/questions/answer.ts";
import { listOpenQuestions } from "../../store/questions/read.ts";
import { readSession } from "../../store/sessions/read.ts";
import { queueRequested } from "../../store/sessions/requests.ts";
import type { Operation, Store } from "../../store/store.ts";
import { keyOfMessage } from "./client-ids.ts";
import type { FollowedExchange } from "./follow-exchange.ts";
import { answerOf } from "./reply.ts";
import type { QuestionReply, UiRequest } from "./request.ts";

/** An exchange that a request began or continues. */
export interface Submitted extends FollowedExchange {
  readonly exchange: ExchangeRecord;
  /** Answers that were given to questions which the client shows as calls, by the questions' ids. */
  readonly answers: ReadonlyMap<string, string>;
}

/**
 * Queues the message of a client, or gives its answers. A message withdraws open questions, as one that is typed in
 * a terminal does. A request that is sent again changes nothing.
 *
 * Error codes: `nothing_to_continue` if no exchange waits; as `queueExchange` and `answerQuestion`.
 */
export async function submit(
  store: Store,
  {
    session_id,
    request,
    caller,
  }: {
    readonly session_id: string;
    readonly request: UiRequest;
    readonly caller: Caller;
  },
): Promise<Submitted> {
  if (request.type === "message") {
    const idempotencyKey = keyOfMessage(request.id);
    const exchange = await queueRequested(
      store,
      { reference: session_id, content: request.text, supersede: true },
      { caller, idempotencyKey },
    );
    return { session_id, n: exchange.n, exchange, after_seq: null, calls: [], answers: new Map() };
  }
  const { exchange, last_seq } = await store.read(readPlace, session_id);
  // all are checked before one is given
  const given = await chooseAnswers(store, session_id, request.replies);
  const answers = new Map<string, string>();
  for (const each of given) {
    const isGiven = await giveAnswer(store, { reference: session_id, ...each });
    if (isGiven && request.calls.includes(each.question)) {
      answers.set(each.question, each.answer);
    }
  }
  const { n } = exchange;
  return { session_id, n, exchange, after_seq: last_seq, calls: request.calls, answers };
}

/** The place from which a client continues that has seen what the session shows now. */
const readPlace: Operation<
  string,
  { readonly exchange: ExchangeRecord; readonly last_seq: number }
> = async (tx, id) => {
  const { last_seq } = await readSession(tx, { id });
  const current = (await readCurrent(tx, [id])).get(id);
  if (current === undefined) {
    throw new RepriseError(
      "nothing_to_continue",
      "No exchange of this session waits for an answer. Send a message.",
    );
  }
  return { exchange: await readRecord(tx, id, current.n), last_seq };
};

async function chooseAnswers(
  store: Store,
  reference: string,
  replies: readonly QuestionReply[],
): Promise<readonly GivenAnswer[]> {
  const open = await store.read(listOpenQuestions, { reference });
  return replies.map(({ question, ...reply }) => {
    const asked = open.find(({ id }) => id === question);
    // the store says what became of one that is not open
    const { answer, note } =
      asked === undefined ? { answer: NOT_ASKED, note: null } : answerOf(asked.choices, reply);
    return { question, answer, note };
  });
}

type GivenAnswer = Pick<AnswerQuestion, "question" | "answer" | "note">;

const NOT_ASKED = "-";

/** False if it was answered before: the first answer counts. */
async function giveAnswer(
  store: Store,
  answer: GivenAnswer & Pick<AnswerQuestion, "reference">,
): Promise<boolean> {
  try {
    await store.write(answerQuestion, { ...answer, answered_by: "http" });
    return true;
  } catch (error) {
    if (isRepriseError(error, "question_answered")) {
      return false;
    }
    throw error;
  }
}
