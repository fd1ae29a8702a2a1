import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import { MAX_CHOICES } from "../../core/questions.ts";
import { offeredChoices } from "../../core/text/words.ts";
import { ASK_USER } from "../../rules/tools/built-in.ts";
import { ask } from "../permit/tool-asking.ts";
import { failedResult } from "./tool-result.ts";

const NOBODY =
  "nobody can be asked now. Decide what you can by yourself, and say what is left open.";

const SCHEMA = z.object({
  question: z.string().min(1),
  choices: z
    .array(z.string().min(1))
    .min(1)
    .max(MAX_CHOICES)
    .optional()
    .describe("the possible answers; leave it out for any text"),
});

/** The agent's own question to the user; `asks` is false if nobody can be asked. */
export function askUserTool({ asks }: { readonly asks: boolean }): StructuredToolInterface {
  return tool(
    async ({ question, choices = null }, config) => {
      if (!asks) {
        return failedResult(NOBODY, config, "not_run");
      }
      const { answer, note } = await ask(config, {
        kind: "question",
        text: question,
        choices: choices === null ? null : offeredChoices(choices),
        permission: null,
      });
      return note === null ? answer : `${answer}\n\n${note}`;
    },
    {
      name: ASK_USER.name,
      description:
        "Ask the user a question and wait for the answer, which may take long. Use it only if you cannot continue without it: for a decision that is the user's, or for something that you cannot find out yourself.",
      schema: SCHEMA,
    },
  );
}
