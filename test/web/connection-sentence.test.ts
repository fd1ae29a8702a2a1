import { expect, it } from "vitest";

import { connectionSentence, nextAttempt } from "../../web/parts/connection-sentence.ts";

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
const AT = Date.UTC(2026, 0, 1, 14, 3);

it("[PAGE-43] what is not up to date has a sentence, the same for each attempt", () => {
  const sentence = (as_of: number | null, next_at: number, kind: "offline" | "unavailable") =>
    connectionSentence({ kind, next_at, as_of }, timeOf);
  expect(sentence(AT, AT + 4000, "offline")).toEqual({
    kind: "warning",
    text: "The service does not answer. What you see is from 14:03.",
    nextAt: AT + 4000,
  });
  expect(sentence(AT, AT + 9000, "offline")?.text).toBe(sentence(AT, 0, "offline")?.text);
  expect(sentence(null, 0, "offline")?.text).toBe("The service does not answer.");
  expect(sentence(AT, 0, "unavailable")?.text).toMatch(/^The database .* from 14:03\.$/);
  expect(nextAttempt(AT + 3200, AT)).toBe("Trying again in 4 s.");
  expect(nextAttempt(AT - 1, AT)).toBe("Trying again …");
});

it.each(["polling", "refused", "gone", "ended"] as const)("[PAGE-43] %s has a sentence", (kind) => {
  expect(connectionSentence({ kind }, timeOf)?.text).toMatch(/^[A-Z].*\.$/);
});

it.each(["connecting", "live"] as const)("[PAGE-43] %s needs none", (kind) => {
  expect(connectionSentence({ kind }, timeOf)).toBeNull();
});
