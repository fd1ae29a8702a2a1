import { CONTROL_FILES, type ControlFile } from "../../core/control-file-table.ts";
import { SECRET_FILES } from "../../core/secret-files.ts";
import { GIT_COMMIT, RUN_COMMAND, SESSION_TOOLS } from "../tool-catalogue.ts";
import { isHarmless } from "./call.ts";
import type { Decision } from "./decide.ts";
import type { Judgement } from "./explain.ts";
import { BUILT_IN, type Layer, modeLayer } from "./layers.ts";
import { ruleText } from "./rule.ts";

/** A rule with the layer that it is in. */
export interface ShownRule {
  readonly effect: Decision["effect"];
  readonly rule: string;
  readonly layer: string;
}

/** How many paths the program itself protects, at every depth. */
export const PROTECTED_PATHS = {
  denied: controlFiles("never").length,
  asked: new Set([...controlFiles("for_now"), ...SECRET_FILES].map(({ name }) => name)).size,
} as const;

const CHANGING = SESSION_TOOLS.map(({ name }) => name).filter((name) => !isHarmless(name));

/** Every rule, in the order in which they are applied. */
export function allRules(judgement: Judgement): readonly ShownRule[] {
  const { mode, below, user, restricting } = judgement;
  return [
    ...pathRules("never").map((rule) => shown("deny", rule, "fixed limit")),
    ...configured(judgement),
    ...(mode === "plan"
      ? [...CHANGING, RUN_COMMAND, GIT_COMMIT].map((rule) => shown("deny", rule, "planning mode"))
      : []),
    ...rulesOf(BUILT_IN),
    ...SECRET_FILES.map(({ name }) => shown("ask", `*(**/${name})`, BUILT_IN.name)),
    ...pathRules("for_now").map((rule) => shown("ask", rule, BUILT_IN.name)),
    ...[...below, modeLayer(mode), ...user, ...restricting].flatMap(rulesOf),
  ];
}

/** The rules that neither the program nor the mode brings, in the order in which they are applied. */
export function addedRules(judgement: Judgement): readonly ShownRule[] {
  const { below, user, restricting } = judgement;
  return [...configured(judgement), ...[...below, ...user, ...restricting].flatMap(rulesOf)];
}

function configured({ protected: entries }: Judgement): ShownRule[] {
  return entries.map((entry) =>
    shown("deny", `*(${"path" in entry ? entry.path : entry.pattern})`, "protected"),
  );
}

function pathRules(rule: ControlFile["rule"]): string[] {
  return controlFiles(rule).flatMap(({ name }) => CHANGING.map((tool) => `${tool}(**/${name})`));
}

function controlFiles(rule: ControlFile["rule"]): readonly ControlFile[] {
  return CONTROL_FILES.filter((file) => file.rule === rule);
}

function rulesOf({ name, rules }: Layer): ShownRule[] {
  return rules.map((rule) => shown(rule.effect, ruleText(rule), name));
}

function shown(effect: ShownRule["effect"], rule: string, layer: string): ShownRule {
  return { effect, rule, layer };
}
