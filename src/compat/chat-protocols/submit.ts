import type { FollowedExchange } from "../../exchange/live/follow-exchange.ts";
import { isRepriseError } from "../../core/errors.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { readAskingPlace } from "../../store/records/exchanges/asking-place.ts";
import { isSentMessage, keyOfMessage } from "../../store/records/exchanges/client-ids.ts";
import { type AnswerQuestion, answerQuestion } from "../../store/records/questions/answer.ts";
import { listOpenQuestions, readQuestion } from "../../store/records/questions/read.ts";
import { queueRequested, type Sender } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import { answerOf } from "./reply.ts";
import { type QuestionReply, refuseAt, type UiRequest } from "./request.ts";

/** Exchange that a client of another protocol is shown from some place on. */
export interface ShownExchange extends FollowedExchange {
  /** Begins after this message; null for all of the exchange. */
  readonly after_seq: number | null;
  /** Calls of the exchange that came before. */
  readonly calls: readonly string[];
}

/** An exchange that a request began or continues. */
export interface Submitted extends ShownExchange {
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
    ...sender
  }: Pick<Sender, "principal" | "checkPrice"> & {
    readonly session_id: string;
    readonly request: UiRequest;
  },
): Promise<Submitted> {
  if (request.type === "message") {
    const idempotencyKey = keyOfMessage(request.id);
    const { record: exchange } = await queueRequested(
      store,
      { reference: session_id, content: request.text, supersede: true },
      { ...sender, idempotencyKey },
    );
    const nothing = { after_seq: null, calls: [], answers: new Map<string, string>(), replied: [] };
    return { session_id, n: exchange.n, exchange, ...nothing };
  }
  const { calls, replies, message } = request;
  if (message !== null && !(await store.read(isSentMessage, { session_id, id: message }))) {
    throw refuseAt("/messages", "Send a new message and answers in two requests.");
  }
  const { exchange, after_seq } = await store.read(readAskingPlace, { ...request, session_id });
  // all are checked before one is given
  const given = await chooseAnswers(store, session_id, replies);
  const answers = new Map<string, string>();
  for (const each of given) {
    const { principal } = sender;
    const answer = await giveAnswer(store, { reference: session_id, principal, ...each });
    if (calls.includes(each.question)) {
      answers.set(each.question, answer);
    }
  }
  const replied = replies.flatMap(({ call }) => call ?? []);
  return { session_id, n: exchange.n, exchange, after_seq, calls, answers, replied };
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
