import type { ExchangeEvent } from "../../exchange/events.ts";

/** Says that a model thinks, and then for how long it did: two lines for each thought. */
export function createThoughtLines(line: (text: string) => void) {
  let begunAt: number | null = null;
  return {
    show: ({ type }: ExchangeEvent): void => {
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
