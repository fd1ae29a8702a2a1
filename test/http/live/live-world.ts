import type { ExchangeInfo, SessionSummary } from "../../../src/core/schemas/schemas.ts";
import type { Message } from "../../../src/core/sessions.ts";
import type { LiveText, LiveView } from "../../../src/exchange/live/live-view.ts";

const ID = "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01";
const AT = "2026-01-01T00:00:00.000Z";

/** Characters of one to several code points, and marks that combine with the one before. */
const CHARACTERS = [
  "a",
  "é",
  "e\u0301",
  "\u0301",
  "𝒳",
  "👩‍👩‍👧",
  "👍🏽",
  "\u{1f1eb}\u{1f1f7}",
  "\n",
  "\r\n",
  " ",
  "\u2028",
  "%2D",
  ".",
];

export function pick<Value>(random: () => number, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}

export function someText(random: () => number, max: number): string {
  const length = 1 + Math.floor(random() * max);
  return Array.from({ length }, () => pick(random, CHARACTERS)).join("");
}

/** A session whose exchange does what a process may do, and what two nodes see of it. */
export function createWorld(random: () => number) {
  const messages: Message[] = [];
  let exchange = exchangeOf(1, 1, "running");
  let live = { n: 1, attempt: 1, message_id: null, text: "" } as LiveText | null;
  /** What the database holds of it. */
  let stored = live;
  let isAskedAgain = false;
  let ids = 0;
  let attempts = 1;

  const store = (message_id: string, role: Message["role"], content: string): void => {
    const seq = messages.length + 1;
    messages.push({
      session_id: ID,
      seq,
      role,
      content,
      tool_calls: null,
      call_id: null,
      status: null,
      token_count: 1,
      is_summary: false,
      archived: false,
      ts: AT,
      message_id,
    });
  };
  const change = (state: ExchangeInfo["state"], n = exchange.n): void => {
    exchange = exchangeOf(n, exchange.revision + 1, state);
  };
  const between = (): void => {
    live = live && { ...live, message_id: null, text: "" };
    stored = live;
  };
  /** An answer is stored as it arrived; sometimes otherwise, as an agent may store it. */
  const finishAnswer = (): void => {
    if (live === null || live.message_id === null) {
      return;
    }
    const { message_id, text } = live;
    const content = random() < 0.1 ? `${text.slice(0, text.length / 2).toWellFormed()}!` : text;
    store(message_id, "assistant", content);
    between();
  };
  const actions: readonly (() => void)[] = [
    () => {
      if (live !== null) {
        ids += live.message_id === null ? 1 : 0;
        const message_id =
          live.message_id ?? pick(random, [`run-${ids}`, `é.${ids} \u{1f600}`, `-${ids}`]);
        isAskedAgain = false;
        live = { ...live, message_id, text: live.text + someText(random, 6) };
      }
    },
    () => {
      stored = live;
    },
    () => {
      if (random() < 0.2) {
        finishAnswer();
      }
    },
    () => {
      if (random() < 0.05 && live !== null && live.message_id !== null) {
        isAskedAgain = true;
        between();
      }
    },
    () => {
      if (live?.message_id === null && random() < 0.1) {
        store(`tool-${messages.length}`, "tool", someText(random, 20));
      }
    },
    () => {
      // the process dies, and another one continues
      if (random() < 0.03) {
        attempts += 1;
        live = { n: exchange.n, attempt: attempts, message_id: null, text: "" };
        stored = live;
      }
    },
    () => {
      // the exchange ends, with or without what had arrived, and the next one begins
      if (random() < 0.05) {
        if (random() < 0.5) {
          finishAnswer();
        }
        attempts += 1;
        change(pick(random, ["done", "stopped", "failed"]));
        live = stored = null;
      } else if (live === null && random() < 0.5) {
        change("running", exchange.n + 1);
        store(`user-${messages.length}`, "user", someText(random, 5));
        live = { n: exchange.n, attempt: attempts, message_id: null, text: "" };
        stored = live;
      }
    },
  ];

  return {
    messages,
    act: (): void => pick(random, actions)(),
    finish: (): void => {
      finishAnswer();
      change("done");
      live = stored = null;
    },
    /** As the node that runs the exchange, or another one, sees it. */
    view: (
      position: { seq: number; message_id: string | null },
      isRunning: boolean,
      rows: number,
    ): LiveView => {
      const after = messages.filter(({ seq }) => seq > position.seq);
      return {
        session: { id: ID, last_seq: messages.length, state: "active" } as SessionSummary,
        messages: after.slice(0, rows),
        more: after.length > rows,
        answer: messages.find(({ message_id }) => message_id === position.message_id) ?? null,
        exchange,
        questions: [],
        ended: () => null,
        live: isRunning ? live : stored,
        state: {
          calls: [],
          outputs: [],
          usage: { input_tokens: 1, output_tokens: 1 },
          retry: isAskedAgain ? { attempt: 2, code: "model_failed", reason: "y", until: AT } : null,
          reasoning: null,
        },
        phases: [],
      };
    },
  };
}

function exchangeOf(n: number, revision: number, state: ExchangeInfo["state"]): ExchangeInfo {
  return { n, revision, state, id: `exchange ${n}` } as ExchangeInfo;
}
