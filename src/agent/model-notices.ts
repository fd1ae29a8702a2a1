import { isRoot } from "../core/session-tree.ts";
import type { Session } from "../core/sessions.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import type { Report } from "../exchange/report-events.ts";
import type { ModelFacts } from "../rules/models/facts.ts";
import { endSentence } from "../rules/models/retirement.ts";

/** Reports what a person should know about the model of a session, once in this process. */
export type NoticeModel = (
  session: Session,
  model: { readonly modelName: string; readonly facts: ModelFacts },
  report: Report,
) => void;

/** Sessions of a long-lived service; a notice that comes twice harms nobody. */
const MAX_KEPT = 10_000;

export function createModelNotices(now: () => Date = () => new Date()): NoticeModel {
  const noticed = new Set<string>();
  return (session, { modelName: name, facts }, report) => {
    // each sub-agent would repeat it
    const key = `${isRoot(session) ? session.id : ""} ${name}`;
    if (noticed.has(key)) {
      return;
    }
    if (noticed.size >= MAX_KEPT) {
      noticed.clear();
    }
    noticed.add(key);
    const shown = oneLine(name);
    const sentences = [
      facts.assumed ? assumedSentence(shown, facts) : null,
      endSentence(shown, facts.ends, now()),
    ];
    for (const sentence of sentences) {
      if (sentence !== null) {
        report({ type: "notice", sentence });
      }
    }
  };
}

function assumedSentence(name: string, { context, price }: ModelFacts): string {
  const cost = price === null ? ", and its price is unknown" : "";
  return `${name} is not in the table of models: a context of ${context.toLocaleString("en")} tokens is assumed${cost}. \`models\` of the config sets what is right.`;
}
