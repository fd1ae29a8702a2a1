import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { onTestFinished } from "vitest";
import { z } from "zod";

import { openReprise } from "../../src/library/open-reprise.ts";
import type { Engine } from "./engines.ts";

export const clock = tool(() => "12:00", {
  name: "clock",
  description: "the time",
  schema: z.object({}),
});

/** A graph that answers with all texts so far. */
export function echo(before: () => void = () => {}) {
  return new StateGraph(MessagesAnnotation)
    .addNode("say", ({ messages }) => {
      before();
      return { messages: [new AIMessage(messages.map(({ text }) => text).join("|"))] };
    })
    .addEdge(START, "say");
}

/** A session in an empty database, as the package's users open it. */
export async function openOn(engine: Engine) {
  const { location } = await engine.create();
  const reprise = await openReprise(location);
  onTestFinished(() => reprise.close());
  const { id } = await reprise.sessions.create();
  return { location, reprise, id };
}
