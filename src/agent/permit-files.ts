import type { RunnableConfig } from "@langchain/core/runnables";

import { PERMISSION_ANSWERS } from "../core/permissions.ts";
import { refusal } from "../exchange/files/refusal.ts";
import type { Call } from "../exchange/permissions/call.ts";
import type { Decision } from "../exchange/permissions/decide.ts";
import { type CallPattern, EFFECTS, effectOfYes, ruleText } from "../exchange/permissions/rule.ts";
import {
  deniedBecause,
  deniedByUser,
  keepRules,
  lastingRule,
  type PermitOptions,
  questionAbout,
} from "./permit.ts";
import { askConsent } from "./tool-asking.ts";
import type { Change } from "./tools/change.ts";

/** What a call is about to do to one file. */
export interface FilePart {
  /** The call with that file; two for a file that gets another path. */
  readonly calls: readonly Call[];
  readonly change: () => Promise<Change>;
}

/**
 * Returns for each file of a call null once it may be changed, or why not, for the model. A person is asked about
 * all files in one question, and may then decide about each. Throws a refusal if a rule denies one of them, or if
 * the person allows none.
 */
export type PermitFiles = (
  config: RunnableConfig | undefined,
  parts: readonly FilePart[],
) => Promise<readonly (string | null)[]>;

/** Characters of all diffs in one question. */
const MAX_SHOWN = 16_000;

/** What a person is asked about one file. */
interface Asked {
  readonly part: FilePart;
  readonly question: string;
  readonly change: Change;
  /** Null for those that nobody could give. */
  readonly rules: readonly (CallPattern | null)[];
}

type Denied = ReadonlyMap<FilePart, string>;

/** See `PermitOptions`. */
export function createPermitFiles(options: PermitOptions): PermitFiles {
  return async (config, parts) => {
    const { judge } = options;
    const chosen = await judge.chosen();
    const asked: Asked[] = [];
    for (const part of parts) {
      const { call, decision } = await strictest(part, (each) =>
        judge.decide(each, options.n(), chosen),
      );
      if (decision.effect === "deny") {
        options.onDenied?.();
        throw refusal(`${call.file?.paths.at(-1) ?? call.tool.name}: ${deniedBecause(decision)}`);
      }
      if (decision.effect === "ask") {
        asked.push({
          part,
          question: questionAbout(call, decision),
          change: await part.change(),
          rules: part.calls.map((each) => lastingRule(options, each, decision)),
        });
      }
    }
    const denied: Denied = asked.length === 0 ? new Map() : await askAbout(asked, options, config);
    const [first = null] = denied.values();
    if (first !== null && denied.size === parts.length) {
      throw refusal(first);
    }
    return parts.map((part) => denied.get(part) ?? null);
  };
}

/** Of the calls with the files of one part. */
async function strictest(
  { calls }: FilePart,
  judged: (call: Call) => Promise<Decision>,
): Promise<{ readonly call: Call; readonly decision: Decision }> {
  const all = await Promise.all(
    calls.map(async (call) => ({ call, decision: await judged(call) })),
  );
  return all.reduce((strict, each) =>
    EFFECTS.indexOf(each.decision.effect) > EFFECTS.indexOf(strict.decision.effect) ? each : strict,
  );
}

async function askAbout(
  asked: readonly Asked[],
  options: PermitOptions,
  config: RunnableConfig | undefined,
): Promise<Denied> {
  const { once, exchange, session: always, each, no } = PERMISSION_ANSWERS;
  const rules = asked.flatMap(({ rules }) => rules);
  const known = rules.flatMap((rule) => rule ?? []);
  const isLasting = known.length === rules.length;
  const [only] = known.length === 1 ? known : [];
  const shown = fitted(
    asked.map(({ change }) => change.shown),
    MAX_SHOWN,
  );
  const given = await askConsent(
    config,
    {
      kind: "permission",
      text: [
        ...(asked.length > 1
          ? [`The agent wants to change ${asked.length} files in one call.`]
          : []),
        ...asked.flatMap(({ question }, index) => [question, shown[index] ?? ""]),
      ].join("\n"),
      choices: [
        once,
        ...(isLasting ? [exchange, always] : []),
        ...(asked.length > 1 ? [each] : []),
        no,
      ],
      effect: isLasting ? (only === undefined ? effectOfAll(known) : effectOfYes(only)) : null,
    },
    JSON.stringify(asked.map(({ change }) => change.basis)),
  );
  const { answer, note } = given;
  if (answer === each && asked.length > 1) {
    return askAboutEach(asked, config);
  }
  if (answer !== once && answer !== exchange && answer !== always) {
    return new Map(asked.map(({ part }) => [part, deniedByUser(note)]));
  }
  await keepRules(options, given, isLasting ? known : []);
  return new Map();
}

function effectOfAll(rules: readonly CallPattern[]): string {
  return `the call runs; the longer permissions are for the rules ${rules.map(ruleText).join(", ")}`;
}

/** Allows nothing for longer: a rule that is kept between two of these questions would change the first. */
async function askAboutEach(
  asked: readonly Asked[],
  config: RunnableConfig | undefined,
): Promise<Denied> {
  const { once, no } = PERMISSION_ANSWERS;
  const denied = new Map<FilePart, string>();
  for (const { part, question, change } of asked) {
    const text = `${question}\n${change.shown}`;
    const asking = { kind: "permission", text, choices: [once, no], effect: null } as const;
    const { answer, note } = await askConsent(config, asking, change.basis);
    if (answer !== once) {
      denied.set(part, deniedByUser(note));
    }
  }
  return denied;
}

/** Cuts the longest texts at the ends of lines, so that all together are not longer than `max`. */
function fitted(texts: readonly string[], max: number): readonly string[] {
  const sizes = texts.map(({ length }) => length).sort((a, b) => a - b);
  let left = max;
  let share = max;
  for (const [index, size] of sizes.entries()) {
    share = Math.floor(left / (sizes.length - index));
    left -= Math.min(size, share);
  }
  return texts.map((text) => {
    if (text.length <= share) {
      return text;
    }
    const end = text.lastIndexOf("\n", share);
    const cut = text.slice(0, end <= 0 ? share : end).toWellFormed();
    return `${cut}\n… ${text.length - cut.length} more characters of the change are not shown; "${PERMISSION_ANSWERS.each}" shows more`;
  });
}
