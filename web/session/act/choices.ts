import type { QuestionInfo } from "../../../src/entries/client.ts";

/** One answer that a question offers. */
export interface Choice {
  readonly answer: string;
  /** What it means beyond its words; null for what a model offers. */
  readonly meaning: string | null;
  /** True if it allows something, or spends something. */
  readonly allows: boolean;
}

interface Known extends Omit<Choice, "answer"> {
  /** Those that allow more come later, and a no last. */
  readonly rank: number;
}

/** The answers of questions that Reprise asks itself, as the API has them. */
const KNOWN: Readonly<Record<string, Known>> = {
  "allow once": { rank: 0, allows: true, meaning: "This call only." },
  "allow for this exchange": { rank: 1, allows: true, meaning: "Until this exchange ends." },
  "always allow in this session": {
    rank: 2,
    allows: true,
    meaning: "As long as the session lasts.",
  },
  "decide for each file": { rank: 3, allows: false, meaning: "Asks about each file." },
  deny: {
    rank: 4,
    allows: false,
    meaning: "The agent gets this answer and continues without the call.",
  },
  yes: { rank: 0, allows: true, meaning: "The agent gets these messages." },
  no: {
    rank: 4,
    allows: false,
    meaning: "They stay in the session, and the agent does not get them.",
  },
  continue: { rank: 0, allows: true, meaning: "The exchange may use as many tokens again." },
  stop: { rank: 4, allows: false, meaning: "The exchange ends here." },
};

/** In the order in which they are shown. What a model offers keeps its order, whatever it is called. */
export function choicesOf({
  kind,
  choices,
}: Pick<QuestionInfo, "kind" | "choices">): readonly Choice[] {
  const offered = choices ?? [];
  if (kind === "question") {
    return offered.map((answer) => ({ answer, meaning: null, allows: true }));
  }
  const known = (answer: string): Known | undefined =>
    Object.hasOwn(KNOWN, answer) ? KNOWN[answer] : undefined;
  return offered
    .map((answer) => ({ answer, ...(known(answer) ?? { rank: 3, allows: true, meaning: null }) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ rank: _, ...choice }) => choice);
}

/** Lines of a question that are shown at first: from its head, and from its end. */
const HEAD_LINES = 140;
const TAIL_LINES = 50;

/** The first line says what is asked; the rest is what would happen. */
export interface Asked {
  readonly title: string;
  readonly head: string;
  /** Null if all is in the head. */
  readonly tail: string | null;
  readonly leftOut: number;
  readonly isDiff: boolean;
}

export function askedOf(text: string): Asked {
  const [title = "", ...lines] = text.split("\n");
  const isDiff = lines.some((line) => /^@@ -\d/.test(line));
  if (lines.length <= HEAD_LINES + TAIL_LINES) {
    return { title, head: lines.join("\n"), tail: null, leftOut: 0, isDiff };
  }
  return {
    title,
    head: lines.slice(0, HEAD_LINES).join("\n"),
    tail: lines.slice(-TAIL_LINES).join("\n"),
    leftOut: lines.length - HEAD_LINES - TAIL_LINES,
    isDiff,
  };
}
