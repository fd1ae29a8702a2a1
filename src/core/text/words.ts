import {
  ADMISSION_CHOICES,
  type AdmissionChoice,
  APPROVAL_CHOICES,
  type ApprovalChoice,
  type AskedPermission,
  type Choice,
  LIMIT_CHOICES,
  type LimitChoice,
  PERMISSION_CHOICES,
  type PermissionChoice,
  positionId,
  REPEAT_CHOICES,
  type RepeatChoice,
} from "../questions.ts";
import type { PermissionMode } from "../permissions.ts";

/**
 * Words for the facts of a question, a mode and a call, the only place that has them: terminals, pages and plain lines
 * show what a question holds, and programs answer with ids. So a word can change and nothing else does.
 */

type Words = Pick<Choice, "label" | "meaning">;

const PERMISSION: Readonly<Record<PermissionChoice, Words>> = {
  allow_once: { label: "allow once", meaning: "This call only." },
  allow_exchange: { label: "allow for this exchange", meaning: "Until this exchange ends." },
  allow_session: {
    label: "always allow in this session",
    meaning: "As long as the session lasts.",
  },
  allow_edits: {
    label: "allow this and all edits",
    meaning: "Sets the mode edits: files of the folder are changed without a question.",
  },
  allow_folder: {
    label: "always allow in this folder",
    meaning: "In each session of the folder: your config keeps it.",
  },
  allow_each: { label: "decide for each file", meaning: "Asks about each file." },
  deny: {
    label: "deny",
    meaning: "The agent gets this answer and continues without the call.",
  },
};

const LIMIT: Readonly<Record<LimitChoice, (more: string) => Words>> = {
  continue: (more) => ({ label: "continue", meaning: `${more} may be used.` }),
  stop: () => ({ label: "stop", meaning: "The exchange ends here." }),
};

const REPEAT: Readonly<Record<RepeatChoice, Words>> = {
  again: { label: "run again", meaning: "What took effect may happen twice." },
  skip: { label: "do not run again", meaning: "The agent learns that the outcome is unknown." },
};

const APPROVAL: Readonly<Record<ApprovalChoice, Words>> = {
  approve: { label: "approve", meaning: "This attempt of the phase begins." },
  refuse: { label: "refuse", meaning: "The phase and what depends on it are not begun." },
};

const ADMISSION: Readonly<Record<AdmissionChoice, Words>> = {
  yes: { label: "yes", meaning: "The next exchange hands these messages over." },
  no: {
    label: "no",
    meaning: "They stay in the session, and the agent never gets them.",
  },
};

const MODES: Readonly<Record<PermissionMode, string>> = {
  ask: "each change and command asks",
  edits: "commands ask",
  auto: "commands outside a sandbox ask",
  all: "nothing asks but changes of protected files",
  plan: "nothing is changed",
};

/** Words for each `CallStatus`. */
const CALL_ENDS = {
  ok: "returned",
  failed: "failed",
  unknown: "may have run",
  denied: "was denied",
  not_run: "was not run",
} as const;

/** Says how a call ended, after its name: `was denied`. */
export function callEnd(status: keyof typeof CALL_ENDS): string {
  return CALL_ENDS[status];
}

/** Verbs of the agent's tools: what is done, while it runs, and after it. */
const VERBS: Readonly<Record<string, string>> = {
  read_file: "Read Reading Read",
  list_files: "List Listing Listed",
  find_files: "Find Finding Found",
  search_files: "Search Searching Searched",
  write_file: "Write Writing Wrote",
  edit_file: "Edit Editing Edited",
  multi_edit: "Edit Editing Edited",
  apply_patch: "Patch Patching Patched",
  run_command: "Run Running Ran",
  git_commit: "Commit Committing Committed",
  delegate: "Delegate Delegating Delegated",
  ask_user: "Ask Asking Asked",
  update_tasks: "Plan Planning Planned",
  hand_in_plan: "Submit Submitting Submitted",
  hand_in: "Submit Submitting Submitted",
};

/** Words after the verb of a call that did not do what it was to do, or of which that is not known. */
const NOT_DONE = {
  failed: "failed",
  denied: "denied",
  not_run: "not run",
  unknown: "without a known end",
} as const;

/** How a call ended, that it runs, or that its result was not read yet. */
type CallState = keyof typeof NOT_DONE | "ok" | "running" | "unread";

/**
 * Says in front of its subject what a call does or did: `Running`, `Ran`, `Edit failed`. A command that failed ran. `unread`: its result
 * was not read yet. The name of a tool that is not the agent's own follows the verb.
 */
