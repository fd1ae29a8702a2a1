import type { RunnableConfig } from "@langchain/core/runnables";

import type { AskedPermission, PermissionChoice } from "../../core/questions.ts";
import { permissionChoices, ruleAsks } from "../../core/text/words.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { isHarmless, type Tool } from "../../core/tools.ts";
import type { ResolvedPath } from "../../rules/paths/resolve-path.ts";
import { denial } from "../../workspace/files/refusal.ts";
import type { Call } from "../../rules/permissions/call.ts";
import type { Decision } from "../../rules/permissions/decide.ts";
import type { Chosen, Judge } from "../../rules/permissions/judge.ts";
import { type CallPattern, ruleOf, ruleText } from "../../rules/permissions/rule.ts";
import type { PlannedChange } from "../../workspace/undo/keeper.ts";
import { keepRule } from "../../store/records/sessions/permissions.ts";
import type { Store } from "../../store/store.ts";
import { type Answer, askConsent, deniedBefore } from "./tool-asking.ts";
import type { Change } from "./change.ts";

/**
 * Returns once a call may take effect; asks a person first if nothing else has decided. Throws a refusal for the model if the call is denied. `change` is what a person is shown; null if nobody is to be asked, so that what would ask is denied.
 */
export type Permit = (
  config: RunnableConfig | undefined,
  call: Call,
  change: (() => Promise<Change>) | null,
) => Promise<void>;

/**
 * The same for the call that runs, or as if it were one of another tool. Returns what a change has to be made
 * through, so that it can be undone.
 */
export type PermitChange = (
  target: Pick<ResolvedPath, "file">,
  change: (() => Promise<Change>) | null,
  judgedAs?: Tool,
) => Promise<MakeChanges>;

/** As `KeepChanges`, for the call that runs. */
export type MakeChanges = (
  root: string,
  changes: readonly PlannedChange[],
  act: () => Promise<void>,
) => Promise<void>;

export interface PermitOptions {
  readonly store: Pick<Store, "write">;
  readonly session: { readonly id: string };
  /** The number of the exchange; null if it has none. */
  readonly n: () => number | null;
  readonly judge: Judge;
  readonly onDenied?: (() => void) | undefined;
}

/** The permissions of one exchange. Mode and rules are read at each call: a person may change them meanwhile. */
export function createPermit(options: PermitOptions): Permit {
  // a search asks about each of its files
  const ofSearches = new WeakMap<RunnableConfig, Promise<Chosen>>();
  const chosenIn = (search: RunnableConfig): Promise<Chosen> => {
    const chosen = ofSearches.get(search) ?? options.judge.chosen();
    ofSearches.set(search, chosen);
    return chosen;
  };
  return async (config, call, change) => {
    const isSearch = change === null && config !== undefined;
    const chosen = await (isSearch ? chosenIn(config) : options.judge.chosen());
    const decision = await options.judge.decide(call, options.n(), chosen);
    if (decision.effect === "deny") {
      if (!isSearch) {
        options.onDenied?.();
      }
      throw denial(deniedBecause(decision));
    }
    const no =
      decision.effect === "allow" && !isSearch
        ? await deniedBefore(config, questionAbout(call, decision))
        : null;
    if (no !== null) {
      throw denial(deniedByUser(no.note));
    }
    if (decision.effect === "ask" && change === null) {
      throw denial("this call would need the user's permission");
    }
    if (decision.effect === "ask" && change !== null) {
      const { shown, basis, subject } = await change();
      const rule = lastingRule(options, call, decision);
      const given = await askConsent(
        config,
        {
          kind: "permission",
          text: `${questionAbout(call, decision)}\n${shown}`,
          choices: permissionChoices(rule === null ? null : [ruleText(rule)]),
          permission: askedPermission(call, decision, { subject, may_last: rule !== null }),
        },
        basis,
      );
      if (!isAllowed(given)) {
        throw denial(deniedByUser(given.note));
      }
      await keepRules(options, given, rule === null ? [] : [rule]);
    }
  };
}

/** The rule that a longer permission would be for; null if there is none that a person could give. */
export function lastingRule(
  { judge }: Pick<PermitOptions, "judge">,
  call: Call,
  { layer }: Decision,
): CallPattern | null {
  // no rule of the user lifts what only restricts
  return judge.restricting.some(({ name }) => name === layer) ? null : ruleOf(call);
}

/** Choices after which the call runs. */
const ALLOWING: ReadonlySet<string | null> = new Set([
  "allow_once",
  "allow_exchange",
  "allow_session",
] satisfies PermissionChoice[]);

/** True for an answer after which the call runs. */
export function isAllowed({ choice }: Pick<Answer, "choice">): boolean {
  return ALLOWING.has(choice);
}

const FOR_EXCHANGE: PermissionChoice = "allow_exchange";
const FOR_SESSION: PermissionChoice = "allow_session";

/** Keeps what a person allowed for longer than this call. */
export async function keepRules(
  { store, session, n: numberOf }: PermitOptions,
  { choice, question }: Pick<Answer, "choice" | "question">,
  rules: readonly CallPattern[],
): Promise<void> {
  const n = numberOf();
  const isAlways = choice === FOR_SESSION;
  if (isAlways || (choice === FOR_EXCHANGE && n !== null)) {
    for (const rule of rules) {
      await store.write(keepRule, {
        id: session.id,
        rule: ruleText(rule),
        n: isAlways ? null : n,
        question,
      });
    }
  }
}

/** For the model: why a call is denied. */
export function deniedBecause({ rule, layer, reason }: Decision): string {
  const because = reason === null ? "" : `: ${reason}`;
  return `this call is denied by the rule ${rule} (${layer})${because}. Do not try it in another way; ask the user`;
}

/** For the model: a person said no. */
export function deniedByUser(note: string | null): string {
  return `the user denied this call${note === null ? "" : ` and says: ${note}`}`;
}

/** Facts of a call that asks. */
export function askedPermission(
  call: Call,
  { rule, layer }: Decision,
  { subject, may_last }: { readonly subject?: string | undefined; readonly may_last: boolean },
): AskedPermission {
  const about = subject ?? nameOf(call);
  return {
    tool: call.tool.name,
    subject: about === null ? null : oneLine(about),
    rule: oneLine(rule),
    layer: oneLine(layer),
    may_last,
  };
}

/** Path that a call names, and where it really leads; null if it works on no file. */
function nameOf({ file }: Call): string | null {
  const [asked, real] = file?.paths ?? [];
  return asked === undefined || asked === real || real === undefined
    ? (asked ?? null)
    : `${asked}, which is ${real}`;
}

/** Two lines for a person: what the call would do, and which rule asks. */
export function questionAbout(call: Call, { rule, layer, reason }: Decision): string {
  const { tool, command } = call;
  const name = nameOf(call);
  const run = command === null ? `run ${tool.name}` : `run this command (${tool.name})`;
  const verb = isHarmless(tool) ? "read" : "change";
  const what = name === null ? run : `${verb} ${name} (${tool.name})`;
  const because = reason === null ? "" : ` ${reason}.`;
  const lines = [`May the agent ${what}?`, `${ruleAsks({ rule, layer })}${because}`];
  return lines.map(oneLine).join("\n");
}
