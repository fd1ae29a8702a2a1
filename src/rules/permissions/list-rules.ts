import { CONTROL_FILES, type ControlFile } from "../../core/files/control-file-table.ts";
import { SECRET_FILES } from "../../core/files/secret-files.ts";
import { isHarmless, type ToolSet } from "../../core/tools.ts";
import type { Decision } from "./decide.ts";
import type { Judgement } from "./judge.ts";
import { builtInLayer, editingTools, type Layer, modeLayer } from "./layers.ts";
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

/** Every rule, in the order in which they are applied. */
export function allRules(judgement: Judgement): readonly ShownRule[] {
  const { tools, mode, below, user, restricting } = judgement;
  const builtIn = builtInLayer(tools);
  const changing = [...tools].filter((tool) => !isHarmless(tool));
  return [
    ...pathRules("never", tools).map((rule) => shown("deny", rule, "fixed limit")),
    ...configured(judgement),
    ...(mode === "plan" ? changing.map(({ name }) => shown("deny", name, "planning mode")) : []),
    ...rulesOf(builtIn),
    ...SECRET_FILES.map(({ name }) => shown("ask", `*(**/${name})`, builtIn.name)),
    ...pathRules("for_now", tools).map((rule) => shown("ask", rule, builtIn.name)),
    ...[...below, modeLayer(mode, tools), ...user, ...restricting].flatMap(rulesOf),
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

function pathRules(rule: ControlFile["rule"], tools: ToolSet): string[] {
  const editing = editingTools(tools);
  return controlFiles(rule).flatMap((file) =>
    editing.map(({ name }) => `${name}(**/${file.name})`),
  );
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
