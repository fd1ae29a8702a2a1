import type { RunnableConfig } from "@langchain/core/runnables";

import type { AskedPermission, PermissionChoice } from "../../core/questions.ts";
import { permissionChoices, permissionLabel } from "../../core/text/words.ts";
import { denial } from "../../workspace/files/refusal.ts";
import type { Call } from "../../rules/permissions/call.ts";
import type { Decision } from "../../rules/permissions/decide.ts";
import { type CallPattern, EFFECTS, ruleText } from "../../rules/permissions/rule.ts";
import {
  askedPermission,
  deniedBecause,
  deniedByUser,
  isAllowed,
  keepRules,
  lastingRule,
  type PermitOptions,
  questionAbout,
} from "./permit.ts";
import { askConsent, deniedBefore } from "./tool-asking.ts";
import type { Change } from "./change.ts";

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
  /** Without an answer for longer. */
  readonly permission: AskedPermission;
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
    const before = new Map<FilePart, string>();
    for (const part of parts) {
      const { call, decision } = await strictest(part, (each) =>
        judge.decide(each, options.n(), chosen),
      );
      if (decision.effect === "deny") {
        options.onDenied?.();
        throw denial(`${call.file?.paths.at(-1) ?? call.tool.name}: ${deniedBecause(decision)}`);
      }
      if (decision.effect === "ask") {
        asked.push({
          part,
          question: questionAbout(call, decision),
          permission: askedPermission(call, decision, { may_last: false }),
          change: await part.change(),
          rules: part.calls.map((each) => lastingRule(options, each, decision)),
        });
      } else {
        // the question may have named either file of a move
        for (const each of part.calls) {
          const no = await deniedBefore(config, questionAbout(each, decision));
          if (no !== null) {
            before.set(part, deniedByUser(no.note));
          }
        }
      }
    }
    const denied: Denied = new Map([
      ...before,
      ...(asked.length === 0 ? [] : await askAbout(asked, options, config)),
    ]);
    const [first = null] = denied.values();
    if (first !== null && denied.size === parts.length) {
      throw denial(first);
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
  const rules = asked.flatMap(({ rules }) => rules);
  const known = rules.flatMap((rule) => rule ?? []);
  const isLasting = known.length === rules.length;
  const isMany = asked.length > 1;
  const shown = fitted(
    asked.map(({ change }) => change.shown),
    MAX_SHOWN,
  );
  const given = await askConsent(
    config,
    {
      kind: "permission",
      text: [
        ...(isMany ? [`The agent wants to change ${asked.length} files in one call.`] : []),
        ...asked.flatMap(({ question }, index) => [question, shown[index] ?? ""]),
      ].join("\n"),
      choices: permissionChoices(isLasting ? known.map(ruleText) : null, { each: isMany }),
      permission: { ...permissionOfAll(asked), may_last: isLasting },
    },
    JSON.stringify(asked.map(({ change }) => change.basis)),
  );
  if (given.choice === EACH && isMany) {
    return askAboutEach(asked, config);
  }
  if (!isAllowed(given)) {
    return new Map(asked.map(({ part }) => [part, deniedByUser(given.note)]));
  }
  await keepRules(options, given, isLasting ? known : []);
  return new Map();
}

const EACH: PermissionChoice = "allow_each";

/** Facts of all files of a call, which has one tool: each name once. */
function permissionOfAll(asked: readonly Asked[]): AskedPermission {
  const all = asked.map(({ permission }) => permission);
  const each = (names: readonly (string | null)[]): string =>
    [...new Set(names.flatMap((name) => name ?? []))].join(", ");
  return {
    tool: each(all.map(({ tool }) => tool)),
    subject: each(all.map(({ subject }) => subject)),
    rule: each(all.map(({ rule }) => rule)),
    layer: each(all.map(({ layer }) => layer)),
    may_last: false,
  };
}

/** Allows nothing for longer: a rule that is kept between two of these questions would change the first. */
async function askAboutEach(
  asked: readonly Asked[],
  config: RunnableConfig | undefined,
): Promise<Denied> {
  const denied = new Map<FilePart, string>();
  for (const { part, question, permission, change } of asked) {
    const text = `${question}\n${change.shown}`;
    const choices = permissionChoices(null);
    const asking = { kind: "permission", text, choices, permission } as const;
    const given = await askConsent(config, asking, change.basis);
    if (!isAllowed(given)) {
      denied.set(part, deniedByUser(given.note));
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
    return `${cut}\n… ${text.length - cut.length} more characters of the change are not shown; "${permissionLabel("allow_each")}" shows more`;
  });
}
