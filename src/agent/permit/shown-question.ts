import { newId } from "../../core/ids.ts";
import {
  type AskedPermission,
  type Asking,
  type Choice,
  type DefaultAnswer,
  MAX_CHOICE,
  MAX_CHOICES,
  MAX_QUESTION,
} from "../../core/questions.ts";
import { storableText } from "../../core/text/text.ts";
import { offeredChoices } from "../../core/text/words.ts";
import type { Conceal } from "../../core/secrets.ts";
import { type NewQuestion, shownColumns } from "../../store/records/questions/ask.ts";
import type { readAsked } from "../../store/records/questions/read.ts";

/** A question of a call, as it is stored. */
export type Asked = Awaited<ReturnType<typeof readAsked>>[number];

/** True for what a person was shown or is to be shown: in an import it could be forged beside its hash. */
export function isShown(question: Asked, asking: Asking): boolean {
  const { choices, permission } = shownColumns(asking);
  return (
    question.text === asking.text &&
    question.choices === choices &&
    question.permission === permission
  );
}

/** A question as it is stored. The default answer counts only if the question offers it. */
export function newQuestion(
  question: Asking & Pick<NewQuestion, "call_id" | "number" | "shown_hash">,
  later: DefaultAnswer | undefined,
): NewQuestion {
  const takes = question.choices?.some(({ id }) => id === later?.choice) === true;
  return { ...question, id: newId(), default: takes ? (later ?? null) : null };
}

/** Cleans a question: text of a model may be anything, and a diff may show a secret. */
export function cleaned({ kind, text, choices, permission }: Asking, conceal: Conceal): Asking {
  const cut: Cut = (given, max) => {
    const value = conceal(given);
    return storableText(value.length > max ? `${value.slice(0, max - 1)}…` : value).trim();
  };
  return {
    kind,
    text: cut(text, MAX_QUESTION),
    choices: kind === "question" ? offered(choices, cut) : shownChoices(choices, cut),
    permission: permission === null ? null : shownPermission(permission, cut),
  };
}

type Cut = (text: string, max: number) => string;

/** Texts of a model, each once: only their positions name them. */
function offered(choices: Asking["choices"], cut: Cut): readonly Choice[] | null {
  const labels = choices?.slice(0, MAX_CHOICES).map(({ label }) => cut(label, MAX_CHOICE));
  const distinct = [...new Set(labels)].filter((label) => label !== "");
  return distinct.length === 0 ? null : offeredChoices(distinct);
}

/** Rules may name files with secrets in their names. */
function shownChoices(choices: Asking["choices"], cut: Cut): readonly Choice[] | null {
  return (
    choices?.map(({ id, label, meaning, lasting }) => ({
      id,
      label,
      meaning,
      lasting: lasting?.map((rule) => cut(rule, MAX_QUESTION)) ?? null,
    })) ?? null
  );
}

function shownPermission(
  { tool, subject, rule, layer, may_last }: AskedPermission,
  cut: Cut,
): AskedPermission {
  return {
    tool,
    subject: subject === null ? null : cut(subject, MAX_QUESTION),
    rule: cut(rule, MAX_QUESTION),
    layer: cut(layer, MAX_QUESTION),
    may_last,
  };
}
