import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import { type Hook, hooksOf } from "../hooks/hook.ts";
import { parsePattern, type Rule } from "../permissions/rule.ts";
import { parseDocument, type Problem } from "./document.ts";
import { placed, type PlacedProblem } from "./load-config.ts";
import { readAs, type Report } from "./read-value.ts";
import { limitsOf, rulesOf, sandboxOf } from "./read-user-config.ts";
import { RepositoryForm, type RepositoryText } from "./schema.ts";
import type { ProtectedPath, SandboxMaxima } from "./user-config.ts";

const STRICTER = ["ask", "deny"] as const;

/** Reads what can be used of the config of a folder. */
export function readRepositoryConfig(text: string): {
  readonly rules: readonly Rule[];
  readonly protected: readonly ProtectedPath[];
  readonly limits: Partial<ExchangeLimits>;
  readonly sandbox: SandboxMaxima;
  readonly hooks: readonly Hook[];
  readonly problems: readonly PlacedProblem[];
} {
  const { root, problems } = parseDocument(text);
  const found: Problem[] = [...problems];
  const report: Report = ({ offset }, message) => found.push({ offset, message });
  const read: RepositoryText = root === null ? {} : readAs(root, RepositoryForm, report);
  const { permission = {}, limits = {}, sandbox = {} } = read;
  return {
    rules: STRICTER.flatMap((effect) => rulesOf(permission, effect)),
    protected: (read.protected ?? []).map((written) => ({ pattern: parsePattern(written) })),
    limits: limitsOf(limits),
    sandbox: sandboxOf(sandbox.limits),
    hooks: hooksOf(read.hooks),
    problems: placed(text, found),
  };
}
