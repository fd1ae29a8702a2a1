import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { modelFailure } from "../../../src/agent/models/failure.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { refusedUrl, startFixedProvider } from "../../helpers/provider-server.ts";

const KEY = "sk-very-secret-key";
const REQUEST = "the words of the exchange";

const CASES = [
  { status: 400, code: "model_failed", error: { type: "invalid_request_error" } },
  { status: 400, code: "model_context_full", error: { code: "context_length_exceeded" } },
  {
    status: 400,
    code: "model_context_full",
    error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens" },
  },
  { status: 401, code: "model_unauthorized", error: { type: "authentication_error" } },
  { status: 402, code: "model_rate_limited", error: { type: "billing_error" } },
  { status: 403, code: "model_unauthorized", error: { type: "permission_error" } },
  { status: 404, code: "model_unknown", error: { type: "not_found_error" } },
  { status: 429, code: "model_rate_limited", error: { type: "rate_limit_error" } },
  { status: 429, code: "model_rate_limited", error: { code: "insufficient_quota" } },
  { status: 500, code: "model_failed", error: { type: "api_error" } },
  { status: 529, code: "model_failed", error: { type: "overloaded_error" } },
] as const;

function configFor(url: string) {
  const env = {
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    OLLAMA_BASE_URL: url,
  };
  return modelConfig(env);
}

async function failureOf(name: string, url: string): Promise<RepriseError> {
  const model = await openModel({ name, config: configFor(url) });
  const error: unknown = await model.invoke(REQUEST).then(
    () => expect.unreachable("the call succeeded"),
    (reason: unknown) => reason,
  );
  return modelFailure(error, name);
}

describe.each(["anthropic:some-model", "openai:some-model", "ollama:some-model"])(
  "a failure of %s",
  (name) => {
    it.each(CASES)(
      "with status $status and $error becomes $code",
      async ({ status, code, error }) => {
        const message = `Wrong key ${KEY} for ${REQUEST}`;
        const body = { type: "error", error: { message, ...error } };
        await using provider = await startFixedProvider({ status, body });

        const failure = await failureOf(name, provider.url);

        expect(provider.requests).toHaveLength(1);
        expect(failure.code).toBe(code);
        expect(failure.message).toContain(`status ${status}`);
        expect(inspect(failure)).not.toContain(KEY);
        expect(failure.message).not.toContain(REQUEST);
        expect(failure.message).not.toContain("\n");
      },
    );

    it("is model_unreachable if nothing listens", async () => {
      expect((await failureOf(name, await refusedUrl())).code).toBe("model_unreachable");
    });
  },
);

describe("modelFailure", () => {
  it("passes on what Reprise itself refused", () => {
    const refused = new RepriseError("lease_lost", "gone");
    expect(modelFailure(refused, "demo")).toBe(refused);
  });

  it.each([
    ["vllm:m", /^vLLM refused/],
    ["xai:m", /^xAI refused/],
    ["openai:m", /^The OpenAI service refused/],
    ["mine:m", /^The provider mine refused/],
  ])("begins with the name of the provider of %s as it is written", (name, says) => {
    const refused = Object.assign(new Error("no"), { status: 401 });
    expect(modelFailure(refused, name).message).toMatch(says);
  });

  it("distinguishes a time-out, a broken stream and a name that was never found", () => {
    const timeout = Object.assign(new Error("Request timed out."), { name: "TimeoutError" });
    const cut = new TypeError("terminated", {
      cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
    });
    const lost = new Error("Connection error.", {
      cause: new TypeError("fetch failed", {
        cause: Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }),
      }),
    });
    for (const error of [timeout, cut, lost]) {
      expect(modelFailure(error, "openai:x").code).toBe("model_unreachable");
    }
  });

  it("ends on causes that form a cycle", () => {
    const error = new Error("odd");
    error.cause = error;
    expect(modelFailure(error, "not a model").code).toBe("model_failed");
  });

  it.each([undefined, null, "text", 7])("accepts %s, which is not an error at all", (thrown) => {
    expect(modelFailure(thrown, "demo").code).toBe("model_failed");
  });
});