export function callVerb(name: string, status: CallState): string {
  const known = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  const [verb = "", during = "", after = ""] = (known ?? "Call Calling Called").split(" ");
  const tool = known === undefined ? ` ${name}` : "";
  if (status === "running" || status === "ok" || status === "unread") {
    return (status === "running" ? during : status === "ok" ? after : verb) + tool;
  }
  return status === "failed" && name === "run_command"
    ? after
    : `${verb}${tool} ${NOT_DONE[status]}`;
}

/** Says in front of their subjects what calls of several tools do or did that only read. */
export function exploringVerb(isRunning: boolean): string {
  return isRunning ? "Exploring" : "Explored";
}

/** Sums up the work of an exchange: `Worked 41 s`, `9 steps`, `2 failed`; null for no failure. */
export function workText(work: {
  readonly isRunning: boolean;
  /** How long it took, as text; empty if nobody knows. */
  readonly took: string;
  readonly steps: number;
  readonly failed: number;
}): { readonly title: string; readonly steps: string; readonly failed: string | null } {
  const { isRunning, took, steps, failed } = work;
  return {
    title: `${isRunning ? "Working" : "Worked"} ${took}`.trimEnd(),
    steps: `${steps.toLocaleString("en")} step${steps === 1 ? "" : "s"}`,
    failed: failed === 0 ? null : `${failed.toLocaleString("en")} ${NOT_DONE.failed}`,
  };
}

/** Says that an exchange was stopped; without text of an answer, what can be done next. */
export function stoppedText({
  hasAnswer,
  next,
}: {
  readonly hasAnswer: boolean;
  readonly next: string;
}): string {
  return hasAnswer ? "Stopped. The part above is kept." : `Stopped before an answer came; ${next}`;
}

/** Says in some words what a permission mode asks. */
export function modeMeaning(mode: PermissionMode): string {
  return MODES[mode];
}

/** Choices of a permission. Without rules, none counts for longer than the call; `each` offers to ask about each file. */
export function permissionChoices(
  rules: readonly string[] | null,
  { each = false }: { readonly each?: boolean } = {},
): readonly Choice[] {
  const isOffered: Readonly<Record<PermissionChoice, boolean>> = {
    allow_once: true,
    allow_exchange: rules !== null,
    allow_session: rules !== null,
    allow_edits: false,
    allow_folder: false,
    allow_each: each,
    deny: true,
  };
  return PERMISSION_CHOICES.filter((id) => isOffered[id]).map((id) => ({
    id,
    ...PERMISSION[id],
    lasting: id === "allow_exchange" || id === "allow_session" ? rules : null,
  }));
}

/** A further choice of a terminal: it sets the mode `edits`. */
export function editsChoice(): Choice {
  return { id: "allow_edits", ...PERMISSION.allow_edits, lasting: null };
}

/** A further choice of a terminal: it keeps the rule in the user's config. */
export function folderChoice(rule: string): Choice {
  return { id: "allow_folder", ...PERMISSION.allow_folder, lasting: [rule] };
}

/** Choices at a limit, after which so much more may be used: `100 more tokens`, `$1.00 more`. */
export function limitChoices(more: string): readonly Choice[] {
  return LIMIT_CHOICES.map((id) => ({ id, ...LIMIT[id](more), lasting: null }));
}

/** Choices about calls whose end is unknown. */
export function repeatChoices(): readonly Choice[] {
  return REPEAT_CHOICES.map((id) => ({ id, ...REPEAT[id], lasting: null }));
}

/** Asks whether calls may run again: a line each of those that it names, and how many more there are. */
export function repeatText(lines: readonly string[], more: number): string {
  return [
    lines.length + more === 1
      ? "Run this call again? The program stopped while it ran:"
      : "Run these calls again? The program stopped while they ran:",
    ...lines.map((line) => `- ${line}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    "It is unknown whether that took effect.",
  ].join("\n");
}

/** Choices about a phase of a plan. */
export function approvalChoices(): readonly Choice[] {
  return APPROVAL_CHOICES.map((id) => ({ id, ...APPROVAL[id], lasting: null }));
}

/** Choices about messages of callers without authentication. */
export function admissionChoices(): readonly Choice[] {
  return ADMISSION_CHOICES.map((id) => ({ id, ...ADMISSION[id], lasting: null }));
}

/** Choices of texts that a model offers. */
export function offeredChoices(texts: readonly string[]): readonly Choice[] {
  return texts.map((label, index) => ({
    id: positionId(index),
    label,
    meaning: null,
    lasting: null,
  }));
}

/** The label of a choice of a permission, for a sentence. */
export function permissionLabel(id: PermissionChoice): string {
  return PERMISSION[id].label;
}

/** Says in one sentence why a permission is asked for. */
export function ruleAsks({ rule, layer }: Pick<AskedPermission, "rule" | "layer">): string {
  return `The rule ${rule} (${layer}) asks.`;
}
