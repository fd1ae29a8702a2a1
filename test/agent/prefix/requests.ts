import { canonical, contentOf, type MessagesBody } from "../../helpers/providers/claude/request.ts";
import { SUMMARY_TASK } from "../../../src/agent/summary-prompt.ts";
import type { Received } from "../../helpers/providers/server.ts";

/** A request as a list of texts, of which the next request has to begin with all. */
export function partsOf({ body }: Pick<Received, "body">): string[] {
  const { system, tools = [], messages } = body as unknown as MessagesBody;
  return [
    ...tools.map((tool) => canonical(tool)),
    ...contentOf(system).map((block) => canonical(block)),
    ...messages.flatMap(({ role, content }) =>
      contentOf(content).map((block) => `${role} ${canonical(block)}`),
    ),
  ];
}

/** Returns the body of a request that was received; the last one without an index. */
export function bodyAt(received: readonly Pick<Received, "body">[], index = -1): MessagesBody {
  return received.at(index)?.body as unknown as MessagesBody;
}

/** Returns the indexes of the requests that are not the one before with more at its end. */
export function breaksIn(received: readonly Pick<Received, "body">[]): number[] {
  const all = received.map(partsOf);
  return all.flatMap((parts, at) => {
    const before = all[at - 1] ?? [];
    return before.every((part, index) => part === parts[index]) ? [] : [at];
  });
}

/** True for the body of a request for a summary. */
export function isSummaryRequest(body: string): boolean {
  return body.includes(SUMMARY_TASK);
}

/** True if a request ends with the result of a call. */
export function hasResult(body: string): boolean {
  const { messages } = JSON.parse(body) as MessagesBody;
  return contentOf(messages.at(-1)?.content).some(({ type }) => type === "tool_result");
}
