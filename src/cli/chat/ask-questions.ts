import { isRepriseError } from "../../core/errors.ts";
import { someContinue } from "../../exchange/some-continue.ts";
import type { OpenQuestion } from "../../store/records/questions/read.ts";
import type { Store } from "../../store/store.ts";
import { offeredChoices } from "./allow-in-config.ts";
import { servicesFolderPath } from "../process/config.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import { type GivenAnswer, replyOf } from "../output/question-lines.ts";
import { type WatchContext, watchQuestion } from "./elsewhere.ts";
import type { Asked, Front } from "./front.ts";

interface AskContext extends WatchContext {
  readonly front: Pick<Front, "ask">;
}

interface Asking {
  /** False if a node may continue the exchange with each answer. */
  readonly continues: boolean;
  /** Ids of questions that the person has left open: they are not asked, and more are added. */
  readonly left?: Set<string>;
}

/**
 * Asks the person at the terminal what the exchange waits for. `open` if a question stays open: the person
 * wants to answer it later, or to leave; `some` if an answer lets something continue nevertheless. `elsewhere` if somebody else
 * has answered: a service may continue. A question that ends elsewhere goes away.
 */
export async function askQuestions(
  context: AskContext,
  { continues, left: later = new Set() }: Asking,
): Promise<"answered" | "open" | "some" | "elsewhere"> {
  const { cli, conversation, store } = context;
  const open = await conversation.openQuestions();
  const questions = open.filter(({ id }) => !later.has(id));
  if (questions.length === 0 && open.length > 0) {
    return "open";
  }
  const folder = conversation.planned().repo_path;
  const page = await pageOf(cli, store, conversation.current()?.id);
  const left = [...questions];
  let end: "answered" | "elsewhere" = "answered";
  for (let [question] = left; question !== undefined; [question] = left) {
    const offered = offeredChoices(cli, question, {
      folder,
      setEdits: () => conversation.setPermission("edits"),
    });
    const place = { index: questions.indexOf(question) + 1, count: questions.length };
    const given = await askOne(context, { question, offered, folder, page, place });
    if (given === "open") {
      noticeLine(cli, "The question stays open. /continue asks it again; a new message drops it.");
      for (const { id } of left) {
        later.add(id);
      }
      return someContinue(questions, left) ? "some" : "open";
    }
    left.shift();
    if (given === "next") {
      left.push(question);
      continue;
    }
    const isOver = given === "over" || !(await isAnswered(context, question, given, continues));
    end = isOver ? "elsewhere" : end;
  }
  return end;
}

/** Address of a session in the page of a service that runs on this machine. */
async function pageOf(cli: CliContext, { location }: Store, id?: string): Promise<string | null> {
  const { recordedPage } = await import("../process/page-record.ts");
  const page = await recordedPage(servicesFolderPath(cli), location);
  return page === null || id === undefined ? null : `${page}/sessions/${id}`;
}

async function askOne(
  { cli, store, front }: AskContext,
  asked: Omit<Asked, "over">,
): Promise<GivenAnswer | "next" | "open" | "over"> {
  const over = new AbortController();
  const watching = new AbortController();
  let how = "";
  const onEnd = (sentence: string): void => {
    how = sentence;
    over.abort();
  };
  void watchQuestion(store, asked.question, { signal: watching.signal, onEnd });
  try {
    const given = await front.ask({ ...asked, over: over.signal });
    if (given === null && over.signal.aborted) {
      noticeLine(cli, how);
      return "over";
    }
    return given ?? "open";
  } finally {
    watching.abort();
  }
}

/** False if somebody else was first. */
async function isAnswered(
  { cli, conversation }: WatchContext,
  question: OpenQuestion,
  answer: GivenAnswer,
  continues: boolean,
): Promise<boolean> {
  try {
    const { note } = answer;
    await conversation.answer(question, { given: replyOf(answer), note }, continues);
    return true;
  } catch (error) {
    if (!isRepriseError(error, "question_answered", "question_withdrawn")) {
      throw error;
    }
    noticeLine(cli, error.message);
    return false;
  }
}
