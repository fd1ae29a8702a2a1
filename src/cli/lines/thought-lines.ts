import type { FollowStep } from "../../core/live/follow-exchange.ts";
import { ReasoningPieces } from "../../exchange/live/reasoning-pieces.ts";

/** Says that a model thinks, and then for how long it did: two lines for each thought. */
export function createThoughtLines(line: (text: string) => void) {
  let begunAt: number | null = null;
  return {
    show: ({ type }: { readonly type: string }): void => {
      if (type === "reasoning") {
        if (begunAt === null) {
          begunAt = performance.now();
          line("· thinking…");
        }
      } else if (begunAt !== null) {
        const seconds = Math.floor((performance.now() - begunAt) / 1000);
        begunAt = null;
        if (type !== "retry") {
          line(`· thought for ${seconds} s`);
        }
      }
    },
  };
}

/** Steps that end a thought. */
const AFTER_THOUGHT: ReadonlySet<string> = new Set(["text", "message", "tool_call", "over"]);

/** Makes the lines for an exchange that another process runs, as `followExchange` follows it. */
export function createFollowedThoughts(line: (text: string) => void) {
  const lines = createThoughtLines(line);
  const pieces = new ReasoningPieces();
  return (step: FollowStep<unknown>): void => {
    const isLive = step.event === "reasoning" || step.event === "snapshot";
    if (isLive && pieces.of(step) !== null) {
      lines.show({ type: "reasoning" });
    } else if (AFTER_THOUGHT.has(step.event)) {
      lines.show({ type: step.event });
    } else if (step.event === "retry" && step.data !== null) {
      lines.show({ type: "retry" });
    }
  };
}
