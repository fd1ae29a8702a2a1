/** A Claude model, as its name says; a name of another form counts as the newest. */
export interface ClaudeModel {
  readonly family: "opus" | "sonnet" | "haiku" | "fable" | "mythos" | null;
  readonly version: number;
}

const NAME = /^claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?$/;

export function claudeModel(name: unknown): ClaudeModel {
  const [, family, major, minor = "0"] = NAME.exec(String(name)) ?? [];
  return family === undefined
    ? { family: null, version: Infinity }
    : { family: family as ClaudeModel["family"], version: Number(`${major}.${minor}`) };
}

/** Checks what comes before a thinking block: platform.claude.com preserved-thinking, 2026-11-23. */
export function bindsThinking({ family, version }: ClaudeModel): boolean {
  return version >= 5.1 && !(family === "mythos" && version === 5.1);
}

/** True if `reader` gets to see the thinking of `writer`; preserved-thinking, 2026-11-23. */
export function readsThinking(reader: string, writer: string): boolean {
  const [to, from] = [claudeModel(reader), claudeModel(writer)];
  if (reader === writer || (from.family === "haiku" && from.version === 5.5)) {
    return true;
  }
  const newest = bindsThinking(to) && (to.family === "fable" || to.family === "mythos");
  return newest
    ? from.family === "opus" && (from.version === 5 || from.version === 5.5)
    : !bindsThinking(to) && !bindsThinking(from);
}

/** Sampling parameters are refused: migration guides of Sonnet 5 and Opus 4.7, 2026-11-26. */
export function takesSampling({ family, version }: ClaudeModel): boolean {
  return version < (family === "opus" ? 4.7 : 5);
}

/** An answer that the request begins is refused: migration guides of Opus and Sonnet 4.6, 2026-11-26. */
export function takesPrefill({ version }: ClaudeModel): boolean {
  return version < 4.6;
}

/** A budget is refused: migration guides of Sonnet 5 and Opus 4.7, 2026-11-26. */
export function takesBudget({ family, version }: ClaudeModel): boolean {
  return version < (family === "opus" ? 4.7 : 5);
}

export function takesAdaptive({ version }: ClaudeModel): boolean {
  return version >= 4.6;
}

/** Thinking is always on: overviews of Fable 5.1, Opus 5.5 and Sonnet 5.5, 2026-11-26. */
export function thinksAlways(model: ClaudeModel): boolean {
  const { family } = model;
  return family === "fable" || family === "mythos" || (bindsThinking(model) && family !== "haiku");
}

/** A tool cannot be forced: migration guides of Opus 5.5 and Sonnet 5.5, 2026-11-26. */
export function takesForcedTool(model: ClaudeModel): boolean {
  return !bindsThinking(model);
}

/** Messages of the role system: mid-conversation-system-messages, 2026-11-23. */
export function takesSystemMessages({ family, version }: ClaudeModel): boolean {
  return version >= (family === "opus" ? 4.8 : 5) && !(family === "sonnet" && version === 5);
}

/** Thinking arrives without its text if the request does not ask for it. */
export function omitsThinking(model: ClaudeModel): boolean {
  return model.family !== null && !takesBudget(model);
}

/** Tokens of the shortest prefix that is cached: prompt-caching, 2026-11-23. */
export function smallestCached({ family, version }: ClaudeModel): number {
  if (version >= 5) {
    return family === "sonnet" && version === 5 ? 1024 : 512;
  }
  const large = (family === "opus" && (version === 4.5 || version === 4.6)) || family === "haiku";
  return large ? 4096 : family === "opus" && version === 4.7 ? 2048 : 1024;
}
