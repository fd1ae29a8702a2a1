import type { Client, SessionSummary } from "../../src/entries/client.ts";

/** What is deleted with a session. */
export interface TreeCount {
  readonly subAgents: number;
  /** Of the session and its sub-agents. */
  readonly messages: number;
  /** True if there are more than were counted. */
  readonly isMore: boolean;
}

/** Sessions whose sub-agents are counted: a dialog should not wait for more. */
const MAX_READS = 100;

/** Counts the sub-agents of a session, those of theirs, and the messages. Error codes: as `listSessions`. */
export async function countTree(
  client: Pick<Client, "listSessions">,
  session: Pick<SessionSummary, "id" | "last_seq">,
): Promise<TreeCount> {
  const waiting = [session.id];
  const count = { subAgents: 0, messages: session.last_seq };
  let reads = 0;
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    let cursor: string | null = null;
    do {
      if (reads === MAX_READS) {
        return { ...count, isMore: true };
      }
      reads += 1;
      const page = await client.listSessions({
        parent,
        limit: 200,
        ...(cursor === null ? {} : { cursor }),
      });
      for (const child of page.sessions) {
        count.subAgents += 1;
        count.messages += child.last_seq;
        waiting.push(child.id);
      }
      cursor = page.next;
    } while (cursor !== null);
  }
  return { ...count, isMore: false };
}

/** What is deleted, as a sentence. */
export function goneWith({ subAgents, messages, isMore }: TreeCount): string {
  const count = (n: number, what: string): string =>
    `${isMore ? "more than " : ""}${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  const agents = subAgents === 0 ? "" : `, its ${count(subAgents, "sub-agent")}`;
  return `The session${agents} and ${count(messages, "message")} are deleted for good.`;
}
