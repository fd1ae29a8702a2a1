import { isGit } from "../../core/files/control-files.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import { isHarmless, type Tool, type ToolSet } from "../../core/tools.ts";
import { type Call, commandsOf, controlFileOf, foundControlOf, secretFileOf } from "./call.ts";
import { builtInLayer, type Layer, modeLayer } from "./layers.ts";
import { type Effect, effectOn, EFFECTS, matches, type Rule, ruleText } from "./rule.ts";

/** Input by which a call is judged. */
export interface DecisionInput {
  readonly call: Call;
  /** Every tool of the session. */
  readonly tools: ToolSet;
  readonly mode: PermissionMode;
  /** The user's config, as far as it is weaker than the mode. */
  readonly below?: readonly Layer[];
  /** Layers that the user chose besides the mode, from the weakest to the strongest. */
  readonly user: readonly Layer[];
  /** Layers that can only make the result stricter: persona, parent session, phase of a plan, repository. */
  readonly restricting: readonly Layer[];
  /** False if no question may be asked: what would ask is denied. */
  readonly asks: boolean;
}

export interface Decision {
  readonly effect: Effect;
  /** The rule that decided, and the layer that it is in. */
  readonly rule: string;
  readonly layer: string;
  /** Why a fixed limit or a protected file decided, as the end of a sentence. */
  readonly reason: string | null;
}

/**
 * Whether a call may take effect: the one place for all tools and front ends. Reads nothing but its input.
 *
 * First, the fixed limits deny. Then the last matching rule of the user's layers counts: built-in, `below`, mode,
 * `user`; but what the config denies, only the config allows again. A file that other programs execute or obey
 * asks, and so does one that often holds secrets, unless a rule names it. Of the result and the restricting rules
 * that match, the strictest counts at last. Of a line of commands each is decided about, and the strictest decision
 * counts for the line.
 */
export function decide(input: DecisionInput): Decision {
  const [first, ...others] = commandsOf(input.call).map((call) => decideOne({ ...input, call }));
  return others.reduce(stricter, first ?? decideOne(input));
}

function stricter(a: Decision, b: Decision): Decision {
  return isStricter(b.effect, a.effect) ? b : a;
}

function decideOne(input: DecisionInput): Decision {
  const { call, restricting, asks } = input;
  const limit = fixedLimit(call) ?? planLimit(call, input.mode);
  if (limit !== null) {
    return limit;
  }
  const decision = restricted(call, restricting, ofComposed(input));
  if (decision.effect !== "ask" || asks) {
    return decision;
  }
  const reason = `${decision.reason === null ? "" : `${decision.reason}, and `}this run asks no questions`;
  return { ...decision, effect: "deny", reason };
}

/** Whether the model is shown a tool at all: false if each of its calls would be denied for good. */
export function isOffered(
  tool: Tool,
  { mode, restricting }: Pick<DecisionInput, "mode" | "restricting">,
): boolean {
  const call = { tool, file: null, command: null };
  return (
    planLimit(call, mode) === null &&
    !restricting.some(({ rules }) =>
      rules.some((rule) => rule.effect === "deny" && matches(rule, call)),
    )
  );
}

/** Decides what no rule lifts. */
export function fixedLimit(call: Call): Decision | null {
  const { file } = call;
  if (file === null) {
    return null;
  }
  const denied = (rule: string, reason: string) =>
    ({ effect: "deny", layer: FIXED, rule, reason }) as const;
  if (file.place === "outside") {
    return denied("outside the session's folder", "it is outside the session's folder");
  }
  if (file.place === "own") {
    return denied("Reprise's own files", "this file belongs to Reprise itself");
  }
  if (file.place === "protected") {
    return denied("protected", "the configuration protects it");
  }
  if (file.names.some(isGit)) {
    return denied(".git", "git's own folder is off limits");
  }
  const never = controlFileOf(call, "never");
  return never === null
    ? null
    : denied(never.name, `${never.name} can be read but not written, because ${never.reason}`);
}

const FIXED = "fixed limit";

function planLimit({ tool }: Call, mode: PermissionMode): Decision | null {
  return mode === "plan" && !isHarmless(tool)
    ? {
        effect: "deny",
        layer: FIXED,
        rule: "planning mode",
        reason: "planning mode is on",
      }
    : null;
}

/** Permits a composed tool what each tool that it consists of may do, unless a rule of the user names the tool itself. */
function ofComposed(input: DecisionInput): Decision {
  const { call, below = [], user } = input;
  const decision = ofUser(input);
  const parts = call.needs ?? call.tool.composedOf ?? [];
  const isNamed = [...below, ...user].some(({ rules }) =>
    rules.some((rule) => rule.tool === call.tool.name && effectOn(rule, call) !== null),
  );
  if (decision.effect === "allow" || isNamed || parts.length === 0) {
    return decision;
  }
  const decided = parts.map((tool) => ofUser({ ...input, call: { ...call, tool } }));
  const [allowed] = decided;
  return allowed !== undefined && decided.every(({ effect }) => effect === "allow")
    ? allowed
    : decision;
}

function ofUser({ call, tools, mode, below = [], user }: DecisionInput): Decision {
  const guarded = controlFileOf(call) ?? foundControlOf(call) ?? secretFileOf(call);
  const reason = guarded === null ? null : `${guarded.name} is protected: ${guarded.reason}`;
  const weakest = builtInLayer(tools);
  const builtIn = { effect: "ask", layer: weakest.name, reason } as const;
  let decision: Decision =
    guarded === null
      ? { ...builtIn, rule: "*" }
      : { ...builtIn, rule: `${call.tool.name}(**/${guarded.name})` };
  let isKept = false;
  const unguarded = guarded === null ? [weakest] : [];
  for (const layer of [...unguarded, ...below, modeLayer(mode, tools), ...user]) {
    const rules: readonly Rule[] = isKept && layer.isConfig !== true ? [] : layer.rules;
    for (const rule of rules) {
      const found = effectOn(rule, call);
      if (found?.isSure === true || (found !== null && decision.effect !== "deny")) {
        decision = { effect: found.effect, layer: layer.name, rule: ruleText(rule), reason };
        isKept = layer.isConfig === true && rule.effect === "deny";
      }
    }
  }
  return decision;
}

function restricted(call: Call, layers: readonly Layer[], before: Decision): Decision {
  let strictest = before;
  for (const { name, rules } of layers) {
    for (const rule of rules) {
      const { effect = "allow" } = effectOn(rule, call) ?? {};
      if (isStricter(effect, strictest.effect)) {
        strictest = { effect, layer: name, rule: ruleText(rule), reason: null };
      }
    }
  }
  return strictest;
}

function isStricter(effect: Effect, than: Effect): boolean {
  return EFFECTS.indexOf(effect) > EFFECTS.indexOf(than);
}
