import { TITLE_LENGTH } from "../../../core/limits.ts";
import { cleanCut, type Cleaner } from "../../../core/redact/clean.ts";
import { estimateTokens, titleOf } from "../../../core/text/text.ts";
import type { PortableMessage, PortableSession, SessionTree } from "../export-schema.ts";
import type { PortableThread } from "../portable-threads.ts";

/**
 * A tree without what a cleaner takes out of its texts; ids, hashes and names of models stay. It can be imported as the
 * tree could, unless two different values became the same.
 */
export function redactedTree(tree: SessionTree, cleaner: Cleaner): SessionTree {
  const { session, threads, children } = tree;
  const messages = tree.messages.map((message) => redactedMessage(message, cleaner));
  const first = tree.messages.findIndex(({ role }) => role === "user");
  const redacted = redactedSession(session, cleaner);
  // verify expects the title of the first message
  const isOfFirst = session.title === titleOf(tree.messages[first]?.content ?? "");
  const title = isOfFirst ? titleOf(messages[first]?.content ?? "") : redacted.title;
  return {
    session: { ...redacted, title },
    messages,
    threads: threads.map((thread) => redactedThread(thread, cleaner)),
    children: children.map((child) => redactedTree(child, cleaner)),
  };
}

function redactedSession(
  // names a repository
  { project_id: _, ...session }: PortableSession,
  cleaner: Cleaner,
): PortableSession {
  const { title, name, repo_path, exchanges, questions, changes, run, failure, metadata } = session;
  const text = (value: string, where: string): string => cleaner.text(value, where);
  const optional = (value: string | null, where: string) =>
    value === null ? null : text(value, where);
  const folder = optional(repo_path, "folder");
  const isMoved = folder !== repo_path;
  return {
    ...session,
    title:
      title === null ? null : cut(cleanCut(title, { max: TITLE_LENGTH, where: "title", cleaner })),
    // a path has to be absolute, and the key is a hash of the path that went
    repo_path: isMoved ? `/${folder?.replace(/^\//, "") ?? ""}` : repo_path,
    project_key: isMoved ? null : session.project_key,
    ...(name === undefined ? {} : { name: cut(text(name, "name")) }),
    ...(metadata === undefined ? {} : { metadata: texts(metadata, "metadata", cleaner) }),
    ...(failure === undefined
      ? {}
      : { failure: { ...failure, sentence: text(failure.sentence, "failure") } }),
    ...(changes === undefined
      ? {}
      : { changes: changes.map((each) => ({ ...each, value: text(each.value, "settings") })) }),
    ...(exchanges === undefined
      ? {}
      : {
          exchanges: exchanges.map((each) => ({
            ...each,
            error_sentence: optional(each.error_sentence, `exchange ${each.n}`),
            ...(each.content === undefined
              ? {}
              : { content: text(each.content, `exchange ${each.n}`) }),
          })),
        }),
    ...(questions === undefined ? {} : { questions: questions.map(redactedQuestion(cleaner)) }),
    ...(run === undefined
      ? {}
      : {
          run: {
            ...run,
            plan: cleanedJson(run.plan, "plan", cleaner),
            path: optional(run.path, "plan"),
          },
        }),
  };
}

type Question = NonNullable<PortableSession["questions"]>[number];

function redactedQuestion(cleaner: Cleaner): (question: Question) => Question {
  return (question) => ({
    ...question,
    text: cleaner.text(question.text, "question"),
    choices:
      question.choices && (cleaner.value(question.choices, "question") as Question["choices"]),
    ...(question.permission === undefined
      ? {}
      : { permission: cleaner.value(question.permission, "question") as Question["permission"] }),
    answer: question.answer && cleaner.text(question.answer, "answer"),
    default_answer: question.default_answer && cleaner.text(question.default_answer, "question"),
    note: question.note && cleaner.text(question.note, "answer"),
  });
}

function redactedMessage(message: PortableMessage, cleaner: Cleaner): PortableMessage {
  const where = `message ${message.seq}`;
  const cleaned = {
    ...message,
    content: cleaner.text(message.content, where),
    tool_calls:
      message.tool_calls?.map((call) => ({
        ...call,
        // as in its checkpoint
        ...(typeof call.subject === "string"
          ? (cleaner.value({ subject: call.subject }, where) as Pick<typeof call, "subject">)
          : {}),
        args: cleaner.value(call.args, `${where}, call of ${call.name}`),
      })) ?? null,
  };
  // an estimate is one of the text; the count of a provider stays
  const isEstimate = message.token_count === estimateOf(message);
  return isEstimate ? { ...cleaned, token_count: estimateOf(cleaned) } : cleaned;
}

function estimateOf({ content, tool_calls }: PortableMessage): number {
  const calls = tool_calls?.map(({ id, name, args }) => ({ id, name, args })) ?? null;
  return estimateTokens(content + (calls === null ? "" : JSON.stringify(calls)));
}

/** Parts of a value that are too small to have a secret are joined before it is cleaned. */
function redactedThread(thread: PortableThread, cleaner: Cleaner): PortableThread {
  const bodies = thread.bodies.slice();
  const joined = new Map<string, readonly number[]>();
  const parts = new Set<number>();
  const withParts = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map(withParts);
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    const entries = Object.entries(value).map(
      ([key, member]) =>
        [
          key,
          key === "c" && isPlaces(member, thread) ? joinedAt(member) : withParts(member),
        ] as const,
    );
    return Object.fromEntries(entries);
  };
  const joinedAt = (places: readonly number[]): readonly number[] => {
    const key = places.join(" ");
    const known = joined.get(key);
    if (known !== undefined) {
      return known;
    }
    const text = places.map((place) => thread.bodies[place] ?? "").join("");
    const cleaned = cleanedJson(text, "checkpoint", cleaner);
    const at = cleaned === text ? places : [bodies.push(cleaned) - 1];
    for (const place of cleaned === text ? [] : places) {
      parts.add(place);
    }
    joined.set(key, at);
    return at;
  };
  const checkpoints = thread.checkpoints.map((checkpoint) => ({
    ...checkpoint,
    channels: cleaner.value(withParts(checkpoint.channels), "checkpoint") as Readonly<
      Record<string, unknown>
    >,
    metadata: cleaner.value(withParts(checkpoint.metadata), "checkpoint"),
  }));
  const writes = thread.writes.map((each) => ({
    ...each,
    writes: cleaner.value(withParts(each.writes), "checkpoint") as typeof each.writes,
  }));
  const cleaned = bodies.map((body, place) =>
    // no two bodies may be the same
    parts.has(place) ? `"[redacted: part ${place}]"` : cleanedJson(body, "checkpoint", cleaner),
  );
  return { ...thread, bodies: cleaned, checkpoints, writes };
}

function isPlaces(value: unknown, { bodies }: PortableThread): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((place) => Number.isInteger(place) && place >= 0 && place < bodies.length)
  );
}

/** Cleans the texts in JSON, and leaves every other byte as it is. */
function cleanedJson(json: string, where: string, cleaner: Cleaner): string {
  const value = parsed(json);
  if (value === undefined) {
    return cleaner.text(json, where);
  }
  const before = JSON.stringify(value);
  const after = JSON.stringify(cleaner.value(value, where));
  if (after === before) {
    return json;
  }
  return before === json ? after : cleaner.text(json, where);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function texts(
  pairs: Readonly<Record<string, string>>,
  where: string,
  { text }: Cleaner,
): Record<string, string> {
  return Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key, text(value, where)]));
}

function cut(title: string): string {
  return Array.from(title).slice(0, TITLE_LENGTH).join("");
}
