import { type CallFacts, type CallStatus, factsOfCall } from "../../../src/core/calls.ts";
import type { ExchangeEvent } from "../../../src/exchange/events.ts";
import { createExchangeView } from "../../../src/cli/terminal/rows/exchange-view.ts";
import type { AnswerStream, ReadChanges } from "../../../src/cli/terminal/rows/exchange-rows.ts";
import type { Theme } from "../../../src/cli/terminal/text/theme.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { plainTheme } from "./plain-theme.ts";

/** The session of the exchange. */
export const SESSION = "11111111-1111-4111-8111-111111111111";
const EXCHANGE = "22222222-2222-4222-8222-222222222222";

/** An event without what names its exchange. */
type Bare = ExchangeEvent extends infer Each
  ? Each extends ExchangeEvent
    ? Omit<Each, "exchange_id" | "session_id">
    : never
  : never;

/** A view of 80 columns, or of others, with a clock that a test sets. */
export function scriptedExchange({
  width = 80,
  theme = plainTheme,
  changes,
}: { width?: number; theme?: Theme; changes?: ReadChanges } = {}) {
  const printed: string[] = [];
  const clock = { ms: 0, changes: 0, timers: 0 };
  const view = createExchangeView({
    theme,
    width: () => width,
    commit: (rows) => void printed.push(...rows),
    changed: () => void (clock.changes += 1),
    now: () => clock.ms,
    markdown: lines,
    ...(changes === undefined ? {} : { changes }),
    every: () => {
      clock.timers += 1;
      return () => void (clock.timers -= 1);
    },
  });
  const show = (event: Bare, session_id = SESSION): void =>
    view.show({ exchange_id: EXCHANGE, session_id, ...event });
  return {
    view,
    printed,
    clock,
    live: (height = 24) => view.rows(width, height),
    show,
    started: () =>
      show({ type: "started", thread_id: "t", model: "demo", persona_name: "assistant" }),
    call: (call_id: string, name: string, args: unknown, session?: string) =>
      show(
        { type: "tool_call", message_id: "m", call_id, name, args, ...facts(name, args) },
        session,
      ),
    result: (
      call_id: string,
      name: string,
      {
        content = "",
        status = "ok",
        duration_ms = 0,
      }: { content?: string; status?: CallStatus; duration_ms?: number } = {},
      session?: string,
    ) =>
      show(
        {
          type: "tool_result",
          call_id,
          name,
          ...facts(name, undefined),
          status,
          content,
          content_bytes: 1,
          duration_ms,
        },
        session,
      ),
    text: (message_id: string, text: string) => show({ type: "text", message_id, text }),
  };
}

function facts(name: string, args: unknown): CallFacts {
  return factsOfCall({ name, args }, BUILT_IN_TOOLS);
}

/** An answer line by line. */
function lines(): AnswerStream {
  let rest = "";
  return {
    add: (piece) => {
      const all = (rest + piece).split("\n");
      rest = all.pop() ?? "";
      return all;
    },
    live: () => (rest === "" ? [] : [rest]),
    end: () => (rest === "" ? [] : [rest]),
  };
}
