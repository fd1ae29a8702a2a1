import { describe, expect, it } from "vitest";

import { ERROR_CODES, isRepriseError, RepriseError } from "../../src/core/errors.ts";

describe("RepriseError", () => {
  it("carries a code, a sentence and nothing else by default", () => {
    const error = new RepriseError("session_not_found", "No session has this id.");

    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "RepriseError",
      code: "session_not_found",
      message: "No session has this id.",
      faults: [],
      candidates: [],
      allow: [],
    });
    expect("cause" in error).toBe(false);
  });

  it("keeps its details and its cause", () => {
    const cause = new Error("disk");
    const faults = [{ pointer: "/content", message: "is missing" }];
    const candidates = [{ id: "a", title: null, last_activity_at: "2026-01-01T00:00:00.000Z" }];
    const allow = ["GET"];

    const error = new RepriseError("invalid_request", "No.", { faults, candidates, allow, cause });

    expect(error).toMatchObject({ faults, candidates, allow, cause });
  });

  it("has different codes, all spelled alike", () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
    for (const code of ERROR_CODES) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });
});

describe("isRepriseError", () => {
  const error = new RepriseError("session_ended", "It has ended.");

  it.each([
    ["without codes, any", isRepriseError(error), true],
    ["one of the codes", isRepriseError(error, "session_busy", "session_ended"), true],
    ["none of the codes", isRepriseError(error, "session_busy"), false],
    ["another error", isRepriseError(new Error("It has ended.")), false],
    [
      "an object that looks like one",
      isRepriseError({ name: error.name, code: error.code }),
      false,
    ],
    ["nothing", isRepriseError(undefined), false],
  ])("%s", (_, actual, expected) => {
    expect(actual).toBe(expected);
  });
});
