import type { RunnableConfig } from "@langchain/core/runnables";

import { oneLine } from "../../core/text/terminal-text.ts";
import { offeredChoices } from "../../core/text/words.ts";
import type { Elicitation, Elicited, FieldValue, FormField } from "../../mcp/elicitation.ts";
import { type Answer, askConsent } from "../permit/tool-asking.ts";

/** A question of a server, and what it belongs to. */
export interface ServerQuestion {
  readonly server: string;
  /** Name of the tool whose call asks. */
  readonly tool: string;
  readonly elicitation: Elicitation;
  /** Different for each question of a call: the answer to one counts for no other. */
  readonly basis: string;
  /** Place among those that are asked together, from 1. */
  readonly at: number;
}

/** Times that a text is asked for again because the form does not take it. */
const MAX_ATTEMPTS = 5;
const DECLINE = "Decline: the server gets no answer";
const CANCEL = "Cancel: leave the question";
const LEAVE_OUT = "Leave it out";
/** Answer to a text that may be left out. */
const NOTHING = "-";

/**
 * Asks a person what a server asks, in as many questions as its form has fields. The exchange waits for each answer, so
 * the code before it runs again.
 */
export async function askForServer(
  config: RunnableConfig,
  question: ServerQuestion,
): Promise<Elicited> {
  const { elicitation } = question;
  const ask = asker(config, question);
  if (elicitation.kind === "url") {
    const { message, url } = elicitation;
    const lines = [message, `It wants you to open this address, of ${new URL(url).host}:`, url];
    const answer = await ask("", lines, ["I have opened it"]);
    return answer === 0 ? { action: "accept" } : refusalOf(answer);
  }
  const { message, fields } = elicitation;
  const [first, ...others] = fields;
  const options = first?.options ?? null;
  if (first !== undefined && options !== null && others.length === 0) {
    return oneChoice(first, options, (labels) => ask("", [message, first.label], labels));
  }
  const listed = fields.map(
    ({ label, isRequired }) => `- ${label}${isRequired ? "" : " (not required)"}`,
  );
  const asked = listed.length === 0 ? [] : ["It asks for:", ...listed];
  const begun = await ask("", [message, ...asked], [fields.length === 0 ? "Accept" : "Answer"]);
  if (begun !== 0) {
    return refusalOf(begun);
  }
  const content: Record<string, FieldValue> = {};
  for (const [at, field] of fields.entries()) {
    const value = await fieldValue(field, ` field ${at + 1} of ${fields.length}`, ask);
    if (typeof value === "object" && "action" in value) {
      return value;
    }
    if (value !== undefined) {
      content[field.name] = value;
    }
  }
  return { action: "accept", content };
}

type Ask = <Labels extends readonly string[] | null>(
  part: string,
  lines: readonly string[],
  labels: Labels,
) => Promise<Labels extends null ? string : number>;

/** Asks one question; returns the position of the choice, with those that refuse at the end, or the text. */
function asker(config: RunnableConfig, question: ServerQuestion): Ask {
  const { server, tool, basis, at } = question;
  return (async (part: string, lines: readonly string[], labels: readonly string[] | null) => {
    // the first line is another one for each question: the answer to it counts for this one alone
    const first = `The MCP server ${oneLine(server)} asks, in a call of ${oneLine(tool)} (question ${at}${part}):`;
    const choices = labels === null ? null : offeredChoices([...labels, DECLINE, CANCEL]);
    const given: Answer = await askConsent(
      config,
      {
        kind: "question",
        text: [first, ...lines.filter((line) => line !== "")].join("\n"),
        choices,
        permission: null,
      },
      JSON.stringify([basis, part]),
    );
    if (labels === null) {
      return given.answer;
    }
    const chosen = choices?.findIndex(({ id }) => id === given.choice) ?? -1;
    return chosen < labels.length ? chosen : chosen === labels.length ? DECLINED : CANCELLED;
  }) as Ask;
}

const DECLINED = -1;
const CANCELLED = -2;

function refusalOf(answer: number): Elicited {
  return { action: answer === DECLINED ? "decline" : "cancel" };
}

async function oneChoice(
  field: FormField,
  options: NonNullable<FormField["options"]>,
  ask: (labels: readonly string[]) => Promise<number>,
): Promise<Elicited> {
  const value = await chosen(field, options, ask);
  return typeof value === "object" && "action" in value
    ? value
    : { action: "accept", content: value === undefined ? {} : { [field.name]: value } };
}

/** Returns the value of a choice; undefined for one that is left out. */
async function chosen(
  { isRequired }: FormField,
  options: NonNullable<FormField["options"]>,
  ask: (labels: readonly string[]) => Promise<number>,
): Promise<FieldValue | undefined | Elicited> {
  const labels = options.map(({ label }) => label);
  const answer = await ask(isRequired ? labels : [...labels, LEAVE_OUT]);
  return answer < 0 ? refusalOf(answer) : options[answer]?.value;
}

async function fieldValue(
  field: FormField,
  part: string,
  ask: Ask,
): Promise<FieldValue | undefined | Elicited> {
  const { label, options, isRequired, read } = field;
  if (options !== null) {
    return chosen(field, options, (labels) => ask(part, [label], labels));
  }
  const may = isRequired ? "" : `Answer ${NOTHING} to leave it out.`;
  let wrong = "";
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const again = attempt === 1 ? "" : `, attempt ${attempt}`;
    const text = await ask(`${part}${again}`, [wrong, label, may], null);
    if (!isRequired && text.trim() === NOTHING) {
      return undefined;
    }
    const value = read(text);
    if (!(value instanceof Error)) {
      return value;
    }
    wrong = `That cannot be used: ${value.message}.`;
  }
  return { action: "cancel" };
}
