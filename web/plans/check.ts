import { effect, signal } from "@preact/signals";

import type { PlanInfo, PlanReportInfo } from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { sentenceOf } from "../parts/sentence-of.ts";
import { draft, type Draft } from "./draft.ts";
import { syntaxOf } from "./plan-text.ts";

/** What is known of the draft. `problem` is a sentence: it could not be checked. */
export type Checked =
  | { readonly state: "empty" }
  | { readonly state: "checking" }
  | { readonly state: "checked"; readonly report: PlanReportInfo }
  | { readonly state: "problem"; readonly problem: string };

/** A plan that can be shown, and the text that it was in. */
export interface ShownPlan {
  readonly plan: PlanInfo;
  readonly text: string;
}

/** How long the reader must not have typed before the text is sent. */
const QUIET_MS = 300;

/** Findings of the text before stay until there are newer ones, so that the page does not flicker. */
export const checked = signal<Checked>({ state: "empty" });
/** The last text that was a valid plan. */
export const shownPlan = signal<ShownPlan | null>(null);
/** Increased to check the same text again. */
export const attempts = signal(0);

/** Checks the draft after each change until the returned function is called. The newest text's answer wins. */
export function checkDraft(): () => void {
  return effect(() => {
    const current = draft.value;
    void attempts.value;
    if (current.text.trim() === "") {
      checked.value = { state: "empty" };
      shownPlan.value = null;
      return undefined;
    }
    const call = new AbortController();
    const timer = setTimeout(() => void check(current, call.signal), QUIET_MS);
    return () => {
      clearTimeout(timer);
      call.abort();
    };
  });
}

async function check({ text, name }: Draft, signal: AbortSignal): Promise<void> {
  if (checked.peek().state !== "checked") {
    checked.value = { state: "checking" };
  }
  try {
    const report = await client.describePlan(text, { syntax: syntaxOf(text, name), signal });
    if (!signal.aborted) {
      checked.value = { state: "checked", report };
      shownPlan.value = report.plan === null ? shownPlan.peek() : { plan: report.plan, text };
    }
  } catch (error) {
    if (!signal.aborted) {
      checked.value = { state: "problem", problem: sentenceOf(error) };
    }
  }
}
