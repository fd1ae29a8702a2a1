/** The version of a GPT model by its name; null for a name of another form. */
export function gptVersion(name: unknown): number | null {
  const [, version] = /^gpt-(\d+(?:\.\d+)?)(?:-|$)/.exec(String(name)) ?? [];
  return version === undefined ? null : Number(version);
}

/** Sampling parameters are refused: github.com/decolua/9router/issues/536, 2026-09-08. */
export function takesGptSampling(name: unknown): boolean {
  const version = gptVersion(name);
  return version !== null && version < 5;
}

/** Reasons without being asked to: github.com/danny-avila/LibreChat/issues/14355, 2026-07-21. */
export function reasonsByDefault(name: unknown): boolean {
  return (gptVersion(name) ?? 0) >= 5.5;
}

/** Loses reasoning after a changed prefix: developers.openai.com keep-prefix-unchanged, 2026-11-23. */
export function bindsReasoning(name: unknown): boolean {
  return (gptVersion(name) ?? Infinity) >= 5.6;
}

/** OpenAI's chat completions count reasoning and never show it; compatible servers do. */
export function showsReasoning(name: unknown): boolean {
  return gptVersion(name) === null;
}
